/* The least a test in C needs: say what is not so, and go on; the exit code says whether all was.
 */
#ifndef WINDHOVER_TESTS_IO_C_CHECK_H_
#define WINDHOVER_TESTS_IO_C_CHECK_H_

#include <stdio.h>
#include <string.h>
#include <windhover.h>

static int checks = 0;
static int failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    ++checks;                                                                 \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

#define CHECK_STATUS(call, expected)                                                          \
  do {                                                                                        \
    const windhover_status got_ = (call);                                                     \
    ++checks;                                                                                 \
    if (got_ != (expected)) {                                                                 \
      ++failures;                                                                             \
      fprintf(stderr, "%s:%d: %s is %d (%s), not %s\n", __FILE__, __LINE__, #call, (int)got_, \
              windhover_status_text(got_), #expected);                                        \
    }                                                                                         \
  } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, WINDHOVER_OK)

static inline int verdict(void) {
  printf("%d checks, %d of them failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}

/* A number between 0 and 1, the same ones at every run. */
static inline double uniform(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

/* y = 2 + 3 x and a little. */
static inline double target_of(double x) { return 2 + 3 * x + 0.2 * (uniform() - 0.5); }

/* A question about one x of one feature, answered into a prediction and a provenance. */
typedef struct asked {
  double x;
  windhover_question question;
  windhover_answer answer;
  windhover_prediction prediction;
  windhover_provenance provenance;
} asked;

static inline void ask_about(asked* a, double x) {
  memset(a, 0, sizeof *a);
  a->x = x;
  windhover_question_init(&a->question, sizeof a->question);
  a->question.rows = 1;
  a->question.features = &a->x;
  a->question.feature_values = 1;
  windhover_provenance_init(&a->provenance, sizeof a->provenance);
  windhover_answer_init(&a->answer, sizeof a->answer);
  a->answer.predictions = &a->prediction;
  a->answer.prediction_size = sizeof a->prediction;
  a->answer.provenance = &a->provenance;
}

#endif /* WINDHOVER_TESTS_IO_C_CHECK_H_ */
