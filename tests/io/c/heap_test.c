/* After creation an engine and its readers make no heap call, from C as from C++. The counter
 * stands in for malloc in the whole process, the library included; sanitizers bring a malloc of
 * their own, so there the test is left out. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "windhover/tests/io/c/check.h"

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static atomic_ullong heap_calls;
static void count_heap_call(void) { atomic_fetch_add(&heap_calls, 1); }

void* malloc(size_t size) {
  count_heap_call();
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  count_heap_call();
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  count_heap_call();
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count_heap_call();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  count_heap_call();
  *out = __libc_memalign(alignment, size);
  return *out != NULL ? 0 : ENOMEM;
}

int main(void) {
  windhover_engine_options options;
  windhover_engine* engine = NULL;
  windhover_reader* reader = NULL;
  asked a;
  windhover_parameter parameters[2];
  double draws[2 * 64];
  double x[32];
  double y[32];
  windhover_rows rows;
  windhover_engine_options_init(&options, sizeof options);
  options.features = 1;
  options.window_size = 500;
  options.labels_pending = 4;
  CHECK_OK(windhover_engine_create(&options, &engine, NULL));
  CHECK_OK(windhover_reader_create(engine, &reader));
  if (reader == NULL) return verdict();
  windhover_rows_init(&rows, sizeof rows);
  rows.rows = rows.feature_values = 32;
  rows.features = x;
  rows.targets = y;
  ask_about(&a, 2.5);
  const char* key = "view";
  const double outcome = 9.5;
  a.question.keys = &key;
  CHECK(atomic_load(&heap_calls) > 2); /* the counter counts, in the library too */

  const unsigned long long before = atomic_load(&heap_calls);
  for (int round = 0; round < 100; ++round) {
    size_t accepted = 0;
    for (int i = 0; i < 32; ++i) {
      x[i] = 5 * uniform();
      y[i] = target_of(x[i]);
    }
    if (windhover_engine_observe_rows(engine, &rows, NULL, 0, &accepted, NULL) != WINDHOVER_OK ||
        accepted != 32 || windhover_engine_observe(engine, x, 1, y[0]) != WINDHOVER_OK ||
        windhover_engine_poll(engine, 200, NULL) != WINDHOVER_OK ||
        windhover_reader_predict(reader, &a.question, &a.answer) != WINDHOVER_OK ||
        windhover_engine_outcomes(engine, &key, &outcome, 1, NULL, 0, NULL) != WINDHOVER_OK ||
        windhover_engine_settle_labels(engine) != WINDHOVER_OK ||
        windhover_reader_posterior(reader, parameters, sizeof parameters[0], 2, NULL) !=
            WINDHOVER_OK ||
        windhover_reader_draws(reader, 0, 64, draws, 128, NULL) != WINDHOVER_OK ||
        windhover_reader_release(reader) != WINDHOVER_OK) {
      ++failures;
    }
  }
  const unsigned long long calls = atomic_load(&heap_calls) - before;
  CHECK(calls == 0);
  CHECK(a.provenance.n_seen > 500 && a.prediction.mean > 9);
  windhover_reader_destroy(reader);
  windhover_engine_destroy(engine);
  return verdict();
}
