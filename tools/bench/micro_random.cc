// Random numbers, minibatches drawn by the age of rows beside uniform ones, and the sigmoid of many
// numbers; see micro_benchmarks.cc. .../baseline is the code for a processor without AVX, which
// gives the same bits.
#include <cstddef>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/platform/random_kernels.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/window/age_draws.h"
#include "windhover/samplers/kernels/kernels.h"
#include "windhover/tools/bench/heap_column.h"

namespace windhover::micro_random {

namespace {

constexpr random_kernels::Start kStart{{1, 0}, {0, 0, 0}, 0};

// Measures fill(numbers, round).
template <class T, class Fill>
void fills(benchmark::State& state, Fill&& fill) {
  std::vector<T> numbers(static_cast<std::size_t>(state.range(0)));
  std::uint64_t round = 0;
  measure(state, [&] {
    fill(numbers, round++);
    benchmark::DoNotOptimize(numbers.data());
  });
  state.SetItemsProcessed(state.range(0) * state.iterations());
}

void bits(benchmark::State& state) {
  fills<std::uint32_t>(state, [](std::vector<std::uint32_t>& out, std::uint64_t round) {
    fill_bits(1, {round}, out);
  });
}
void minibatch_indices(benchmark::State& state) {
  fills<std::uint32_t>(state, [](std::vector<std::uint32_t>& out, std::uint64_t round) {
    fill_indices(1, {round, 0, Purpose::kMinibatch}, 4898, out);
  });
}
void uniforms(benchmark::State& state) {
  fills<double>(
      state, [](std::vector<double>& out, std::uint64_t round) { fill_uniforms(1, {round}, out); });
}
void normals(benchmark::State& state) {
  fills<double>(state, [](std::vector<double>& out, std::uint64_t round) {
    fill_normals(1, {round, 0, Purpose::kInjectedNoise}, out);
  });
}
void normals_baseline(benchmark::State& state) {
  fills<double>(state, [](std::vector<double>& out, std::uint64_t round) {
    random_kernels::Start start = kStart;
    start.counter[0] = static_cast<std::uint32_t>(round);
    random_kernels::kBaselineKernels.normals(start, out.data(), out.size());
  });
}

void sigmoid(benchmark::State& state, const Kernels& kernels) {
  std::vector<double> x(static_cast<std::size_t>(state.range(0)));
  fill_normals(1, {}, x);
  fills<double>(state, [&](std::vector<double>& out, std::uint64_t) {
    kernels.sigmoid(x.data(), x.size(), out.data());
  });
}
void sigmoids(benchmark::State& state) { sigmoid(state, kernels()); }
void sigmoids_baseline(benchmark::State& state) { sigmoid(state, kKernelsBaseline); }

BENCHMARK(bits)->Arg(1024);
BENCHMARK(minibatch_indices)->Arg(100);
BENCHMARK(uniforms)->Arg(1024);
BENCHMARK(normals)->Arg(12)->Arg(1024);
BENCHMARK(normals_baseline)->Name("normals/baseline")->Arg(12)->Arg(1024);
BENCHMARK(sigmoids)->Name("sigmoid")->Arg(100);
BENCHMARK(sigmoids_baseline)->Name("sigmoid/baseline")->Arg(100);

}  // namespace

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

}  // namespace windhover::micro_random
