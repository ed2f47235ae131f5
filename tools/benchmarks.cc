// Google Benchmark of the hot functions, each with a column of heap calls that must be 0.
//
//   build/bin/windhover_benchmarks [--benchmark_filter=...] [--benchmark_format=json]
//
// step/... are whole rounds of the engine: minibatch indices, gradients of all chains, the full
// preconditioner, injected noise, the sweep for the noise covariance and the retained draws.
// gemv/... is Eigen's matrix-vector product at the shape of one minibatch, the limit that a
// gradient (one product with X and one with its transpose, rows gathered) is measured against.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner.h"
#include "windhover/tools/heap_counter.h"

namespace windhover {
namespace {

constexpr std::uint64_t kRows = 4898;  // as many as the Wine data

// Counts the heap calls of the timed part; null under sanitizers.
class HeapColumn {
 public:
  explicit HeapColumn(benchmark::State& state) : state_(state), before_(heap_calls().value_or(0)) {}
  ~HeapColumn() {
    const auto after = heap_calls();
    if (after) state_.counters["heap_calls"] = static_cast<double>(*after - before_);
  }
  HeapColumn(const HeapColumn&) = delete;
  HeapColumn& operator=(const HeapColumn&) = delete;

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

// An engine over synthetic rows, past its cold start, that never rests.
class LearningEngine {
 public:
  LearningEngine(std::string_view model, std::string_view sampler, std::uint32_t dimension,
                 std::uint32_t minibatch_size)
      : config_(configure(model, sampler, dimension, minibatch_size)),
        block_(Engine::footprint(config_).value()),
        engine_(Engine::create(config_, block_.bytes(), clock_).value()) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    std::vector<double> row(config_.model.features);
    for (std::uint64_t i = 0; i < kRows; ++i) {
      double predictor = 0;
      for (double& x : row) {
        x = normal(generator);
        predictor += 0.3 * x;
      }
      const double noise = normal(generator);
      const double target = model == "linear" ? predictor + noise : (predictor + noise > 0 ? 1 : 0);
      (void)engine_->observe(row, target);
    }
    while (engine_->learner().phase() != Learner::Phase::kSampling) engine_->poll(100);
  }

  Engine& engine() { return *engine_; }

 private:
  static EngineConfig configure(std::string_view model, std::string_view sampler,
                                std::uint32_t dimension, std::uint32_t minibatch_size) {
    EngineConfig config;
    config.model.name = model;
    config.model.features = dimension - 1;
    config.model.noise_variance = model == "linear" ? 1.0 : 0.0;
    config.sampler.name = sampler;
    config.sampler.minibatch_size = minibatch_size;
    config.sampler.chains = 16;
    config.window_size = kRows;
    config.draws_per_observation = 0;
    return config;
  }

  EngineConfig config_;
  RealClock clock_;
  MappedBlock block_;
  Engine* engine_;
};

void step(benchmark::State& state, const char* model, const char* sampler) {
  LearningEngine learning(model, sampler, static_cast<std::uint32_t>(state.range(0)),
                          static_cast<std::uint32_t>(state.range(1)));
  Counters<RuntimeCounter>& counters = learning.engine().counters();
  const std::uint64_t before = counters.get(RuntimeCounter::kExamples);
  {
    const HeapColumn heap(state);
    for (auto _ : state) learning.engine().poll(1);
  }
  const double examples = static_cast<double>(counters.get(RuntimeCounter::kExamples) - before);
  state.counters["examples/s"] = benchmark::Counter(examples, benchmark::Counter::kIsRate);
}

void gemv(benchmark::State& state) {
  const Eigen::Index d = state.range(0);
  const Eigen::Index s = state.range(1);
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(d, s);  // one row of data a column
  Eigen::VectorXd theta = Eigen::VectorXd::Random(d);
  Eigen::VectorXd predictors(s);
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      predictors.noalias() = x.transpose() * theta;
      benchmark::DoNotOptimize(predictors.data());
      benchmark::ClobberMemory();
    }
  }
  state.counters["examples/s"] =
      benchmark::Counter(static_cast<double>(s * state.iterations()), benchmark::Counter::kIsRate);
}

void predict(benchmark::State& state, const char* model) {
  LearningEngine learning(model, "calibrated", static_cast<std::uint32_t>(state.range(0)), 64);
  learning.engine().poll(0);
  Reader reader = learning.engine().reader().value();
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::vector<double> x(rows * (static_cast<std::size_t>(state.range(0)) - 1), 0.1);
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      benchmark::DoNotOptimize(reader.predict(request, summaries, provenance));
    }
  }
}

void observe(benchmark::State& state) {
  EngineConfig config;
  config.model.features = static_cast<std::uint32_t>(state.range(0));
  config.window_size = 100'000;
  MappedBlock block(Engine::footprint(config).value());
  RealClock clock;
  Engine* engine = Engine::create(config, block.bytes(), clock).value();
  const auto rows = static_cast<std::size_t>(state.range(1));
  const std::vector<float> values(rows * config.model.features, 0.5F);
  const std::vector<float> targets(rows, 1.0F);
  ObservationBatch batch;
  batch.rows = rows;
  batch.scalar = Scalar::kFloat32;
  batch.features = reinterpret_cast<const std::byte*>(values.data());
  batch.feature_values = values.size();
  batch.targets = reinterpret_cast<const std::byte*>(targets.data());
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

BENCHMARK_CAPTURE(step, linear_calibrated, "linear", "calibrated")
    ->Args({12, 100})
    ->Args({100, 200});
BENCHMARK_CAPTURE(step, linear_sgd_d, "linear", "sgd-d")->Args({12, 100});
BENCHMARK_CAPTURE(step, logistic_calibrated, "logistic", "calibrated")->Args({12, 100});
BENCHMARK(gemv)->Args({12, 100})->Args({100, 200});
BENCHMARK_CAPTURE(predict, linear, "linear")->Args({10, 1})->Args({100, 1})->Args({100, 256});
BENCHMARK_CAPTURE(predict, logistic, "logistic")->Args({10, 1})->Args({100, 1})->Args({100, 256});
BENCHMARK(observe)->Args({10, 1})->Args({10, 256});
BENCHMARK(minibatch_indices)->Arg(100);
BENCHMARK(normals)->Arg(12)->Arg(1024);

}  // namespace
}  // namespace windhover

BENCHMARK_MAIN();
