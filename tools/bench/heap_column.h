#ifndef WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_
#define WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_

#include <benchmark/benchmark.h>

#include <cstdint>

#include "windhover/platform/memory.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {

// The column heap_calls: those of the timed part, which must be 0; missing under sanitizers. Beside
// it resident_bytes: of the whole process at the end of the timed part.
class HeapColumn {
 public:
  explicit HeapColumn(benchmark::State& state) : state_(state), before_(heap_calls().value_or(0)) {}
  ~HeapColumn() {
    const auto after = heap_calls();
    if (after) state_.counters["heap_calls"] = static_cast<double>(*after - before_);
    state_.counters["resident_bytes"] = benchmark::Counter(static_cast<double>(resident_bytes()));
  }
  HeapColumn(const HeapColumn&) = delete;
  HeapColumn& operator=(const HeapColumn&) = delete;

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_
