// Rows of a minibatch drawn by their age, beside rows drawn alike.
#include <benchmark/benchmark.h>

#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/runtime/window/age_draws.h"

namespace windhover {
namespace {

constexpr std::uint64_t kSize = 100'000;

AgeWeights ages() {
  EngineConfig config;
  config.horizon = Horizon::kForgetting;
  config.window_size = kSize;
  return AgeWeights(config);
}

void draw_by_age(benchmark::State& state) {
  AgeDraws draws;
  draws.prepare(ages(), 12'345, 12'345 + 2 * kSize);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(state.range(0)));
  std::uint64_t step = 0;
  for (auto _ : state) {
    draws.draw(7, {++step, 1, Purpose::kMinibatch}, rows);
    benchmark::DoNotOptimize(rows.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(draw_by_age)->Name("rows/by_age")->Arg(64)->Arg(512);

void draw_alike(benchmark::State& state) {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(state.range(0)));
  std::uint64_t step = 0;
  for (auto _ : state) {
    fill_indices(7, {++step, 1, Purpose::kMinibatch}, 2 * kSize, rows);
    benchmark::DoNotOptimize(rows.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(draw_alike)->Name("rows/alike")->Arg(64)->Arg(512);

void prepare(benchmark::State& state) {
  const AgeWeights weights = ages();
  AgeDraws draws;
  std::uint64_t first = 0;
  for (auto _ : state) {
    draws.prepare(weights, first, first + 2 * kSize);
    ++first;
    benchmark::DoNotOptimize(draws);
  }
}
BENCHMARK(prepare)->Name("rows/by_age/prepare");

}  // namespace
}  // namespace windhover
