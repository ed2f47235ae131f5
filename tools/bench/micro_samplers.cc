// The samplers' hot functions; see micro_benchmarks.cc. gemv/... is the product of a minibatch with
// a vector in the layout that suits it best: the limit of a gradient, which is one product with X
// and one with its transpose, rows gathered. syrk/... is the product with its own transpose, lower
// triangle: the limit of the sums for the noise covariance and the curvature.
//
// Gradients and sums are measured for all models of the registry, moves and refreshes for all
// samplers.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/error.h"
#include "windhover/tools/placed.h"

namespace windhover::micro_samplers {
namespace {

void count_examples(benchmark::State& state) {
  state.counters["examples/s"] = benchmark::Counter(
      static_cast<double>(state.range(1) * state.iterations()), benchmark::Counter::kIsRate);
}

using Call = void (*)(SamplerRig&);
void refresh(SamplerRig& rig) { rig.refresh(); }

// Registers a call of the rig as a benchmark. RunError becomes the error of the benchmark.
benchmark::internal::Benchmark* add(std::string_view what, std::string_view name, RigConfig config,
                                    Call call) {
  const std::string full = std::string(what) + "/" + std::string(name);
  return benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) mutable {
    config.dimension = argument(state, 0);
    config.minibatch_size = argument(state, 1);
    try {
      SamplerRig rig(config);
      measure(state, [&] { call(rig); });
      if (call != refresh) count_examples(state);
    } catch (const RunError& error) {
      state.SkipWithError(error.what());
    }
  });
}

// "gradient/MODEL/D/S", "gradient_sparse/..." with 8 non-zeros a row, "add_noise/...",
// "add_curvature/...".
bool register_sums() {
  const auto gradient = [](SamplerRig& rig) { rig.gradient(); };
  const auto add_noise = [](SamplerRig& rig) { rig.add_noise(); };
  const auto add_curvature = [](SamplerRig& rig) { rig.add_curvature(); };
  for (const ModelEntry& model : model_registry()) {
    RigConfig dense;
    dense.model = model.name;
    dense.sampler = "sgd-d";
    RigConfig sparse = dense;
    sparse.nonzeros = 8;
    auto* gradients = add("gradient", model.name, dense, gradient);
    gradients->Args({12, 100})->Args({100, 100});
    if (model.name == "linear") gradients->Args({1000, 100});
    add("gradient_sparse", model.name, sparse, gradient)->Args({461, 100});
    for (auto* sums : {add("add_noise", model.name, dense, add_noise),
                       add("add_curvature", model.name, dense, add_curvature)}) {
      sums->Args({12, 100});
      if (model.name == "linear" || model.name == "logistic") sums->Args({100, 100});
    }
  }
  return true;
}

// "move/SAMPLER/D/S" and "refresh/SAMPLER/D/S".
bool register_samplers() {
  constexpr double kSeconds = 0.2;  // short, because there are many
  for (const SamplerEntry& sampler : sampler_registry()) {
    RigConfig config;
    config.sampler = sampler.name;
    const bool amortised = sampler.name == "calibrated" || sampler.name == "sgfs-lr";
    for (auto* calls : {add("move", sampler.name, config, [](SamplerRig& rig) { rig.move(); }),
                        add("refresh", sampler.name, config, refresh)}) {
      calls->Args({12, 100})->Args({100, 100})->MinTime(kSeconds);
      if (amortised) calls->Args({1000, 100});
    }
  }
  return true;
}
const bool kRegistered = register_sums() && register_samplers();

template <class Limit>
void limit(benchmark::State& state) {
  Limit product(static_cast<std::size_t>(state.range(1)), static_cast<std::size_t>(state.range(0)));
  measure(state, [&] { product(); });
  count_examples(state);
}

void factorize(benchmark::State& state) {
  const auto d = argument(state, 0);
  std::vector<double> matrix(std::size_t{d} * d, 0.1);
  for (std::size_t j = 0; j < d; ++j) matrix[j * (d + 1)] = 1.0;
  Placed<Factor> factor(d);
  measure(state, [&] { benchmark::DoNotOptimize(factor->compute(matrix.data())); });
}

void record_latency(benchmark::State& state) {
  Histogram histogram;
  std::int64_t nanoseconds = 1;
  measure(state, [&] { histogram.record(nanoseconds = nanoseconds * 7 % 1'000'003); });
}

BENCHMARK_TEMPLATE(limit, GemvLimit)
    ->Name("gemv")
    ->Args({12, 100})
    ->Args({100, 100})
    ->Args({1000, 100});
BENCHMARK_TEMPLATE(limit, SyrkLimit)->Name("syrk")->Args({12, 100})->Args({100, 100});
BENCHMARK(factorize)->Arg(12)->Arg(100);
BENCHMARK(record_latency);

}  // namespace
}  // namespace windhover::micro_samplers
