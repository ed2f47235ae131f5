// Google Benchmark of the hot functions, each with a column of heap calls that must be 0.
//
//   build/bin/windhover_benchmarks [--benchmark_filter=...] [--benchmark_format=json]
//
// Here: the engine. micro_samplers.cc: gradients, sums, preconditioners, random numbers.
// micro_io.cc: framing, codec. micro_conversation.cc: a request in, its answer out.
//
// step/... are whole rounds of the engine: minibatch indices, gradients of all chains, the full
// preconditioner, injected noise, the sweep for the noise covariance and the retained draws.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/learning_engine.h"

namespace windhover {
namespace {

void step(benchmark::State& state, const char* model, const char* sampler) {
  LearningEngine learning(model, sampler, static_cast<std::uint32_t>(state.range(0)),
                          static_cast<std::uint32_t>(state.range(1)));
  const std::uint64_t before = learning.examples();
  {
    const HeapColumn heap(state);
    for (auto _ : state) learning.engine().poll(1);
  }
  const double examples = static_cast<double>(learning.examples() - before);
  state.counters["examples/s"] = benchmark::Counter(examples, benchmark::Counter::kIsRate);
}

// A request that reads all draws, for the Thompson draw, and quantiles where that is asked for.
void predict(benchmark::State& state, const char* model, bool with_quantiles) {
  LearningEngine learning(model, "calibrated", static_cast<std::uint32_t>(state.range(0)), 64);
  Reader reader = learning.engine().reader().value();
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::vector<double> x(rows * (static_cast<std::size_t>(state.range(0)) - 1), 0.1);
  const std::vector<double> quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  request.thompson_id = 1;
  if (with_quantiles) request.quantile_probabilities = quantiles;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      benchmark::DoNotOptimize(reader.predict(request, summaries, provenance));
    }
  }
}

// The summaries of all parameters.
void posterior(benchmark::State& state) {
  LearningEngine learning("linear", "calibrated", static_cast<std::uint32_t>(state.range(0)), 64);
  Reader reader = learning.engine().reader().value();
  std::vector<ParameterSummary> summaries(learning.engine().dimension());
  Provenance provenance;
  {
    const HeapColumn heap(state);
    for (auto _ : state) benchmark::DoNotOptimize(reader.posterior(summaries, provenance));
  }
}

// A new snapshot. While the clock stands still rounds publish none; asked for no round, the learner
// does if they have retained a draw.
void publish(benchmark::State& state) {
  constexpr int kRounds = 64;
  ManualClock clock;
  LearningEngine learning("linear", "calibrated", static_cast<std::uint32_t>(state.range(0)), 64,
                          LearningEngine::kRows, 1, &clock);
  const auto snapshots = [&] {
    return learning.engine().counters().get(RuntimeCounter::kSnapshots);
  };
  const std::uint64_t before = snapshots();
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      state.PauseTiming();
      for (int i = 0; i < kRounds; ++i) learning.engine().poll(1);
      state.ResumeTiming();
      learning.engine().poll(0);
    }
  }
  if (snapshots() - before != static_cast<std::uint64_t>(state.iterations())) {
    state.SkipWithError("not one snapshot an iteration");
  }
}

// Rows into the window, dense (nonzeros 0) or sparse.
void observe(benchmark::State& state) {
  EngineConfig config;
  config.model.features = static_cast<std::uint32_t>(state.range(0));
  config.model.max_nonzeros = static_cast<std::uint32_t>(state.range(2));
  config.window_size = 100'000;
  MappedBlock block(Engine::footprint(config).value());
  RealClock clock;
  Engine* engine = Engine::create(config, block.bytes(), clock).value();
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::uint32_t nonzeros = config.model.max_nonzeros;
  const std::size_t a_row = nonzeros > 0 ? nonzeros : config.model.features;
  const std::vector<float> values(rows * a_row, 0.5F);
  const std::vector<float> targets(rows, 1.0F);
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;
  ObservationBatch batch;
  batch.rows = rows;
  batch.scalar = Scalar::kFloat32;
  batch.features = reinterpret_cast<const std::byte*>(values.data());
  batch.feature_values = values.size();
  batch.targets = reinterpret_cast<const std::byte*>(targets.data());
  if (nonzeros > 0) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t k = 0; k < nonzeros; ++k) indices.push_back(k);
      row_ends.push_back(static_cast<std::uint32_t>(indices.size()));
    }
    batch.indices = reinterpret_cast<const std::byte*>(indices.data());
    batch.row_ends = reinterpret_cast<const std::byte*>(row_ends.data());
  }
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      if (engine->observe(batch, {}).status == Status::kWindowFull) {
        state.PauseTiming();
        engine->poll(1);
        state.ResumeTiming();
      }
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(rows) * state.iterations());
}

BENCHMARK_CAPTURE(step, linear_calibrated, "linear", "calibrated")
    ->Args({12, 100})
    ->Args({100, 200});
BENCHMARK_CAPTURE(step, linear_sgd_d, "linear", "sgd-d")->Args({12, 100});
BENCHMARK_CAPTURE(step, logistic_calibrated, "logistic", "calibrated")->Args({12, 100});
BENCHMARK_CAPTURE(predict, linear, "linear", false)->ArgsProduct({{10, 100, 1000}, {1, 256}});
BENCHMARK_CAPTURE(predict, logistic, "logistic", false)->ArgsProduct({{10, 100}, {1, 256}});
BENCHMARK_CAPTURE(predict, linear_quantiles, "linear", true)->Args({10, 1})->Args({10, 256});
BENCHMARK_CAPTURE(predict, logistic_quantiles, "logistic", true)->Args({10, 1})->Args({10, 256});
BENCHMARK(posterior)->Arg(10)->Arg(100);
BENCHMARK(publish)->Arg(10)->Arg(100)->Iterations(500);
BENCHMARK(observe)->Args({10, 1, 0})->Args({10, 256, 0})->Args({460, 256, 8});

}  // namespace
}  // namespace windhover

BENCHMARK_MAIN();
