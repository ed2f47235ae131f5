/* An engine from C: what it learns and answers, its threads, saved and restored. */
#include <math.h>

#include "windhover/tests/io/c/small_engine.h"

static void texts(void) {
  for (int i = 0; i <= WINDHOVER_TRIALS_MISSING; ++i) {
    CHECK(strcmp(windhover_status_text((windhover_status)i), "unknown status") != 0);
  }
  CHECK(strcmp(windhover_status_text((windhover_status)(WINDHOVER_TRIALS_MISSING + 1)),
               "unknown status") == 0);
  CHECK(strcmp(windhover_status_text(WINDHOVER_OK), "ok") == 0);
  CHECK(strlen(windhover_status_text(WINDHOVER_NO_MEMORY)) > 10);
  CHECK(strlen(windhover_status_text(WINDHOVER_UNEXPECTED)) > 10);
  CHECK(strcmp(windhover_version(), WINDHOVER_TEST_VERSION) == 0);
  CHECK(strcmp(windhover_posterior_status_text(WINDHOVER_POSTERIOR_DRIFTING), "drifting") == 0);
  CHECK(strcmp(windhover_posterior_status_text((windhover_posterior_status)77), "unknown") == 0);
  CHECK(strcmp(windhover_reason_text(0), "none") == 0);
  CHECK(strcmp(windhover_reason_text(1), "few_draws") == 0);
  CHECK(strcmp(windhover_reason_text(-1), "unknown") == 0);
  CHECK(strcmp(windhover_reason_text(257), "unknown") == 0);
}

static void learns_and_answers(void) {
  const windhover_engine_options options = small_options();
  windhover_engine* engine = engine_of(&options);
  CHECK(windhover_engine_dimension(engine) == 2);
  feed(engine, 500);
  CHECK(windhover_engine_head(engine) == 500);
  windhover_reader* reader = reader_of(engine);

  asked a;
  ask_about(&a, 2.5);
  const double probabilities[2] = {0.25, 0.75};
  const double threshold = 9.5;
  double quantiles[2] = {0, 0};
  double exceedance = -1;
  const double outcome = 9.5;
  a.question.quantiles = probabilities;
  a.question.quantile_count = 2;
  a.question.thresholds = &threshold;
  a.question.threshold_count = 1;
  a.question.outcomes = &outcome;
  a.answer.quantiles = quantiles;
  a.answer.exceedance = &exceedance;
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK(fabs(a.prediction.mean - 9.5) < 0.05);
  CHECK(a.prediction.interval_lower < 9.5 && 9.5 < a.prediction.interval_upper);
  CHECK(a.prediction.interval_lower < quantiles[0] && quantiles[0] < quantiles[1] &&
        quantiles[1] < a.prediction.interval_upper);
  CHECK(exceedance > 0 && exceedance < 1);
  CHECK(a.prediction.pit > 0 && a.prediction.pit < 1 && a.prediction.crps > 0);
  CHECK(a.prediction.sd > a.prediction.epred_sd && a.prediction.epred_sd > 0);
  CHECK(a.provenance.status == WINDHOVER_POSTERIOR_OK && a.provenance.reason == 0);
  CHECK(a.provenance.sequence == 500 && a.provenance.n_eff == 500);
  CHECK(a.provenance.horizon == WINDHOVER_HORIZON_WINDOW && a.provenance.draws == 64);
  CHECK(a.provenance.struct_size == sizeof a.provenance);

  windhover_parameter parameters[2];
  CHECK_OK(windhover_reader_posterior(reader, parameters, sizeof parameters[0], 2, &a.provenance));
  CHECK(fabs(parameters[0].mean - 3) < 0.05 && fabs(parameters[1].mean - 2) < 0.05);
  CHECK(parameters[0].q5 < parameters[0].q50 && parameters[0].q50 < parameters[0].q95);

  windhover_event events[WINDHOVER_MAX_EVENTS];
  size_t event_count = 0;
  CHECK_OK(windhover_reader_events(reader, events, sizeof events[0], WINDHOVER_MAX_EVENTS,
                                   &event_count));
  CHECK(event_count >= 2 && event_count < WINDHOVER_MAX_EVENTS);
  const windhover_event newest = events[event_count - 1];
  CHECK(strcmp(windhover_event_kind_text(newest.kind), "status") == 0);
  CHECK(newest.id == event_count && newest.times == 1 && newest.row > 0);
  CHECK(newest.from == WINDHOVER_POSTERIOR_WARMING_UP && newest.status == WINDHOVER_POSTERIOR_OK);
  CHECK(newest.time_ns == newest.first_time_ns && newest.time_ns > 1700000000000000000);
  CHECK_OK(windhover_reader_events(reader, events, sizeof events[0], 1, &event_count));
  CHECK(event_count == 1 && events[0].id == newest.id); /* the newest */
  CHECK_OK(windhover_reader_events(reader, NULL, 0, 0, &event_count));
  CHECK(event_count == 0);

  double draws[64 * 2];
  CHECK_OK(windhover_reader_draws(reader, 0, 40, draws, 80, &a.provenance));
  CHECK_OK(windhover_reader_draws(reader, 40, 24, draws + 80, 48, NULL));
  double mean = 0;
  for (int i = 0; i < 64; ++i) mean += draws[2 * i] / 64;
  CHECK(fabs(mean - parameters[0].mean) < 5 * parameters[0].sd);
  CHECK_STATUS(windhover_reader_draws(reader, 40, 25, draws, 128, NULL),
               WINDHOVER_INVALID_ARGUMENT); /* more than there are */
  CHECK_STATUS(windhover_reader_draws(reader, 0, 40, draws, 79, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_draws(reader, 0, 40, NULL, 80, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_OK(windhover_reader_release(reader));
  CHECK_STATUS(windhover_reader_draws(reader, 40, 24, draws, 48, NULL), WINDHOVER_UNAVAILABLE);

  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

static void outcomes_that_come_late(void) {
  windhover_engine_options options = small_options();
  options.labels_pending = 2;
  windhover_engine* engine = engine_of(&options);
  feed(engine, 200);
  windhover_reader* reader = reader_of(engine);
  asked a;
  const char* key = "view";
  ask_about(&a, 2.5);
  a.question.keys = &key;
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK(a.prediction.pending == WINDHOVER_KEY_KEPT);
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK(a.prediction.pending == WINDHOVER_KEY_REPLACED);
  key = NULL;
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK(a.prediction.pending == WINDHOVER_KEY_NONE);
  CHECK(windhover_engine_pending_labels(engine) == 1);
  const char* keys[3] = {"nobody", "view", "view"};
  const double targets[3] = {1, 9.5, 9.5};
  windhover_refused_row listed[2];
  windhover_joined joined;
  windhover_joined_init(&joined, sizeof joined);
  CHECK_OK(windhover_engine_outcomes(engine, keys, targets, 3, listed, 2, &joined));
  CHECK(joined.accepted == 1 && joined.refused == 1 && joined.duplicate == 1);
  CHECK(listed[0].row == 0 && listed[0].reason == WINDHOVER_UNKNOWN_KEY);
  CHECK(windhover_engine_head(engine) == 201 && windhover_engine_pending_labels(engine) == 0);
  CHECK_OK(windhover_engine_outcomes(engine, keys, targets, 1, NULL, 0, NULL));
  CHECK_OK(windhover_engine_settle_labels(engine));
  char longer[WINDHOVER_MAX_KEY + 2];
  memset(longer, 'k', sizeof longer);
  longer[sizeof longer - 1] = 0;
  key = longer;
  CHECK_STATUS(windhover_reader_predict(reader, &a.question, &a.answer),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_outcomes(engine, keys, targets, 65, NULL, 0, NULL),
               WINDHOVER_TOO_LARGE);
  CHECK_STATUS(windhover_engine_outcomes(engine, NULL, targets, 1, NULL, 0, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_outcomes(engine, keys, NULL, 1, NULL, 0, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_outcomes(engine, keys, targets, 1, NULL, 1, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  joined.struct_size = 0;
  CHECK_STATUS(windhover_engine_outcomes(engine, keys, targets, 1, NULL, 0, &joined),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_outcomes(NULL, keys, targets, 1, NULL, 0, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_settle_labels(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK(windhover_engine_pending_labels(NULL) == 0);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);

  options.labels_pending = 0;
  engine = engine_of(&options);
  reader = reader_of(engine);
  key = "view";
  CHECK_STATUS(windhover_reader_predict(reader, &a.question, &a.answer), WINDHOVER_KEY_NOT_TAKEN);
  CHECK_STATUS(windhover_engine_outcomes(engine, keys, targets, 1, NULL, 0, NULL),
               WINDHOVER_KEY_NOT_TAKEN);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

static void threads(void) {
  windhover_engine_options options = small_options();
  options.learner_threads = 2;
  windhover_engine* engine = engine_of(&options);
  int done = 7;
  CHECK_OK(windhover_engine_stop(engine)); /* nothing runs */
  CHECK_OK(windhover_engine_start(engine));
  CHECK_STATUS(windhover_engine_start(engine), WINDHOVER_UNAVAILABLE);
  CHECK_STATUS(windhover_engine_poll(engine, 10, &done), WINDHOVER_UNAVAILABLE);
  CHECK(done == 0);
  CHECK_STATUS(windhover_engine_save(engine, (windhover_write_function)abort, NULL),
               WINDHOVER_UNAVAILABLE);
  for (int i = 0; i < 400;) {
    const double x = 5 * uniform();
    const windhover_status status = windhover_engine_observe(engine, &x, 1, target_of(x));
    if (status == WINDHOVER_OK) ++i;
    if (status != WINDHOVER_OK) CHECK_STATUS(status, WINDHOVER_WINDOW_FULL);
  }
  windhover_reader* reader = reader_of(engine);
  asked a;
  ask_about(&a, 2.5);
  do {
    CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  } while (a.provenance.sequence < 400 || a.provenance.status != WINDHOVER_POSTERIOR_OK);
  CHECK(fabs(a.prediction.mean - 9.5) < 0.05);
  CHECK_OK(windhover_engine_pause(engine, 1));
  CHECK_OK(windhover_engine_pause(engine, 0));
  CHECK_OK(windhover_engine_stop(engine));
  CHECK_OK(windhover_engine_poll(engine, 10, NULL));
  CHECK_STATUS(windhover_engine_poll(engine, -1, &done), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_poll(NULL, 1, &done), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_start(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_stop(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_pause(NULL, 1), WINDHOVER_INVALID_ARGUMENT);
  CHECK(windhover_engine_dimension(NULL) == 0 && windhover_engine_head(NULL) == 0);
  CHECK_OK(windhover_engine_start(engine));
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine); /* it stops by itself */
  windhover_engine_destroy(NULL);
}

typedef struct bytes {
  unsigned char* data;
  size_t size, at, room;
} bytes;

static int write_bytes(void* context, const void* from, size_t size) {
  bytes* to = context;
  if (size > to->room - to->size) return -1;
  memcpy(to->data + to->size, from, size);
  to->size += size;
  return 0;
}

static int read_bytes(void* context, void* to, size_t size) {
  bytes* from = context;
  if (size > from->size - from->at) return -1;
  memcpy(to, from->data + from->at, size);
  from->at += size;
  return 0;
}

static void saved_and_restored(void) {
  windhover_engine_options options = small_options();
  windhover_engine* engine = engine_of(&options);
  feed(engine, 400);
  bytes file = {NULL, 0, 0, (size_t)64 << 20};
  file.data = malloc(file.room);
  CHECK_OK(windhover_engine_save(engine, write_bytes, &file));
  windhover_engine* other = engine_of(&options);
  windhover_error error;
  CHECK_OK(windhover_engine_restore(other, read_bytes, &file, &error));
  asked a, b;
  ask_about(&a, 1.5);
  ask_about(&b, 1.5);
  windhover_reader* reader = reader_of(engine);
  windhover_reader* other_reader = reader_of(other);
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK_OK(windhover_reader_predict(other_reader, &b.question, &b.answer));
  CHECK(memcmp(&a.prediction, &b.prediction, sizeof a.prediction) == 0);
  CHECK(windhover_engine_head(other) == 400);

  double draw[2];
  CHECK_OK(windhover_reader_draws(other_reader, 0, 1, draw, 2, NULL));
  file.at = 0;
  CHECK_STATUS(windhover_engine_restore(other, read_bytes, &file, &error), WINDHOVER_UNAVAILABLE);
  CHECK(strstr(error.sentence, "release") != NULL);
  windhover_reader_destroy(other_reader);
  file.size /= 2;
  CHECK(windhover_engine_restore(other, read_bytes, &file, &error) != WINDHOVER_OK);
  CHECK(strlen(error.sentence) > 10);
  CHECK_OK(windhover_engine_start(other));
  CHECK_STATUS(windhover_engine_restore(other, read_bytes, &file, &error), WINDHOVER_UNAVAILABLE);
  CHECK_STATUS(windhover_engine_restore(NULL, read_bytes, &file, &error),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_restore(other, NULL, &file, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_save(engine, NULL, &file), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_save(NULL, write_bytes, &file), WINDHOVER_INVALID_ARGUMENT);
  file.room = file.size = 100;
  CHECK_STATUS(windhover_engine_save(engine, write_bytes, &file), WINDHOVER_IO_ERROR);
  windhover_engine_destroy(other);

  options.checkpoints = 0;
  other = engine_of(&options);
  CHECK_STATUS(windhover_engine_save(other, write_bytes, &file), WINDHOVER_UNSUPPORTED);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
  windhover_engine_destroy(other);
  free(file.data);
}

int main(void) {
  texts();
  learns_and_answers();
  outcomes_that_come_late();
  threads();
  saved_and_restored();
  return verdict();
}
