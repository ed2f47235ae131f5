/* Measurements stream in; what is y at x = 2.5, and how sure are we? In C, without a server. */
#include <stdio.h>
#include <windhover.h>

/* A number between 0 and 1, the same ones at every run. */
static double uniform(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

static int complain(const char* doing, windhover_status status) {
  fprintf(stderr, "%s: %s\n", doing, windhover_status_text(status));
  return 1;
}

int main(void) {
  windhover_engine* engine = NULL;
  windhover_engine_options options;
  windhover_error error;
  windhover_status status;
  windhover_engine_options_init(&options, sizeof options);
  options.features = 1;
  options.window_size = 1000; /* the posterior is that of the last thousand rows */
  status = windhover_engine_create(&options, &engine, &error);
  if (status != WINDHOVER_OK) return complain(error.sentence, status);

  for (int i = 0; i < 500; ++i) {
    const double x = 5 * uniform();
    const double y = 2 + 3 * x + 0.2 * (uniform() + uniform() + uniform() - 1.5);
    status = windhover_engine_observe(engine, &x, 1, y);
    if (status != WINDHOVER_OK) return complain("observing", status);
  }
  for (int done = 1; done > 0;) { /* a service calls windhover_engine_start() instead */
    status = windhover_engine_poll(engine, 1000, &done);
    if (status != WINDHOVER_OK) return complain("learning", status);
  }

  windhover_reader* reader = NULL;
  status = windhover_reader_create(engine, &reader);
  if (status != WINDHOVER_OK) return complain("a reader", status);
  const double x = 2.5;
  windhover_question question;
  windhover_question_init(&question, sizeof question);
  question.rows = 1;
  question.features = &x;
  question.feature_values = 1;
  windhover_prediction y;
  windhover_provenance provenance;
  windhover_provenance_init(&provenance, sizeof provenance);
  windhover_answer answer;
  windhover_answer_init(&answer, sizeof answer);
  answer.predictions = &y;
  answer.prediction_size = sizeof y;
  answer.provenance = &provenance;
  status = windhover_reader_predict(reader, &question, &answer);
  if (status != WINDHOVER_OK) return complain("predicting", status);
  printf("y at 2.5: %.2f, 90 %% of y within %.2f .. %.2f (%s)\n", y.mean, y.interval_lower,
         y.interval_upper, windhover_posterior_status_text(provenance.status));

  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
  return 0;
}
