/* An engine from C: what models other than that of plain numbers take and answer. */
#include <math.h>
#include <stddef.h>

#include "windhover/tests/io/c/small_engine.h"

/* Rows that each count as four: half the sd. What a row may not count as is refused. */
static void weights(void) {
  double sd[2];
  for (int weighted = 0; weighted < 2; ++weighted) {
    windhover_engine_options options = small_options();
    options.weight = weighted;
    windhover_engine* engine = engine_of(&options);
    double x[64];
    double y[64];
    double four[64];
    windhover_rows rows;
    windhover_rows_init(&rows, sizeof rows);
    rows.rows = rows.feature_values = 64;
    rows.features = x;
    rows.targets = y;
    rows.weights = weighted ? four : NULL;
    for (int i = 0; i < 64; ++i) {
      x[i] = 5 * (i % 16) / 16.0;
      y[i] = 2 + 3 * x[i] + (i % 3 - 1);
      four[i] = 4;
    }
    size_t accepted = 0;
    size_t refused = 0;
    for (int frame = 0; frame < 8; ++frame) {
      CHECK_OK(windhover_engine_observe_rows(engine, &rows, NULL, 0, &accepted, &refused));
      CHECK(accepted == 64 && refused == 0);
      learn_all(engine);
    }
    windhover_reader* reader = reader_of(engine);
    windhover_parameter parameters[2];
    CHECK_OK(windhover_reader_posterior(reader, parameters, sizeof parameters[0], 2, NULL));
    sd[weighted] = parameters[0].sd;
    const double wrong[2] = {0, 2e6};
    windhover_refused_row listed[2];
    rows.rows = rows.feature_values = 2;
    rows.weights = wrong;
    if (weighted) {
      CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 2, &accepted, &refused));
      CHECK(accepted == 0 && refused == 2 && listed[1].reason == WINDHOVER_WEIGHT_OUT_OF_RANGE);
    } else {
      CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
                   WINDHOVER_WEIGHT_NOT_TAKEN);
    }
    /* A struct of before there were weights has none, whatever stands behind it. */
    rows.struct_size = offsetof(windhover_rows, weights);
    CHECK_OK(windhover_engine_observe_rows(engine, &rows, NULL, 0, &accepted, &refused));
    CHECK(accepted == 2 && refused == 0);
    windhover_reader_destroy(reader);
    windhover_engine_destroy(engine);
  }
  CHECK(fabs(sd[1] / sd[0] - 0.5) < 0.01);
}

/* Half of 20 trials succeed, and so does half of whatever is asked about. */
static void trials(void) {
  windhover_engine_options options = small_options();
  options.model = "binomial";
  windhover_engine* engine = engine_of(&options);
  double x[64];
  double y[64];
  double twenty[64];
  for (int i = 0; i < 64; ++i) {
    x[i] = i % 8 - 3.5;
    y[i] = 9 + i % 3;
    twenty[i] = 20;
  }
  windhover_rows rows;
  windhover_rows_init(&rows, sizeof rows);
  rows.rows = rows.feature_values = 64;
  rows.features = x;
  rows.targets = y;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_TRIALS_MISSING);
  rows.trials = twenty;
  size_t accepted = 0;
  size_t refused = 0;
  for (int frame = 0; frame < 8; ++frame) {
    CHECK_OK(windhover_engine_observe_rows(engine, &rows, NULL, 0, &accepted, &refused));
    CHECK(accepted == 64 && refused == 0);
    learn_all(engine);
  }
  windhover_reader* reader = reader_of(engine);
  windhover_question question;
  windhover_question_init(&question, sizeof question);
  const double asked[2] = {1, 1e6};
  const double outcomes[2] = {1, 5e5};
  question.rows = question.feature_values = 2;
  question.features = x;
  question.trials = asked;
  question.outcomes = outcomes;
  windhover_prediction predictions[2];
  windhover_answer answer;
  windhover_answer_init(&answer, sizeof answer);
  answer.predictions = predictions;
  answer.prediction_size = sizeof predictions[0];
  CHECK_OK(windhover_reader_predict(reader, &question, &answer));
  CHECK(fabs(predictions[0].mean - 0.5) < 0.03);
  CHECK(fabs(predictions[1].mean / 1e6 - 0.5) < 0.03);
  CHECK(predictions[1].interval_lower > 4e5 && predictions[1].interval_upper < 6e5);
  const double wrong[2] = {0.5, 2e9};
  question.trials = wrong;
  CHECK_STATUS(windhover_reader_predict(reader, &question, &answer), WINDHOVER_TRIALS_OUT_OF_RANGE);
  /* A struct of before there were trials has none, whatever stands behind it. */
  question.struct_size = offsetof(windhover_question, trials);
  question.outcomes = NULL;
  CHECK_OK(windhover_reader_predict(reader, &question, &answer));
  rows.struct_size = offsetof(windhover_rows, trials);
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_TRIALS_MISSING);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

static void classes(void) {
  windhover_engine_options options = small_options();
  options.model = "softmax";
  options.classes = 3;
  windhover_engine* engine = engine_of(&options);
  for (int i = 0; i < 300; ++i) {
    const double x = 3 * uniform();
    CHECK_OK(windhover_engine_observe(engine, &x, 1, x < 1 ? 0 : x < 2 ? 1 : 2));
    if (i % 100 == 99) learn_all(engine);
  }
  windhover_reader* reader = reader_of(engine);
  asked a;
  double mean[3], sd[3], lower[3], upper[3];
  ask_about(&a, 2.8);
  a.answer.classes = 3;
  a.answer.probabilities = mean;
  a.answer.probabilities_sd = sd;
  a.answer.probabilities_lower = lower;
  a.answer.probabilities_upper = upper;
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  CHECK(fabs(mean[0] + mean[1] + mean[2] - 1) < 1e-9);
  CHECK(mean[2] > 0.5 && lower[2] < mean[2] && mean[2] <= upper[2] && sd[2] > 0);
  a.answer.classes = 2;
  CHECK_STATUS(windhover_reader_predict(reader, &a.question, &a.answer), WINDHOVER_WRONG_DIMENSION);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

/* What is kept of the curvature is the caller's to say, and chosen otherwise: all of it up to 2,000
 * sparse columns, a number a parameter above. */
static void structures(void) {
  for (uint32_t features = 1000; features <= 3000; features += 2000) {
    size_t bytes[3];
    for (int structure = 0; structure < 3; ++structure) {
      windhover_engine_options options = small_options();
      options.model = "logistic";
      options.features = features;
      options.max_nonzeros = 8;
      options.structure = (windhover_structure)structure;
      CHECK_OK(windhover_engine_footprint(&options, &bytes[structure], NULL));
    }
    CHECK(bytes[WINDHOVER_STRUCTURE_DIAGONAL] < bytes[WINDHOVER_STRUCTURE_FULL]);
    CHECK(bytes[WINDHOVER_STRUCTURE_CHOSEN] ==
          bytes[features <= 2000 ? WINDHOVER_STRUCTURE_FULL : WINDHOVER_STRUCTURE_DIAGONAL]);
  }
  /* Only so may a model have a million columns; whoever says full hears what else there is. */
  windhover_engine_options options = small_options();
  windhover_error error;
  size_t bytes = 0;
  options.model = "logistic";
  options.features = 1000000;
  options.max_nonzeros = 8;
  options.structure = WINDHOVER_STRUCTURE_FULL;
  CHECK_STATUS(windhover_engine_footprint(&options, &bytes, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "diagonal structure") != NULL);
  options.structure = WINDHOVER_STRUCTURE_DIAGONAL;
  CHECK_OK(windhover_engine_footprint(&options, &bytes, &error));
}

/* After 1,000 rows whose x and errors are nearly those of the row before: the sd of a linear
 * predictor, and what the answer says of it. */
static double spread_of_dependent(windhover_dependent_spread spread, windhover_provenance* said) {
  windhover_engine_options options = small_options();
  CHECK(options.dependent_spread == WINDHOVER_DEPENDENT_SPREAD_ROBUST);
  options.dependent_spread = spread;
  windhover_engine* engine = engine_of(&options);
  double x = 0;
  double error = 0;
  uint64_t state = 7; /* both engines get the same rows */
  for (int i = 0; i < 1000; ++i) {
    double drawn[2];
    for (int k = 0; k < 2; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      drawn[k] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
    }
    x = 0.95 * x + drawn[0];
    error = 0.95 * error + drawn[1];
    CHECK_OK(windhover_engine_observe(engine, &x, 1, 2 + 3 * x + error));
    if (i % 50 == 49) learn_all(engine);
  }
  windhover_reader* reader = reader_of(engine);
  asked a;
  ask_about(&a, 1);
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
  *said = a.provenance;
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
  return a.prediction.linpred_sd;
}

static void dependent_spreads(void) {
  windhover_provenance robust, posterior;
  const double wide = spread_of_dependent(WINDHOVER_DEPENDENT_SPREAD_ROBUST, &robust);
  const double own = spread_of_dependent(WINDHOVER_DEPENDENT_SPREAD_POSTERIOR, &posterior);
  CHECK(robust.robust_spread == 1 && posterior.robust_spread == 0);
  CHECK(wide > own);
}

/* An answer says which horizon was chosen. */
static void chosen_horizons(void) {
  const char* models[] = {"linear", "mlp-linear"};
  const windhover_horizon chosen[] = {WINDHOVER_HORIZON_ADAPTIVE, WINDHOVER_HORIZON_WINDOW};
  for (int i = 0; i < 2; ++i) {
    windhover_engine_options options = small_options();
    options.model = models[i];
    options.horizon = WINDHOVER_HORIZON_CHOSEN;
    windhover_engine* engine = engine_of(&options);
    feed(engine, 200);
    windhover_reader* reader = reader_of(engine);
    asked a;
    ask_about(&a, 1);
    CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer));
    CHECK(a.provenance.horizon == chosen[i]);
    windhover_reader_destroy(reader);
    windhover_engine_destroy(engine);
  }
}

int main(void) {
  dependent_spreads();
  chosen_horizons();
  structures();
  weights();
  trials();
  classes();
  return verdict();
}
