// The samplers' hot functions; see micro_benchmarks.cc. gemv/... is the product of a minibatch with
// a vector when its rows lie side by side: the limit that a gradient (one product with X and one
// with its transpose, rows gathered) is measured against.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/linear_algebra.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/limit_kernels.h"
#include "windhover/tools/bench/sampler_rig.h"

namespace windhover {
namespace {

RigConfig rig_of(const benchmark::State& state, const char* model, const char* sampler) {
  RigConfig config;
  config.model = model;
  config.sampler = sampler;
  config.dimension = static_cast<std::uint32_t>(state.range(0));
  config.minibatch_size = static_cast<std::uint32_t>(state.range(1));
  return config;
}

void count_examples(benchmark::State& state) {
  state.counters["examples/s"] = benchmark::Counter(
      static_cast<double>(state.range(1) * state.iterations()), benchmark::Counter::kIsRate);
}

void move(benchmark::State& state, const char* sampler) {
  SamplerRig rig(rig_of(state, "linear", sampler));
  {
    const HeapColumn heap(state);
    for (auto _ : state) rig.move();
  }
  count_examples(state);
}

void gradient(benchmark::State& state, const char* model) {
  SamplerRig rig(rig_of(state, model, "sgd-d"));
  {
    const HeapColumn heap(state);
    for (auto _ : state) rig.gradient();
  }
  count_examples(state);
}

void add_noise(benchmark::State& state, const char* model) {
  SamplerRig rig(rig_of(state, model, "sgd-d"));
  rig.add_noise();  // takes its memory
  {
    const HeapColumn heap(state);
    for (auto _ : state) rig.add_noise();
  }
  count_examples(state);
}

void add_curvature(benchmark::State& state, const char* model) {
  SamplerRig rig(rig_of(state, model, "sgd-d"));
  rig.add_curvature();
  {
    const HeapColumn heap(state);
    for (auto _ : state) rig.add_curvature();
  }
  count_examples(state);
}

void refresh(benchmark::State& state, const char* sampler) {
  SamplerRig rig(rig_of(state, "linear", sampler));
  const HeapColumn heap(state);
  for (auto _ : state) rig.refresh();
}

void gemv(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::size_t columns = (static_cast<std::size_t>(state.range(0)) + 7) / 8 * 8;
  const std::vector<double> a(rows * columns, 0.5);
  const std::vector<double> x(columns, 0.1);
  std::vector<double> y(rows);
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      limit_kernels().gemv(a.data(), rows, columns, x.data(), y.data());
      benchmark::ClobberMemory();
    }
  }
  count_examples(state);
}

void factorize(benchmark::State& state) {
  const auto d = static_cast<std::uint32_t>(state.range(0));
  std::vector<double> matrix(std::size_t{d} * d, 0.1);
  for (std::size_t j = 0; j < d; ++j) matrix[j * (d + 1)] = 1.0;
  Arena measuring = Arena::measuring();
  (void)Factor(measuring, d);
  MappedBlock block(measuring.used());
  Arena arena(block.bytes());
  Factor factor(arena, d);
  const HeapColumn heap(state);
  for (auto _ : state) benchmark::DoNotOptimize(factor.compute(matrix.data()));
}

void minibatch_indices(benchmark::State& state) {
  std::vector<std::uint32_t> indices(static_cast<std::size_t>(state.range(0)));
  std::uint64_t round = 0;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      fill_indices(1, {round++, 0, Purpose::kMinibatch}, 4898, indices);
      benchmark::DoNotOptimize(indices.data());
    }
  }
  state.SetItemsProcessed(state.range(0) * state.iterations());
}

void normals(benchmark::State& state) {
  std::vector<double> values(static_cast<std::size_t>(state.range(0)));
  std::uint64_t round = 0;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      fill_normals(1, {round++, 0, Purpose::kInjectedNoise}, values);
      benchmark::DoNotOptimize(values.data());
    }
  }
  state.SetItemsProcessed(state.range(0) * state.iterations());
}

void record_latency(benchmark::State& state) {
  Histogram histogram;
  std::int64_t nanoseconds = 1;
  const HeapColumn heap(state);
  for (auto _ : state) histogram.record(nanoseconds = nanoseconds * 7 % 1'000'003);
}

BENCHMARK_CAPTURE(move, calibrated, "calibrated")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(move, sgd_f, "sgd-f")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(move, sgd_d, "sgd-d")->Args({12, 100});
BENCHMARK_CAPTURE(move, sgfs_f, "sgfs-f")->Args({100, 100});
BENCHMARK_CAPTURE(move, sgfs_lr, "sgfs-lr")->Args({100, 100});
BENCHMARK_CAPTURE(gradient, linear, "linear")->Args({12, 100})->Args({100, 100})->Args({1000, 100});
BENCHMARK_CAPTURE(gradient, logistic, "logistic")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(add_noise, linear, "linear")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(add_curvature, logistic, "logistic")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(refresh, calibrated, "calibrated")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(refresh, sgfs_f, "sgfs-f")->Args({100, 100});
BENCHMARK(gemv)->Args({12, 100})->Args({100, 100})->Args({1000, 100});
BENCHMARK(factorize)->Arg(12)->Arg(100);
BENCHMARK(minibatch_indices)->Arg(100);
BENCHMARK(normals)->Arg(12)->Arg(1024);
BENCHMARK(record_latency);

}  // namespace
}  // namespace windhover
