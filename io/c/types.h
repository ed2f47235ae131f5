/* What engine and client share: status codes, rows, questions and answers. Include <windhover.h>.
 * Numbers are in the units of the rows as they came; variances in their squares. */
#ifndef WINDHOVER_IO_C_TYPES_H_
#define WINDHOVER_IO_C_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#define WINDHOVER_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a call. Numbers keep their meaning; later libraries may have more of them. */
typedef enum windhover_status {
  WINDHOVER_OK = 0,
  WINDHOVER_INVALID_CONFIG = 1,
  WINDHOVER_ARENA_TOO_SMALL = 2,
  WINDHOVER_INVALID_ARGUMENT = 3,
  WINDHOVER_WINDOW_FULL = 4,
  WINDHOVER_WRONG_DIMENSION = 5,
  WINDHOVER_NOT_FINITE = 6,
  WINDHOVER_TARGET_OUT_OF_DOMAIN = 7,
  WINDHOVER_INDEX_OUT_OF_RANGE = 8,
  WINDHOVER_INDICES_NOT_INCREASING = 9,
  WINDHOVER_TOO_MANY_NONZEROS = 10,
  WINDHOVER_TOO_LARGE = 11,
  WINDHOVER_MALFORMED = 12,
  WINDHOVER_UNSUPPORTED = 13,
  WINDHOVER_NOT_PERMITTED = 14,
  WINDHOVER_UNAVAILABLE = 15,
  WINDHOVER_TIMEOUT = 16,
  WINDHOVER_CLOSED = 17,
  WINDHOVER_NOT_READY = 18,
  WINDHOVER_DIVERGED = 19,
  WINDHOVER_NOT_POSITIVE_DEFINITE = 20,
  WINDHOVER_IO_ERROR = 21,
  WINDHOVER_REFUSED = 22,
  WINDHOVER_LOG_FULL = 23,
  WINDHOVER_OFFSET_OUT_OF_RANGE = 24,
  WINDHOVER_OFFSET_NOT_TAKEN = 25, /* the model's `offset` is 0 */
  WINDHOVER_KEY_NOT_TAKEN = 26,    /* `labels_pending` is 0 */
  WINDHOVER_UNKNOWN_KEY = 27,      /* nobody has asked with it, or long ago */
  WINDHOVER_KEY_TIMED_OUT = 28,    /* its outcome came too late */
  WINDHOVER_WEIGHT_OUT_OF_RANGE = 29,
  WINDHOVER_WEIGHT_NOT_TAKEN = 30, /* the model's `weight` is 0 */
  WINDHOVER_TRIALS_OUT_OF_RANGE = 31,
  WINDHOVER_TRIALS_NOT_TAKEN = 32, /* the model is not binomial */
  WINDHOVER_TRIALS_MISSING = 33,   /* rows of a binomial model need trials */
  WINDHOVER_NO_MEMORY = 1000, /* the system has no more memory; the handle may still be destroyed */
  WINDHOVER_UNEXPECTED = 1001 /* a fault of the library itself: please report it */
} windhover_status;

/* The status in a sentence, in static memory; "unknown status" for other numbers. Any thread. */
WINDHOVER_API const char* windhover_status_text(windhover_status status);

/* The library's version, "0.2.0", in static memory. Any thread. */
WINDHOVER_API const char* windhover_version(void);

/* Why a set-up call failed: a sentence in static memory that names the field and what is allowed,
 * and a number (the bytes needed, the limit, or the value that was refused). */
typedef struct windhover_error {
  const char* sentence; /* never NULL after a call; "" if it succeeded */
  double number;
} windhover_error;

/* Rows to learn from, borrowed for a call.
 * Dense: `features` holds rows x (features of the model) values, row after row, without the
 *        intercept's 1; indices and row_ends are NULL.
 * Sparse: `features` holds the values that are not 0, `indices` as many column numbers from 0
 *        (increasing within a row), and row_ends[i] says where the values of row i end. */
typedef struct windhover_rows {
  size_t struct_size;
  size_t rows;
  const double* features;
  size_t feature_values; /* how many numbers `features` holds */
  const double* targets; /* one a row; classes are 0, 1, ... */
  const uint32_t* indices;
  const uint32_t* row_ends;
  /* For a model with `offset`, one a row: added to its linear predictor; for counts, the log of the
   * exposure. NULL: all 0. */
  const double* offsets;
  /* For a model with `weight`, one a row: how many equal rows it counts as, 1e-6 to 1e6. NULL: all
   * 1. */
  const double* weights;
  /* For a binomial model, one a row: of how many trials its target counts the successes, a whole
   * number from 1 to 1e9. NULL for other models. */
  const double* trials;
} windhover_rows;
WINDHOVER_API void windhover_rows_init(windhover_rows* rows, size_t size);

/* A row that was not taken: its index, and why. */
typedef struct windhover_refused_row {
  uint64_t row;
  windhover_status reason;
} windhover_refused_row;

/* The most that one question may ask for. */
#define WINDHOVER_MAX_QUANTILES 16
#define WINDHOVER_MAX_THRESHOLDS 8
#define WINDHOVER_MAX_KEY 64 /* bytes of a key */

/* A question about several x, on common draws. Rows are as in windhover_rows. */
typedef struct windhover_question {
  size_t struct_size;
  size_t rows; /* 1 to max_query_rows */
  const double* features;
  size_t feature_values;
  const uint32_t* indices; /* NULL: dense */
  const uint32_t* row_ends;
  const double* outcomes;   /* y, one a row, to be scored; NULL: none */
  const double* quantiles;  /* probabilities, each in (0, 1) */
  size_t quantile_count;    /* at most WINDHOVER_MAX_QUANTILES */
  const double* thresholds; /* t of P(y > t); regression and counts only */
  size_t threshold_count;   /* at most WINDHOVER_MAX_THRESHOLDS */
  double interval;          /* probability of the equal-tailed interval, in (0, 1); 0.9 */
  uint64_t thompson_id;     /* not 0: a fresh Thompson draw, the same for the same id */
  const double* offsets;    /* as in windhover_rows */
  /* One a row, of at most WINDHOVER_MAX_KEY bytes and a 0: the row is kept until its outcome comes.
   * A row whose key is NULL or "" is not kept; without the array none is. */
  const char* const* keys;
  const double* trials; /* for a binomial model, one a row, of which y counts successes; NULL: 1 */
  /* Not 0: as wide as the posterior alone says, also where rows depend on one another, as for the
   * sd of what is worked out from several answers; robust_spread is then 0, and there are no
   * conformal intervals. Without effect on a question with keys. */
  int posterior_spread;
} windhover_question;
WINDHOVER_API void windhover_question_init(windhover_question* question, size_t size);

/* What became of the key of a row. */
typedef enum windhover_pending_key {
  WINDHOVER_KEY_NONE = 0,      /* the row has no key */
  WINDHOVER_KEY_KEPT = 1,      /* it waits for its outcome */
  WINDHOVER_KEY_REPLACED = 2,  /* likewise, in place of an earlier question's row with this key */
  WINDHOVER_KEY_TABLE_FULL = 3 /* it is not kept: no place is free */
} windhover_pending_key;

/* The answer for one x. linpred: the linear predictor (for two classes the log-odds); epred: the
 * expected y given the parameters (for two classes the probability of class 1). What does not apply
 * to the model or the question is 0; softmax has only entropies, log_score and brier, beside its
 * probabilities. */
typedef struct windhover_prediction {
  double linpred_mean, linpred_sd;
  double epred_mean, epred_sd; /* epred_sd: uncertainty about the parameters alone */
  double mean, sd;             /* of y */
  double var_epistemic, var_aleatoric;
  double interval_lower, interval_upper; /* of y; of two classes: of the probability */
  double entropy, expected_entropy, mutual_information; /* classes, in nats */
  double log_score, pit, crps, brier;                   /* where outcomes were given */
  double prob_best, expected_regret;                    /* against the other rows of the question */
  double thompson;
  /* The conformal interval or set, which holds `interval` of the outcomes whether the model is
   * right or not, learned from the outcomes that came. NaN, and no class: predictions are not
   * scored. */
  double conformal_lower, conformal_upper; /* regression, of y */
  uint64_t conformal_set;                  /* classes: bit c is set if class c belongs to it */
  double conformal_alpha;                  /* 1 minus its probability by the model itself */
  windhover_pending_key pending;           /* what became of its key */
} windhover_prediction;

/* What became of outcomes: each key is counted once. */
typedef struct windhover_joined {
  size_t struct_size;
  uint64_t accepted;  /* rows learned */
  uint64_t refused;   /* unknown or late keys, targets out of the model's domain */
  uint64_t duplicate; /* keys that had been joined already */
} windhover_joined;
WINDHOVER_API void windhover_joined_init(windhover_joined* joined, size_t size);

/* Whether to believe an answer. */
typedef enum windhover_posterior_status {
  WINDHOVER_POSTERIOR_WARMING_UP = 0,
  WINDHOVER_POSTERIOR_OK = 1,
  WINDHOVER_POSTERIOR_DEGRADED = 2,
  WINDHOVER_POSTERIOR_DRIFTING = 3,
  WINDHOVER_POSTERIOR_RECOVERING = 4
} windhover_posterior_status;

/* Which rows a posterior is of. */
typedef enum windhover_horizon {
  WINDHOVER_HORIZON_WINDOW = 0,     /* the last N */
  WINDHOVER_HORIZON_FADING = 1,     /* all, older ones fading: worth N */
  WINDHOVER_HORIZON_ALL = 2,        /* all, counting the same */
  WINDHOVER_HORIZON_ADAPTIVE = 3,   /* as many of the last N as have predicted best of late */
  WINDHOVER_HORIZON_FORGETTING = 4, /* the last 2 N, older ones counting less: worth N */
  WINDHOVER_HORIZON_CHOSEN = 5      /* of options alone: adaptive, or window for networks and where
                                       columns are many and sparse; answers say which */
} windhover_horizon;

/* How wide predictions are where rows depend on one another. */
typedef enum windhover_dependent_spread {
  WINDHOVER_DEPENDENT_SPREAD_ROBUST = 0,   /* as sd_robust says: robust_spread of the answer */
  WINDHOVER_DEPENDENT_SPREAD_POSTERIOR = 1 /* as the posterior's sd says, which is too little */
} windhover_dependent_spread;

/* What becomes of rows far from what was predicted. Only with a window, and for models whose y is a
 * number or a count. */
typedef enum windhover_surprising_rows {
  WINDHOVER_SURPRISING_KEEP = 0,  /* they are not looked for */
  WINDHOVER_SURPRISING_COUNT = 1, /* they are counted */
  WINDHOVER_SURPRISING_DOWN_WEIGHT =
      2,                             /* also, the farther off they are the less weight they have */
  WINDHOVER_SURPRISING_SET_ASIDE = 3 /* they are counted and have no weight */
} windhover_surprising_rows;

/* What is kept of the curvature, which bounds how large a model may be. */
typedef enum windhover_structure {
  WINDHOVER_STRUCTURE_CHOSEN = 0,  /* diagonal where only that is affordable, full otherwise */
  WINDHOVER_STRUCTURE_FULL = 1,    /* the matrix: at most 65,536 features */
  WINDHOVER_STRUCTURE_DIAGONAL = 2 /* a number a parameter: at most 16,777,216 features, of sparse
                                      rows, of some models (samplers/row_blocks/README.md) */
} windhover_structure;

/* Where an answer comes from. A number that is not known is NaN. */
typedef struct windhover_provenance {
  size_t struct_size;
  uint64_t snapshot_id;
  uint64_t sequence;      /* all rows below it are in the answer */
  uint64_t n_seen, n_eff; /* rows taken in; rows that the posterior is worth */
  uint64_t steps;         /* of all chains together */
  int64_t age_ns;         /* since the snapshot was made */
  uint64_t draws;         /* retained, behind quantiles and probabilities */
  windhover_posterior_status status;
  int reason; /* why it is not ok: windhover_reason_text(); 0: none */
  windhover_horizon horizon;
  uint64_t recovery_target, divergences;
  double ess_bulk, ess_tail, r_hat, autocorrelation_time;
  double draws_per_observation, ou_ratio, law_ratio, misspecification_index, prior_conflict;
  double score_autocorrelation, drift_score, repeated_rows, coverage_90;
  double noise_variance, noise_variance_sd;
  double conformal_coverage_90;
  uint64_t drift_onset;        /* the row from which on the newest ones differ; 0: not known */
  int64_t drift_onset_time_ns; /* when it came, since 1970; 0: not known */
  double r_hat_chance;         /* the 99 % quantile of r_hat where all chains agree */
  int robust_spread;           /* 1: rows depend on one another, predictions are as wide as
                                  sd_robust says */
} windhover_provenance;
WINDHOVER_API void windhover_provenance_init(windhover_provenance* provenance, size_t size);

/* "warming_up", "ok", ..., and "none", "few_draws", "drift", ...: static memory. Any thread. */
WINDHOVER_API const char* windhover_posterior_status_text(windhover_posterior_status status);
WINDHOVER_API const char* windhover_reason_text(int reason);

/* Where an answer goes: the caller's memory. What is NULL is not written. */
typedef struct windhover_answer {
  size_t struct_size;
  windhover_prediction* predictions; /* one a row */
  size_t prediction_size;            /* sizeof(windhover_prediction); required with predictions */
  double* quantiles;                 /* rows x quantile_count, row after row */
  double* exceedance;                /* rows x threshold_count: P(y > t) */
  /* Softmax: rows x classes, for each class the mean, sd and equal-tailed interval of its
   * probability. WINDHOVER_WRONG_DIMENSION unless `classes` is the model's, or all four are NULL.
   */
  size_t classes;
  double *probabilities, *probabilities_sd, *probabilities_lower, *probabilities_upper;
  windhover_provenance* provenance;
} windhover_answer;
WINDHOVER_API void windhover_answer_init(windhover_answer* answer, size_t size);

/* One parameter; the intercept is the last, the linear predictor at x = 0. NaN: not known. */
typedef struct windhover_parameter {
  double mean, mode, sd;
  double sd_robust; /* by the sandwich: holds even if the model does not, or rows are dependent */
  double q5, q50, q95;
  double ess_bulk, r_hat, ess_tail, mcse_mean;
  double autocorrelation_time; /* in steps of one chain */
  double prior_precision;
  /* How much larger it is by the newest tenth of the window than by the rest, in standard
   * deviations of that difference. */
  double drift_score;
} windhover_parameter;

/* A change of a posterior's state. Times are nanoseconds since 1970. */
typedef struct windhover_event {
  uint64_t id; /* 1, 2, ... in the life of the engine, checkpoints included */
  int kind;    /* windhover_event_kind_text() */
  windhover_posterior_status from, status; /* before and after */
  int reason;                              /* windhover_reason_text() */
  int64_t time_ns;
  /* How often a change of status has come since first_time_ns, with only the change back between.
   */
  uint64_t times;
  int64_t first_time_ns;
  uint64_t row;  /* how many rows the learner had taken in */
  double number; /* the number behind the reason; for "resized" the rows, or what they are worth */
  double before; /* for "resized" the rows before */
  uint64_t drift_onset; /* as in windhover_provenance */
  int64_t drift_onset_time_ns;
} windhover_event;
#define WINDHOVER_MAX_EVENTS 64 /* how many are kept */

/* "started", "status", "drift", "cold_start_over", "started_over", "resized", "limit_aside",
 * "limit_back", "recovered", "paused", "went_on"; "none": a kind of a later version. Static memory.
 * Any thread. */
WINDHOVER_API const char* windhover_event_kind_text(int kind);

#ifdef __cplusplus
}
#endif

#endif /* WINDHOVER_IO_C_TYPES_H_ */
