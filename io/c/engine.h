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
 * Threads: observe from one thread at a time, poll from one, each reader from one; these may be as
 * many threads or one. Creating and destroying, start and stop, save and restore are set-up: one
 * thread at a time, and nobody else in the engine but where it is said. After
 * windhover_engine_create() and windhover_reader_create() observe, poll, predict, posterior and
 * draws make no heap call and wait for nobody. */
#ifndef WINDHOVER_IO_C_ENGINE_H_
#define WINDHOVER_IO_C_ENGINE_H_

#include "windhover/io/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct windhover_engine windhover_engine;
typedef struct windhover_reader windhover_reader;

/* Everything has a default, as windhover_engine_options_init() sets it, but `features`. Strings are
 * borrowed for the length of the call that takes the options. */
typedef struct windhover_engine_options {
  size_t struct_size;
  /* The model: `windhover models` lists the names. */
  const char* model;     /* "linear" */
  uint32_t features;     /* columns of a row, without the intercept; required */
  uint32_t max_nonzeros; /* 0: dense rows; otherwise sparse rows of at most so many */
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
  double draws_per_observation; /* 4; 0: the learner never rests */
  int score_predictions;    /* 1: rows are predicted before they are learned from: coverage_90 */
  int checkpoints;          /* 1: the engine can be saved and restored */
  uint32_t learner_threads; /* of windhover_engine_start(): 1 */
  /* The answers. */
  uint32_t retained_draws;     /* 64 */
  uint32_t max_readers;        /* alive at one time: 9 */
  uint32_t max_query_rows;     /* of one question: 256 */
  uint64_t seed;               /* 1 */
  uint64_t schema_fingerprint; /* of feature names and encodings, where there are any; 0 */
  int offset;                  /* 1: each row has an offset (windhover_rows); 0 */
  /* Outcomes that are heard of later (windhover_question.keys). */
  uint32_t labels_pending;       /* keys that may wait at one time; 0: none may */
  double labels_timeout_seconds; /* for which a key waits: 1800 */
  double
      labels_timeout_outcome; /* what happened where nothing was heard; NaN: the row is dropped */
  int weight;                 /* 1: each row has a weight (windhover_rows); 0 */
  windhover_surprising_rows surprising_rows; /* WINDHOVER_SURPRISING_KEEP */
  windhover_structure structure;             /* WINDHOVER_STRUCTURE_CHOSEN */
} windhover_engine_options;
WINDHOVER_API void windhover_engine_options_init(windhover_engine_options* options, size_t size);

/* The bytes that an engine of these options holds, readers not counted. WINDHOVER_INVALID_CONFIG
 * and WINDHOVER_UNSUPPORTED: `error`, which may be NULL, names the field. Any thread. */
WINDHOVER_API windhover_status windhover_engine_footprint(const windhover_engine_options* options,
                                                          size_t* bytes, windhover_error* error);

/* Takes all the memory there will be. Fails as windhover_engine_footprint() does, and with
 * WINDHOVER_NO_MEMORY; *engine is NULL then. */
WINDHOVER_API windhover_status windhover_engine_create(const windhover_engine_options* options,
                                                       windhover_engine** engine,
                                                       windhover_error* error);

/* Stops the learner and gives the memory back. The engine's readers have been destroyed before.
 * NULL: nothing happens. */
WINDHOVER_API void windhover_engine_destroy(windhover_engine* engine);

/* Parameters of the model, the intercept counted; 0 for NULL. Any thread. */
WINDHOVER_API uint32_t windhover_engine_dimension(const windhover_engine* engine);
/* Rows accepted so far; 0 for NULL. Any thread. */
WINDHOVER_API uint64_t windhover_engine_head(const windhover_engine* engine);

/* Takes one dense row of `count` features. WINDHOVER_WINDOW_FULL: the learner is behind; poll, or
 * wait, and try again. WINDHOVER_WRONG_DIMENSION: `count` is not the model's, or its rows are
 * sparse. WINDHOVER_NOT_FINITE, WINDHOVER_TARGET_OUT_OF_DOMAIN: the row was refused.
 * WINDHOVER_TRIALS_MISSING: of a binomial model take windhover_engine_observe_rows(). */
WINDHOVER_API windhover_status windhover_engine_observe(windhover_engine* engine,
                                                        const double* features, size_t count,
                                                        double target);

/* Takes several, each on its own: *accepted and *refused say how many, and the first `room` that
 * were refused are listed in `listed`. `accepted`, `refused`, and with room 0 `listed`, may be
 * NULL. Another status than WINDHOVER_OK: nothing was taken. WINDHOVER_WINDOW_FULL as above;
 * WINDHOVER_TOO_LARGE: more than max_frame_rows; WINDHOVER_WRONG_DIMENSION: feature_values is not
 * rows x features; WINDHOVER_MALFORMED: row_ends do not fit. */
WINDHOVER_API windhover_status windhover_engine_observe_rows(windhover_engine* engine,
                                                             const windhover_rows* rows,
                                                             windhover_refused_row* listed,
                                                             size_t room, size_t* accepted,
                                                             size_t* refused);

/* What happened, of `count` rows that were asked about with a key (windhover_question.keys): each
 * is then a row as any other, and its score that of the answer given when it was asked about. The
 * first `room` that were refused are listed: WINDHOVER_UNKNOWN_KEY, WINDHOVER_KEY_TIMED_OUT,
 * WINDHOVER_TARGET_OUT_OF_DOMAIN. `joined`, and with room 0 `listed`, may be NULL. The thread of
 * observe. WINDHOVER_KEY_NOT_TAKEN without labels_pending; WINDHOVER_WINDOW_FULL and
 * WINDHOVER_TOO_LARGE as windhover_engine_observe_rows(). */
WINDHOVER_API windhover_status windhover_engine_outcomes(windhover_engine* engine,
                                                         const char* const* keys,
                                                         const double* targets, size_t count,
                                                         windhover_refused_row* listed, size_t room,
                                                         windhover_joined* joined);
/* Keys whose time is up are no longer waited for: call it now and then, on the thread of observe.
 * With labels_timeout_outcome their rows are learned with it; WINDHOVER_WINDOW_FULL: the rest
 * later. */
WINDHOVER_API windhover_status windhover_engine_settle_labels(windhover_engine* engine);
/* Keys that are waited for now; 0 for NULL. They are lost with the engine, and neither saved nor
 * restored. Any thread. */
WINDHOVER_API uint64_t windhover_engine_pending_labels(const windhover_engine* engine);

/* Does at most `max_work` rounds of learning; *done, which may be NULL, says how many were worth
 * doing. 0: nothing to do for now. WINDHOVER_UNAVAILABLE: the threads of windhover_engine_start()
 * do it. */
WINDHOVER_API windhover_status windhover_engine_poll(windhover_engine* engine, int max_work,
                                                     int* done);

/* Learns on learner_threads threads of the library's own until stopped. WINDHOVER_UNAVAILABLE: they
 * run already, or the system has no more. Stopping what does not run is WINDHOVER_OK. */
WINDHOVER_API windhover_status windhover_engine_start(windhover_engine* engine);
WINDHOVER_API windhover_status windhover_engine_stop(windhover_engine* engine);

/* While `paused` is not 0 nothing is learned: answers stay what they are, and rows wait. Any
 * thread. */
WINDHOVER_API windhover_status windhover_engine_pause(windhover_engine* engine, int paused);

/* Takes `size` bytes, all of them: 0. Anything else: writing has failed. */
typedef int (*windhover_write_function)(void* context, const void* bytes, size_t size);
/* Gives `size` bytes, all of them: 0. Anything else: there are no more, or reading has failed. */
typedef int (*windhover_read_function)(void* context, void* bytes, size_t size);

/* Writes all that the engine goes on from. Nobody is in observe or poll, and it is stopped
 * (WINDHOVER_UNAVAILABLE otherwise); readers may go on. WINDHOVER_UNSUPPORTED without
 * options.checkpoints; WINDHOVER_IO_ERROR: `write` failed. */
WINDHOVER_API windhover_status windhover_engine_save(windhover_engine* engine,
                                                     windhover_write_function write, void* context);

/* Becomes the engine that was saved. Nobody is in observe, poll or a reader, no reader keeps draws,
 * and it is stopped (WINDHOVER_UNAVAILABLE otherwise). What was refused for any reason (`error`,
 * which may be NULL, says which) leaves the engine as after create. */
WINDHOVER_API windhover_status windhover_engine_restore(windhover_engine* engine,
                                                        windhover_read_function read, void* context,
                                                        windhover_error* error);

/* One who asks. WINDHOVER_UNAVAILABLE: max_readers are alive. Any thread. */
WINDHOVER_API windhover_status windhover_reader_create(windhover_engine* engine,
                                                       windhover_reader** reader);
/* Its place is free again. NULL: nothing happens. Any thread. */
WINDHOVER_API void windhover_reader_destroy(windhover_reader* reader);

/* Answers from the newest snapshot; while draws keeps one, from that. Before the first row the
 * answer is the prior's. WINDHOVER_WRONG_DIMENSION: feature_values is not rows x features, or
 * answer.classes is not the model's; WINDHOVER_TOO_LARGE: more rows than max_query_rows, more
 * quantiles than WINDHOVER_MAX_QUANTILES or thresholds than WINDHOVER_MAX_THRESHOLDS;
 * WINDHOVER_NOT_FINITE; WINDHOVER_INVALID_ARGUMENT: a probability that is none, or no room for what
 * is asked. Nothing is written then. */
WINDHOVER_API windhover_status windhover_reader_predict(windhover_reader* reader,
                                                        const windhover_question* question,
                                                        const windhover_answer* answer);

/* One entry a parameter, in `room` structs of parameter_size = sizeof(windhover_parameter) bytes.
 * WINDHOVER_WRONG_DIMENSION: room is less than the dimension. `provenance` may be NULL. */
WINDHOVER_API windhover_status windhover_reader_posterior(windhover_reader* reader,
                                                          windhover_parameter* parameters,
                                                          size_t parameter_size, size_t room,
                                                          windhover_provenance* provenance);

/* The newest `room` events, WINDHOVER_MAX_EVENTS at most, oldest first, in structs of event_size =
 * sizeof(windhover_event) bytes; `count`: how many. */
WINDHOVER_API windhover_status windhover_reader_events(windhover_reader* reader,
                                                       windhover_event* events, size_t event_size,
                                                       size_t room, size_t* count);

/* Draws `first` to `first + count` of the parameters: count x dimension numbers, draw after draw,
 * into `draws` of `room` numbers. first 0 takes the newest snapshot and keeps it, for more pages
 * and for predict, until windhover_reader_release(). WINDHOVER_INVALID_ARGUMENT: more than
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
