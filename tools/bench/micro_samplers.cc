// The samplers' hot functions; see micro_benchmarks.cc. gemv/... is the product of a minibatch with
// a vector when its rows lie as suits that best: the limit that a gradient (one product with X and
// one with its transpose, rows gathered) is measured against. syrk/... is the product with its own
// transpose, lower triangle: the limit of the sums for the noise covariance and the curvature.
//
// Gradients and sums are those of all models of the registry.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/linear_algebra.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/sampler_rig.h"

namespace windhover {
namespace {

RigConfig rig_of(const benchmark::State& state, std::string_view model, std::string_view sampler) {
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

// One of the rig's sums over a minibatch; sparse rows where nonzeros are given.
class SumBenchmark final : public benchmark::internal::Benchmark {
 public:
  using Sum = void (SamplerRig::*)();

  SumBenchmark(const std::string& what, std::string_view model, std::uint32_t nonzeros, Sum sum)
      : Benchmark((what + "/" + std::string(model)).c_str()),
        model_(model),
        nonzeros_(nonzeros),
        sum_(sum) {}

  void Run(benchmark::State& state) override {
    RigConfig config = rig_of(state, model_, "sgd-d");
    config.nonzeros = nonzeros_;
    SamplerRig rig(config);
    {
      const HeapColumn heap(state);
      for (auto _ : state) (rig.*sum_)();
    }
    count_examples(state);
  }

 private:
  std::string_view model_;
  std::uint32_t nonzeros_;
  Sum sum_;
};

// "gradient/MODEL/D/S", "gradient_sparse/..." with 8 non-zeros a row, "add_noise/...",
// "add_curvature/...".
bool register_sums() {
  for (const ModelEntry& model : model_registry()) {
    const auto add = [&](const char* what, std::uint32_t nonzeros, SumBenchmark::Sum sum) {
      auto* made = new SumBenchmark(what, model.name, nonzeros, sum);
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): Google Benchmark keeps it.
      return benchmark::internal::RegisterBenchmarkInternal(made);
    };
    auto* gradient = add("gradient", 0, &SamplerRig::gradient)->Args({12, 100})->Args({100, 100});
    if (model.name == "linear") gradient->Args({1000, 100});
    add("gradient_sparse", 8, &SamplerRig::gradient)->Args({461, 100});
    for (auto* sums : {add("add_noise", 0, &SamplerRig::add_noise),
                       add("add_curvature", 0, &SamplerRig::add_curvature)}) {
      sums->Args({12, 100});
      if (model.name == "linear" || model.name == "logistic") sums->Args({100, 100});
    }
  }
  return true;
}
const bool kRegistered = register_sums();

void refresh(benchmark::State& state, const char* sampler) {
  SamplerRig rig(rig_of(state, "linear", sampler));
  const HeapColumn heap(state);
  for (auto _ : state) rig.refresh();
}

template <class Limit>
void limit(benchmark::State& state) {
  Limit product(static_cast<std::size_t>(state.range(1)), static_cast<std::size_t>(state.range(0)));
  {
    const HeapColumn heap(state);
    for (auto _ : state) product();
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
BENCHMARK_CAPTURE(refresh, calibrated, "calibrated")->Args({12, 100})->Args({100, 100});
BENCHMARK_CAPTURE(refresh, sgfs_f, "sgfs-f")->Args({100, 100});
BENCHMARK_TEMPLATE(limit, GemvLimit)
    ->Name("gemv")
    ->Args({12, 100})
    ->Args({100, 100})
    ->Args({1000, 100});
BENCHMARK_TEMPLATE(limit, SyrkLimit)->Name("syrk")->Args({12, 100})->Args({100, 100});
BENCHMARK(factorize)->Arg(12)->Arg(100);
BENCHMARK(minibatch_indices)->Arg(100);
BENCHMARK(normals)->Arg(12)->Arg(1024);
BENCHMARK(record_latency);

}  // namespace
}  // namespace windhover
