/* An engine inside this process: rows in, a posterior kept, answers out. Include <windhover.h>.
 *
 *   windhover_engine_options options;
 *   windhover_engine_options_init(&options, sizeof options);
 *   options.features = 1;
 *   windhover_engine_create(&options, &engine, &error);
 *   windhover_engine_start(engine);                      or windhover_engine_poll(), yourself
 *   windhover_engine_observe(engine, x, 1, y);
 *   windhover_reader_create(engine, &reader);
 *   windhover_reader_predict(reader, &question, &answer);
 *
 * Threads: observe, poll and each reader are for one thread at a time each, which may be the same
 * or different ones. Creating and destroying, start and stop, save and restore are for one thread,
 * and no other may be in the engine unless a function says so. After windhover_engine_create() and
 * windhover_reader_create() observe, poll, predict, posterior and draws make no heap call and wait
 * for no other thread. */
#ifndef WINDHOVER_IO_C_ENGINE_H_
#define WINDHOVER_IO_C_ENGINE_H_

#include "windhover/io/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct windhover_engine windhover_engine;
typedef struct windhover_reader windhover_reader;

/* windhover_engine_options_init() sets the default of every member but `features`. Strings are
 * borrowed for the call that takes the options. */
typedef struct windhover_engine_options {
  size_t struct_size;
  /* The model: `windhover models` lists the names. */
  const char* model;     /* "linear" */
  uint32_t features;     /* columns of a row, without the intercept; required */
  uint32_t max_nonzeros; /* 0: dense rows; otherwise sparse rows of at most so many values */
  int intercept;         /* 1 */
  double prior_precision, intercept_precision; /* 0: weakly informative */
  int learn_prior_precision;
  double noise_variance;     /* linear, student-t, log-normal; 0: learned */
  double degrees_of_freedom; /* student-t: 4 */
  uint32_t classes;          /* softmax: 2 */
  uint32_t hidden, hidden2;  /* units of a network: 8, 0 */
  /* The sampler: `windhover samplers` lists the names. */
  const char* sampler;     /* "calibrated" */
  uint32_t minibatch_size; /* 0: chosen */
  uint32_t chains;         /* 0: chosen */
  double temperature;      /* 1 */
  /* The stream. */
  windhover_horizon horizon;
  uint64_t window_size;         /* N of the horizon: 100,000 */
  uint64_t window_slack;        /* rows the writer may be ahead: 65,536 */
  uint32_t max_frame_rows;      /* of one observe: 32,768 */
  double draws_per_observation; /* replay ratio: 4; 0: the learner never rests */
  int score_predictions;    /* 1: rows are predicted before they are learned from: coverage_90 */
  int checkpoints;          /* 1: the engine can be saved and restored */
  uint32_t learner_threads; /* of windhover_engine_start(): 1 */
  /* The answers. */
  uint32_t retained_draws;     /* 64 */
  uint32_t max_readers;        /* at one time: 9 */
  uint32_t max_query_rows;     /* of one question: 256 */
  uint64_t seed;               /* 1 */
  uint64_t schema_fingerprint; /* of feature names and encodings, where there are any; 0 */
  int offset;                  /* 1: each row has an offset (windhover_rows); 0 */
  /* Outcomes that come later (windhover_question.keys). */
  uint32_t labels_pending;       /* keys that may wait at one time; 0: none may */
  double labels_timeout_seconds; /* how long a key waits: 1800 */
  double labels_timeout_outcome; /* the outcome of rows whose time is up; NaN: they are dropped */
  int weight;                    /* 1: each row has a weight (windhover_rows); 0 */
  windhover_surprising_rows surprising_rows;   /* WINDHOVER_SURPRISING_KEEP */
  windhover_structure structure;               /* WINDHOVER_STRUCTURE_CHOSEN */
  windhover_dependent_spread dependent_spread; /* WINDHOVER_DEPENDENT_SPREAD_ROBUST */
} windhover_engine_options;
WINDHOVER_API void windhover_engine_options_init(windhover_engine_options* options, size_t size);

/* The bytes of an engine's block with these options. WINDHOVER_INVALID_CONFIG and
 * WINDHOVER_UNSUPPORTED: `error`, which may be NULL, names the field. Any thread. */
WINDHOVER_API windhover_status windhover_engine_footprint(const windhover_engine_options* options,
                                                          size_t* bytes, windhover_error* error);

/* Creates an engine and takes all its memory but that of readers. Fails like
 * windhover_engine_footprint(), and with WINDHOVER_NO_MEMORY; *engine is then NULL. */
WINDHOVER_API windhover_status windhover_engine_create(const windhover_engine_options* options,
                                                       windhover_engine** engine,
                                                       windhover_error* error);

/* Stops the learner and frees the memory. The engine's readers must have been destroyed before.
 * NULL: no effect. */
WINDHOVER_API void windhover_engine_destroy(windhover_engine* engine);

/* The number of parameters, the intercept included; 0 for NULL. Any thread. */
WINDHOVER_API uint32_t windhover_engine_dimension(const windhover_engine* engine);
/* Rows accepted so far; 0 for NULL. Any thread. */
WINDHOVER_API uint64_t windhover_engine_head(const windhover_engine* engine);

/* Takes one dense row of `count` features. WINDHOVER_WINDOW_FULL: the learner is behind; poll, or
 * wait, and try again. WINDHOVER_WRONG_DIMENSION: `count` is not the model's number of features, or
 * its rows are sparse. WINDHOVER_NOT_FINITE, WINDHOVER_TARGET_OUT_OF_DOMAIN: the row was refused.
 * WINDHOVER_TRIALS_MISSING: a binomial model needs windhover_engine_observe_rows(). */
WINDHOVER_API windhover_status windhover_engine_observe(windhover_engine* engine,
                                                        const double* features, size_t count,
                                                        double target);

/* Takes several rows, each accepted or refused on its own: *accepted and *refused say how many, and
 * `listed` gets the first `room` refused ones. `accepted`, `refused`, and with room 0 `listed`, may
 * be NULL. With any status but WINDHOVER_OK nothing was taken. WINDHOVER_WINDOW_FULL as above;
 * WINDHOVER_TOO_LARGE: more than max_frame_rows; WINDHOVER_WRONG_DIMENSION: feature_values is not
 * rows x features; WINDHOVER_MALFORMED: row_ends do not fit. */
WINDHOVER_API windhover_status windhover_engine_observe_rows(windhover_engine* engine,
                                                             const windhover_rows* rows,
                                                             windhover_refused_row* listed,
                                                             size_t room, size_t* accepted,
                                                             size_t* refused);

/* Takes the outcomes of `count` rows that were asked about with a key (windhover_question.keys).
 * Each is then a row like any other, and is scored by the answer that was given when it was asked
 * about. `listed` gets the first `room` refused ones: WINDHOVER_UNKNOWN_KEY,
 * WINDHOVER_KEY_TIMED_OUT, WINDHOVER_TARGET_OUT_OF_DOMAIN. `joined`, and with room 0 `listed`, may
 * be NULL. The thread of observe. WINDHOVER_KEY_NOT_TAKEN without labels_pending;
 * WINDHOVER_WINDOW_FULL and WINDHOVER_TOO_LARGE as for windhover_engine_observe_rows(). */
WINDHOVER_API windhover_status windhover_engine_outcomes(windhover_engine* engine,
                                                         const char* const* keys,
                                                         const double* targets, size_t count,
                                                         windhover_refused_row* listed, size_t room,
                                                         windhover_joined* joined);
/* Ends the wait of keys whose time is up: call it now and then, on the thread of observe. With
 * labels_timeout_outcome their rows are learned with that outcome; WINDHOVER_WINDOW_FULL: call it
 * again later for the rest. */
WINDHOVER_API windhover_status windhover_engine_settle_labels(windhover_engine* engine);
/* How many keys wait now; 0 for NULL. A saved state has them: after a restore they wait for as long
 * as they had left. Any thread. */
WINDHOVER_API uint64_t windhover_engine_pending_labels(const windhover_engine* engine);

/* Does at most `max_work` rounds of learning; *done, which may be NULL, says how many had work to
 * do. 0: nothing to do for now. WINDHOVER_UNAVAILABLE: threads of windhover_engine_start() run. */
WINDHOVER_API windhover_status windhover_engine_poll(windhover_engine* engine, int max_work,
                                                     int* done);

/* Start: learns on learner_threads threads of the library until stopped. WINDHOVER_UNAVAILABLE:
 * they run already, or the system has no more threads. Stop: WINDHOVER_OK also if none runs. */
WINDHOVER_API windhover_status windhover_engine_start(windhover_engine* engine);
WINDHOVER_API windhover_status windhover_engine_stop(windhover_engine* engine);

/* While `paused` is not 0 nothing is learned: answers stay what they are, and rows wait. Any
 * thread. */
WINDHOVER_API windhover_status windhover_engine_pause(windhover_engine* engine, int paused);

/* Writes `size` bytes and returns 0; anything else: writing has failed. */
typedef int (*windhover_write_function)(void* context, const void* bytes, size_t size);
/* Reads `size` bytes and returns 0; anything else: there are not so many, or reading has failed. */
typedef int (*windhover_read_function)(void* context, void* bytes, size_t size);

/* Saves the state of the engine. No thread may be in observe or poll, and it must be stopped
 * (WINDHOVER_UNAVAILABLE otherwise); readers may go on. WINDHOVER_UNSUPPORTED without
 * options.checkpoints; WINDHOVER_IO_ERROR: `write` failed. */
WINDHOVER_API windhover_status windhover_engine_save(windhover_engine* engine,
                                                     windhover_write_function write, void* context);

/* Restores a saved state. No thread may be in observe, poll or a reader; no reader may keep draws,
 * and the engine must be stopped (WINDHOVER_UNAVAILABLE otherwise, and nothing changes).
 * WINDHOVER_UNSUPPORTED without options.checkpoints, and nothing changes. If the state is refused
 * for another reason the engine is as after create; `error`, which may be NULL, says why. */
WINDHOVER_API windhover_status windhover_engine_restore(windhover_engine* engine,
                                                        windhover_read_function read, void* context,
                                                        windhover_error* error);

/* Creates a reader, which asks questions. WINDHOVER_UNAVAILABLE: there are max_readers already;
 * WINDHOVER_NO_MEMORY. Any thread. */
WINDHOVER_API windhover_status windhover_reader_create(windhover_engine* engine,
                                                       windhover_reader** reader);
/* Destroys a reader. NULL: no effect. Any thread. */
WINDHOVER_API void windhover_reader_destroy(windhover_reader* reader);

/* Answers from the newest snapshot, or from the one that windhover_reader_draws() keeps. Before the
 * first row the answer is the prior's. WINDHOVER_WRONG_DIMENSION: feature_values is not rows x
 * features, or answer.classes is not the model's; WINDHOVER_TOO_LARGE: more rows than
 * max_query_rows, more quantiles than WINDHOVER_MAX_QUANTILES or thresholds than
 * WINDHOVER_MAX_THRESHOLDS; WINDHOVER_NOT_FINITE; WINDHOVER_INVALID_ARGUMENT: a probability outside
 * (0, 1), an array that is NULL, or too long a key. On an error nothing is written. */
WINDHOVER_API windhover_status windhover_reader_predict(windhover_reader* reader,
                                                        const windhover_question* question,
                                                        const windhover_answer* answer);

/* Gives one entry a parameter, in `room` structs of parameter_size = sizeof(windhover_parameter)
 * bytes. WINDHOVER_WRONG_DIMENSION: room is less than the dimension. `provenance` may be NULL. */
WINDHOVER_API windhover_status windhover_reader_posterior(windhover_reader* reader,
                                                          windhover_parameter* parameters,
                                                          size_t parameter_size, size_t room,
                                                          windhover_provenance* provenance);

/* Gives the newest `room` events, at most WINDHOVER_MAX_EVENTS, oldest first, in structs of
 * event_size = sizeof(windhover_event) bytes; *count: how many. */
WINDHOVER_API windhover_status windhover_reader_events(windhover_reader* reader,
                                                       windhover_event* events, size_t event_size,
                                                       size_t room, size_t* count);

/* Gives draws `first` to `first + count` of the parameters: count x dimension numbers, draw after
 * draw, into `draws` of `room` numbers. first 0 takes the newest snapshot and keeps it, for more
 * pages and for predict, until windhover_reader_release(). WINDHOVER_INVALID_ARGUMENT: more than
 * retained_draws, or than there is room for; WINDHOVER_UNAVAILABLE: first is not 0 and no snapshot
 * is kept. `provenance` may be NULL. */
WINDHOVER_API windhover_status windhover_reader_draws(windhover_reader* reader, size_t first,
                                                      size_t count, double* draws, size_t room,
                                                      windhover_provenance* provenance);
WINDHOVER_API windhover_status windhover_reader_release(windhover_reader* reader);

#ifdef __cplusplus
}
#endif

#endif /* WINDHOVER_IO_C_ENGINE_H_ */
