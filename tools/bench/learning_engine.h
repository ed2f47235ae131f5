#ifndef WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_
#define WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner.h"

namespace windhover {

// An engine over synthetic rows, past its cold start, that never rests; driven by the caller.
// Without a clock of the caller's, which outlives it, it goes by the real one.
class LearningEngine {
 public:
  static constexpr std::uint64_t kRows = 4898;  // as many as the Wine data

  LearningEngine(std::string_view model, std::string_view sampler, std::uint32_t dimension,
                 std::uint32_t minibatch_size, std::uint64_t rows = kRows,
                 std::uint32_t threads = 1, Clock* clock = nullptr)
      : config_(configure(model, sampler, dimension, minibatch_size, rows, threads)),
        block_(Engine::footprint(config_).value()),
        engine_(Engine::create(config_, block_.bytes(), clock != nullptr ? *clock : real_clock_)
                    .value()) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    std::vector<double> row(config_.model.features);
    for (std::uint64_t i = 0; i < rows; ++i) {
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
    engine_->poll(0);  // publishes
  }

  Engine& engine() { return *engine_; }
  std::uint64_t steps() { return engine_->counters().get(RuntimeCounter::kSteps); }
  std::uint64_t examples() { return engine_->counters().get(RuntimeCounter::kExamples); }

 private:
  static EngineConfig configure(std::string_view model, std::string_view sampler,
                                std::uint32_t dimension, std::uint32_t minibatch_size,
                                std::uint64_t rows, std::uint32_t threads) {
    EngineConfig config;
    config.model.name = model;
    config.model.features = dimension - 1;
    config.model.noise_variance = model == "linear" ? 1.0 : 0.0;
    config.sampler.name = sampler;
    config.sampler.minibatch_size = minibatch_size;
    config.sampler.chains = 16;
    config.window_size = rows;
    config.window_slack = std::max<std::uint64_t>(rows, config.window_slack);
    config.learner_threads = threads;
    config.draws_per_observation = 0;
    return config;
  }

  EngineConfig config_;
  RealClock real_clock_;
  MappedBlock block_;
  Engine* engine_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_
