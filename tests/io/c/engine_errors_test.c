/* Every way in which a call of an engine from C can be wrong. */
#include <math.h>

#include "windhover/tests/io/c/small_engine.h"

static void wrong_options(void) {
  windhover_engine* engine = (windhover_engine*)&engine;
  windhover_error error;
  windhover_engine_options options = small_options();
  size_t bytes = 0;
  CHECK_OK(windhover_engine_footprint(&options, &bytes, NULL));
  CHECK(bytes > 10000);
  CHECK_STATUS(windhover_engine_footprint(&options, NULL, &error), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_footprint(NULL, &bytes, &error), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_create(NULL, &engine, &error), WINDHOVER_INVALID_ARGUMENT);
  CHECK(engine == NULL && strstr(error.sentence, "options") != NULL);
  CHECK_STATUS(windhover_engine_create(&options, NULL, &error), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_create(NULL, NULL, NULL), WINDHOVER_INVALID_ARGUMENT);

  options.features = 0;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(engine == NULL && strstr(error.sentence, "features") != NULL);
  CHECK_STATUS(windhover_engine_footprint(&options, &bytes, NULL), WINDHOVER_INVALID_CONFIG);
  options = small_options();
  options.model = "no such model";
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "one of those that `windhover models` lists") != NULL);
  options.model = NULL;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_ARGUMENT);
  options = small_options();
  options.sampler = NULL;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_ARGUMENT);
  options = small_options();
  options.horizon = (windhover_horizon)6;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "horizon") != NULL && error.number == 6);
  options = small_options();
  options.surprising_rows = (windhover_surprising_rows)4;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "surprising_rows") != NULL && error.number == 4);
  options = small_options();
  options.structure = (windhover_structure)3;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "structure") != NULL && error.number == 3);
  options = small_options();
  options.dependent_spread = (windhover_dependent_spread)2;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  CHECK(strstr(error.sentence, "dependent_spread") != NULL && error.number == 2);
  options = small_options();
  options.structure = WINDHOVER_STRUCTURE_DIAGONAL; /* of sparse rows alone */
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  options = small_options();
  options.model = "logistic"; /* no row is far off */
  options.surprising_rows = WINDHOVER_SURPRISING_SET_ASIDE;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  options = small_options();
  options.max_query_rows = 0;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_CONFIG);
  options = small_options();
  options.window_size = (uint64_t)1 << 40; /* 64 TB: nobody has them */
  options.window_slack = 65536;
  CHECK(windhover_engine_create(&options, &engine, &error) != WINDHOVER_OK);
  CHECK(engine == NULL && strlen(error.sentence) > 10);

  /* Of a program that was compiled against another library. */
  options = small_options();
  windhover_engine_options_init(&options, offsetof(windhover_engine_options, structure) - 8);
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_INVALID_ARGUMENT);
  CHECK(strstr(error.sentence, "struct_size") != NULL);
  options = small_options();
  options.struct_size += 8;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_UNSUPPORTED);
  CHECK(strstr(error.sentence, "later") != NULL);
  windhover_engine_options_init(NULL, sizeof options);

  /* Of one from before there was a structure to choose. */
  memset(&options, 0xff, sizeof options);
  windhover_engine_options_init(&options, offsetof(windhover_engine_options, structure));
  options.features = 2;
  options.window_size = 1000;
  CHECK_STATUS(windhover_engine_create(&options, &engine, &error), WINDHOVER_OK);
  windhover_engine_destroy(engine);
  engine = NULL;
}

/* The init of a later program's struct leaves nothing beyond its size, and zeros what this library
 * does not know. */
static void later_structs(void) {
  struct {
    windhover_provenance known;
    double unknown;
    double guard;
  } later;
  memset(&later, 0x55, sizeof later);
  const double guard = later.guard;
  windhover_provenance_init(&later.known, offsetof(__typeof__(later), guard));
  CHECK(later.unknown == 0 && later.guard == guard);
  const windhover_engine_options options = small_options();
  windhover_engine* engine = engine_of(&options);
  windhover_reader* reader = reader_of(engine);
  windhover_parameter parameters[2];
  later.unknown = 7;
  CHECK_OK(windhover_reader_posterior(reader, parameters, sizeof parameters[0], 2, &later.known));
  CHECK(later.unknown == 7 && later.guard == guard);
  struct {
    windhover_parameter known;
    double unknown;
  } wide[2] = {{.unknown = 1}, {.unknown = 2}};
  CHECK_OK(windhover_reader_posterior(reader, &wide[0].known, sizeof wide[0], 2, NULL));
  CHECK(wide[0].unknown == 1 && wide[1].unknown == 2);
  CHECK(memcmp(&wide[1].known.sd, &parameters[1].sd, sizeof(double)) == 0);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

static void wrong_rows(void) {
  windhover_engine_options options = small_options();
  windhover_engine* engine = engine_of(&options);
  const double x[65] = {1, 2, NAN, 4};
  const double y[65] = {1, 2, 3, INFINITY};
  CHECK_STATUS(windhover_engine_observe(NULL, x, 1, 1), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_observe(engine, NULL, 1, 1), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_observe(engine, x, 2, 1), WINDHOVER_WRONG_DIMENSION);
  CHECK_STATUS(windhover_engine_observe(engine, NULL, 0, 1), WINDHOVER_WRONG_DIMENSION);
  CHECK_STATUS(windhover_engine_observe(engine, x, 1, NAN), WINDHOVER_NOT_FINITE);

  windhover_rows rows;
  windhover_refused_row listed[4];
  size_t accepted = 9;
  size_t refused = 9;
  memset(&rows, 0, sizeof rows);
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT); /* no init */
  windhover_rows_init(&rows, sizeof rows);
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, NULL, 0, &accepted, &refused));
  CHECK(accepted == 0 && refused == 0);
  rows.rows = 4;
  rows.features = x;
  rows.feature_values = 4;
  rows.targets = y;
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 4, &accepted, &refused));
  CHECK(accepted == 2 && refused == 2);
  CHECK(listed[0].row == 2 && listed[0].reason == WINDHOVER_NOT_FINITE);
  CHECK(listed[1].row == 3 && listed[1].reason == WINDHOVER_NOT_FINITE);
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 1, NULL, &refused));
  CHECK(refused == 2 && listed[0].row == 2);
  CHECK_STATUS(windhover_engine_observe_rows(NULL, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_observe_rows(engine, NULL, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 1, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  rows.feature_values = 3;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_WRONG_DIMENSION);
  rows.feature_values = rows.rows = 65;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_TOO_LARGE);
  rows.feature_values = rows.rows = 4;
  const uint32_t ends[4] = {1, 2, 3, 4};
  const uint32_t zero[4] = {0, 0, 0, 0};
  rows.row_ends = ends;
  rows.indices = zero;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_WRONG_DIMENSION); /* sparse rows for a dense model */
  rows.indices = NULL;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  rows.indices = zero;
  rows.row_ends = NULL;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  rows.indices = NULL;
  rows.targets = NULL;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);

  windhover_status status = WINDHOVER_OK;
  for (int i = 0; i < 100000 && status == WINDHOVER_OK; ++i) {
    status = windhover_engine_observe(engine, x, 1, 1);
  }
  CHECK_STATUS(status, WINDHOVER_WINDOW_FULL); /* nobody learns */
  windhover_engine_destroy(engine);

  options.max_nonzeros = 2;
  options.features = 10;
  options.model = "logistic";
  engine = engine_of(&options);
  const uint32_t columns[4] = {0, 9, 3, 5};
  const uint32_t two[2] = {2, 4};
  const double one[2] = {1, 0};
  windhover_rows_init(&rows, sizeof rows);
  rows.rows = 2;
  rows.features = one;
  rows.feature_values = 4;
  const double values[4] = {1, 2, 3, 4};
  rows.features = values;
  rows.indices = columns;
  rows.row_ends = two;
  rows.targets = one;
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 4, &accepted, &refused));
  CHECK(accepted == 2 && refused == 0);
  CHECK_STATUS(windhover_engine_observe(engine, values, 2, 1), WINDHOVER_WRONG_DIMENSION);
  const uint32_t backwards[4] = {9, 0, 3, 10};
  rows.indices = backwards;
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 4, &accepted, &refused));
  CHECK(refused == 2 && listed[0].reason == WINDHOVER_INDICES_NOT_INCREASING &&
        listed[1].reason == WINDHOVER_INDEX_OUT_OF_RANGE);
  const uint32_t beyond[2] = {2, 5};
  rows.row_ends = beyond;
  CHECK_STATUS(windhover_engine_observe_rows(engine, &rows, NULL, 0, NULL, NULL),
               WINDHOVER_MALFORMED);
  const double half[2] = {0.5, 1};
  rows.indices = columns;
  rows.row_ends = two;
  rows.targets = half;
  CHECK_OK(windhover_engine_observe_rows(engine, &rows, listed, 4, &accepted, &refused));
  CHECK(accepted == 1 && listed[0].reason == WINDHOVER_TARGET_OUT_OF_DOMAIN);
  windhover_engine_destroy(engine);
}

static void wrong_questions(void) {
  const windhover_engine_options options = small_options();
  windhover_engine* engine = engine_of(&options);
  CHECK_STATUS(windhover_reader_create(NULL, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_create(engine, NULL), WINDHOVER_INVALID_ARGUMENT);
  windhover_reader* reader = reader_of(engine);
  windhover_reader* second = reader_of(engine);
  windhover_reader* third = reader;
  CHECK_STATUS(windhover_reader_create(engine, &third), WINDHOVER_UNAVAILABLE);
  CHECK(third == NULL);
  windhover_reader_destroy(second);
  CHECK_OK(windhover_reader_create(engine, &third)); /* its place is free again */
  windhover_reader_destroy(third);
  windhover_reader_destroy(NULL);

  asked a;
  ask_about(&a, 1);
  CHECK_OK(windhover_reader_predict(reader, &a.question, &a.answer)); /* the prior's */
  CHECK(a.provenance.status == WINDHOVER_POSTERIOR_WARMING_UP && a.provenance.reason == 1);
  CHECK_STATUS(windhover_reader_predict(NULL, &a.question, &a.answer), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_predict(reader, NULL, &a.answer), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_predict(reader, &a.question, NULL), WINDHOVER_INVALID_ARGUMENT);
#define REFUSED(change, status)                                                     \
  do {                                                                              \
    ask_about(&a, 1);                                                               \
    a.prediction.mean = 4711;                                                       \
    change;                                                                         \
    CHECK_STATUS(windhover_reader_predict(reader, &a.question, &a.answer), status); \
    CHECK(a.prediction.mean == 4711);                                               \
  } while (0)
  double many[17];
  for (int i = 0; i < 17; ++i) many[i] = 0.5;
  const double bad[2] = {NAN, 1.5};
  double class_room[2];
  REFUSED(a.question.struct_size = 0, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.struct_size += 8, WINDHOVER_UNSUPPORTED);
  REFUSED(a.answer.struct_size = 0, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.provenance.struct_size = 0, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.answer.prediction_size = 0, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.rows = 0, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.features = NULL, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.feature_values = 2, WINDHOVER_WRONG_DIMENSION);
  REFUSED((a.question.rows = 5, a.question.features = many, a.question.feature_values = 5),
          WINDHOVER_TOO_LARGE);
  REFUSED(a.question.rows = SIZE_MAX, WINDHOVER_TOO_LARGE);
  REFUSED(a.question.features = bad, WINDHOVER_NOT_FINITE);
  REFUSED(a.question.interval = 1, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.quantile_count = 1, WINDHOVER_INVALID_ARGUMENT);
  REFUSED((a.question.quantiles = bad + 1, a.question.quantile_count = 1),
          WINDHOVER_INVALID_ARGUMENT);
  REFUSED((a.question.quantiles = many, a.question.quantile_count = 17), WINDHOVER_TOO_LARGE);
  REFUSED(a.question.threshold_count = 1, WINDHOVER_INVALID_ARGUMENT);
  REFUSED((a.question.thresholds = many, a.question.threshold_count = 9), WINDHOVER_TOO_LARGE);
  REFUSED(a.question.outcomes = bad, WINDHOVER_NOT_FINITE);
  REFUSED((a.answer.probabilities = class_room, a.answer.classes = 2), WINDHOVER_WRONG_DIMENSION);
  const uint32_t end = 1;
  const uint32_t column = 0;
  REFUSED(a.question.indices = &column, WINDHOVER_INVALID_ARGUMENT);
  REFUSED(a.question.row_ends = &end, WINDHOVER_INVALID_ARGUMENT);
  REFUSED((a.question.indices = &column, a.question.row_ends = &end), WINDHOVER_WRONG_DIMENSION);

  windhover_parameter parameters[2];
  CHECK_STATUS(windhover_reader_posterior(NULL, parameters, sizeof parameters[0], 2, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_posterior(reader, NULL, sizeof parameters[0], 2, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_posterior(reader, parameters, 8, 2, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_posterior(reader, parameters, sizeof parameters[0], 1, NULL),
               WINDHOVER_WRONG_DIMENSION);
  a.provenance.struct_size = 0;
  CHECK_STATUS(
      windhover_reader_posterior(reader, parameters, sizeof parameters[0], 2, &a.provenance),
      WINDHOVER_INVALID_ARGUMENT);
  double draws[2];
  CHECK_STATUS(windhover_reader_draws(NULL, 0, 1, draws, 2, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_draws(reader, 0, 1, draws, 2, &a.provenance),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_release(NULL), WINDHOVER_INVALID_ARGUMENT);
  windhover_event event;
  size_t events = 7;
  CHECK_STATUS(windhover_reader_events(NULL, &event, sizeof event, 1, &events),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK(events == 0);
  CHECK_STATUS(windhover_reader_events(reader, NULL, sizeof event, 1, &events),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_events(reader, &event, 8, 1, &events), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_reader_events(reader, &event, sizeof event, 1, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK(strcmp(windhover_event_kind_text(-1), "none") == 0);
  CHECK(strcmp(windhover_event_kind_text(250), "none") == 0);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
}

int main(void) {
  wrong_options();
  later_structs();
  wrong_rows();
  wrong_questions();
  return verdict();
}
