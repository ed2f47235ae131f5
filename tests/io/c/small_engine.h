/* Engines that the tests in C make: y = 2 + 3 x, one feature, little room. */
#ifndef WINDHOVER_TESTS_IO_C_SMALL_ENGINE_H_
#define WINDHOVER_TESTS_IO_C_SMALL_ENGINE_H_

#include <stdlib.h>

#include "windhover/tests/io/c/check.h"

static inline windhover_engine_options small_options(void) {
  windhover_engine_options options;
  windhover_engine_options_init(&options, sizeof options);
  options.features = 1;
  options.window_size = 1000;
  options.window_slack = 128;
  options.max_frame_rows = 64;
  options.max_readers = 2;
  options.max_query_rows = 4;
  return options;
}

static inline windhover_engine* engine_of(const windhover_engine_options* options) {
  windhover_engine* engine = NULL;
  windhover_error error;
  CHECK_OK(windhover_engine_create(options, &engine, &error));
  CHECK(engine != NULL && strcmp(error.sentence, "") == 0);
  if (engine == NULL) exit(verdict());
  return engine;
}

static inline void learn_all(windhover_engine* engine) {
  int done = 1;
  while (done > 0) CHECK_OK(windhover_engine_poll(engine, 1000, &done));
}

static inline void feed(windhover_engine* engine, int rows) {
  for (int i = 0; i < rows; ++i) {
    const double x = 5 * uniform();
    windhover_status status = windhover_engine_observe(engine, &x, 1, target_of(x));
    if (status == WINDHOVER_WINDOW_FULL) {
      learn_all(engine);
      status = windhover_engine_observe(engine, &x, 1, target_of(x));
    }
    CHECK_OK(status);
  }
  learn_all(engine);
}

static inline windhover_reader* reader_of(windhover_engine* engine) {
  windhover_reader* reader = NULL;
  CHECK_OK(windhover_reader_create(engine, &reader));
  if (reader == NULL) exit(verdict());
  return reader;
}

#endif /* WINDHOVER_TESTS_IO_C_SMALL_ENGINE_H_ */
