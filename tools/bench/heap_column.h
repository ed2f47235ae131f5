#ifndef WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_
#define WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_

#include <benchmark/benchmark.h>

#include <cstdint>

#include "windhover/platform/memory.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {

inline std::uint32_t argument(const benchmark::State& state, std::size_t i) {
  return static_cast<std::uint32_t>(state.range(i));
}

// Runs `f` as a benchmark. The column heap_calls counts the heap calls of all iterations, and is
// missing under sanitizers; beside it resident_bytes of the whole process at the end.
template <class F>
void measure(benchmark::State& state, F&& f) {
  const std::uint64_t before = heap_calls().value_or(0);
  for (auto _ : state) f();
  const auto after = heap_calls();
  if (after) state.counters["heap_calls"] = static_cast<double>(*after - before);
  state.counters["resident_bytes"] = static_cast<double>(resident_bytes());
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_HEAP_COLUMN_H_
