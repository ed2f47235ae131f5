#ifndef WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_
#define WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/runtime/learning/learner.h"
#include "windhover/tools/owned_engine.h"

namespace windhover {

struct LearningConfig {
  std::string_view model = "linear";
  std::string_view sampler = "calibrated";
  std::uint32_t dimension = 12;
  std::uint32_t minibatch_size = 100;
  std::uint64_t rows = 4898;  // of the window, all there from the start
  std::uint32_t threads = 1;
  Clock* clock = nullptr;  // outlives the engine; null: the real one
  // R. 0: the learner never rests, and sweeps ever less often over rows that stay the same.
  double draws_per_observation = 0;
};

// An engine over synthetic rows, past its cold start; driven by the caller.
class LearningEngine {
 public:
  static constexpr std::uint64_t kRows = 4898;  // as many as the Wine data

  explicit LearningEngine(const LearningConfig& config)
      : config_(configure(config)), engine_(config_, config.clock) {
    constexpr std::uint64_t kMostKept = 4096;
    const std::uint32_t features = config_.model.features;
    const bool linear = config.model == "linear";
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    std::vector<double> row(features);
    for (std::uint64_t i = 0; i < config.rows; ++i) {
      double predictor = 0;
      for (double& x : row) {
        x = normal(generator);
        predictor += 0.3 * x;
      }
      const double noise = normal(generator);
      const double target = linear ? predictor + noise : (predictor + noise > 0 ? 1 : 0);
      (void)engine_->observe(row, target);
      if (config.draws_per_observation == 0 || i >= kMostKept) continue;
      kept_.insert(kept_.end(), row.begin(), row.end());
      kept_targets_.push_back(target);
    }
    while (engine_->learner().view().phase != Learner::Phase::kSampling) engine_->poll(100);
    engine_->poll(0);  // publishes
  }

  Engine& engine() { return *engine_; }
  std::uint64_t count(RuntimeCounter counter) const { return engine_.count(counter); }
  std::uint64_t steps() const { return count(RuntimeCounter::kSteps); }
  std::uint64_t examples() const { return count(RuntimeCounter::kExamples); }
  std::size_t window_bytes() const {
    return config_.window_size * RowLayout(config_.model).stride() * sizeof(double);
  }

  // The next rows of a stream, at most 4096: those of the start again and again. Only where
  // draws_per_observation is not 0. Returns how many the window took.
  std::uint64_t stream(std::uint64_t rows) {
    const std::uint64_t kept = kept_targets_.size();
    rows = std::min(rows, kept);
    if (next_ + rows > kept) next_ = 0;
    const std::uint64_t first = std::exchange(next_, next_ + rows);
    const std::uint32_t features = config_.model.features;
    return engine_
        ->observe(dense_batch(&kept_[first * features], &kept_targets_[first], rows, features), {})
        .accepted;
  }

 private:
  static EngineConfig configure(const LearningConfig& c) {
    EngineConfig config;
    config.model.name = c.model;
    config.model.features = c.dimension - 1;
    config.model.prior_precision = 1;
    config.model.intercept_precision = 0.1;
    config.model.noise_variance = c.model == "linear" ? 1.0 : 0.0;
    config.sampler.name = c.sampler;
    config.sampler.minibatch_size = c.minibatch_size;
    config.sampler.chains = 16;
    config.window_size = c.rows;
    config.window_slack = std::max<std::uint64_t>(c.rows, config.window_slack);
    config.learner_threads = c.threads;
    config.draws_per_observation = c.draws_per_observation;
    return config;
  }

  EngineConfig config_;
  OwnedEngine engine_;
  std::vector<double> kept_;
  std::vector<double> kept_targets_;
  std::uint64_t next_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LEARNING_ENGINE_H_
