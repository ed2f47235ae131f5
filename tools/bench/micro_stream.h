// Rows, and engines that are fed with them: what a round, a pass and a prediction cost while the
// window moves on, and while it does not.
#ifndef WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_
#define WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/runtime/learning/learner.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/owned_engine.h"

namespace windhover {

// A number of rows, sent again and again. Features are standard normal, those of sparse rows ones,
// one in each of as many equal parts; targets suit the model, with theta_j = effect /
// sqrt(non-zeros of a row).
class MicroRows {
 public:
  MicroRows(const ModelConfig& model, std::uint32_t rows, double effect = 0.3)
      : features_(model.features),
        nonzeros_(model.max_nonzeros),
        rows_(rows),
        response_(find_model(model.name)->response),
        classes_(model.classes),
        theta_(effect / std::sqrt(static_cast<double>(a_row()))) {
    if (model.has_trials()) trials_.assign(rows, kTrials);
    for (std::uint32_t i = 1; i <= rows; ++i) row_ends_.push_back(i * a_row());
    renew();
  }

  // Draws as many other rows in place of these; feed() goes on with the first of them.
  void renew() {
    values_.clear();
    targets_.clear();
    indices_.clear();
    next_ = 0;
    for (std::uint32_t i = 0; i < rows_; ++i) {
      double eta = 0;
      for (std::uint32_t k = 0; k < a_row(); ++k) {
        values_.push_back(nonzeros_ > 0 ? 1.0 : normal_(generator_));
        if (nonzeros_ > 0) {
          indices_.push_back(k * part() + static_cast<std::uint32_t>(generator_() % part()));
        }
        eta += theta_ * values_.back();
      }
      targets_.push_back(target(response_, eta, normal_(generator_), classes_));
    }
  }

  // Feeds the engine the next rows: up to `count`, and only up to the last row; the next call
  // begins with the first again. Returns how many the engine took.
  std::uint64_t feed(Engine& engine, std::uint32_t count) {
    if (count == 0) return 0;
    count = std::min(count, rows_ - next_);
    ObservationBatch batch;
    batch.rows = count;
    batch.features = bytes(&values_[std::size_t{next_} * a_row()]);
    batch.feature_values = std::size_t{count} * a_row();
    batch.targets = bytes(&targets_[next_]);
    if (nonzeros_ > 0) {
      batch.indices = bytes(&indices_[std::size_t{next_} * a_row()]);
      batch.row_ends = bytes(row_ends_.data());
    }
    if (!trials_.empty()) batch.trials = bytes(&trials_[next_]);
    const std::uint64_t accepted = engine.observe(batch, {}).accepted;
    accepted_ += accepted;
    next_ = (next_ + static_cast<std::uint32_t>(accepted)) % rows_;
    return accepted;
  }

  std::uint64_t accepted() const { return accepted_; }
  std::uint32_t size() const { return rows_; }
  std::uint32_t a_row() const { return nonzeros_ > 0 ? nonzeros_ : features_; }
  // The rows as a request for predictions takes them.
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint32_t>& indices() const { return indices_; }
  const std::vector<std::uint32_t>& row_ends() const { return row_ends_; }

  // A target that a model of this response takes.
  static double target(Response response, double eta, double noise, std::uint32_t classes) {
    switch (response) {
      case Response::kBernoulli:
        return eta + noise > 0 ? 1 : 0;
      case Response::kBinomial:
        return std::round(kTrials / (1 + std::exp(-eta - 0.3 * noise)));
      case Response::kCount:
      case Response::kOverdispersedCount:
      case Response::kZeroInflatedCount:
        return std::floor(std::exp(eta) * std::abs(noise));
      case Response::kCategorical:
        return std::fmin(std::floor(2 * std::abs(eta + noise)), classes - 1.0);
      case Response::kLogNormal:
        return std::exp(eta + noise);
      default:
        return eta + noise;
    }
  }

 private:
  static constexpr double kTrials = 20;

  std::uint32_t part() const { return features_ / nonzeros_; }
  template <class T>
  static const std::byte* bytes(const T* data) {
    return reinterpret_cast<const std::byte*>(data);
  }

  std::uint32_t features_;
  std::uint32_t nonzeros_;
  std::uint32_t rows_;
  Response response_;
  std::uint32_t classes_;
  double theta_;
  std::mt19937_64 generator_{1};
  std::normal_distribution<double> normal_;
  std::vector<double> values_;
  std::vector<double> targets_;
  std::vector<double> trials_;  // for a binomial model
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint32_t> row_ends_;
  std::uint32_t next_ = 0;
  std::uint64_t accepted_ = 0;
};

// An engine past its cold start, driven by the caller, and its stream. `clock` outlives it; null:
// the real one. Without `learns` it has seen no row, and its answers are the prior's.
class MicroStream {
 public:
  static constexpr std::uint32_t kWindow = 4096;

  explicit MicroStream(const EngineConfig& config, Clock* clock = nullptr, bool learns = true)
      : engine_(config, clock), rows_(config.model, 2 * kWindow) {
    constexpr std::uint32_t kAtATime = 64;
    if (!learns) return;
    while (engine_->head() < kWindow) round(kAtATime);
    while (engine_->learner().view().phase != Learner::Phase::kSampling) {
      if (engine_->poll(100) == 0) rows_.feed(*engine_, kAtATime);
    }
    engine_->poll(0);  // publishes
  }

  // Feeds `fresh` rows, and makes one round.
  void round(std::uint32_t fresh) {
    rows_.feed(*engine_, fresh);
    engine_->poll(1);
  }

  Engine& engine() { return *engine_; }
  MicroRows& rows() { return rows_; }

  // `dimension` is features and intercept; of a network, the inputs of a unit of the first layer.
  static EngineConfig config(std::string_view model, std::uint32_t dimension) {
    EngineConfig config;
    config.model.name = model;
    config.model.features = dimension - 1;
    config.model.prior_precision = 1;
    config.model.intercept_precision = 0.1;
    config.model.classes = 4;
    config.model.noise_variance = model == "linear" ? 1.0 : 0.0;
    config.sampler.minibatch_size = 100;
    config.sampler.chains = 16;
    config.window_size = kWindow;
    config.draws_per_observation = 0;
    return config;
  }
  // A linear model with checkpoints, and the defaults for chains and minibatches.
  static EngineConfig kept_config(std::uint32_t dimension) {
    EngineConfig kept = config("linear", dimension);
    kept.sampler.chains = 0;
    kept.sampler.minibatch_size = 0;
    kept.checkpoints = true;
    return kept;
  }

 private:
  OwnedEngine engine_;
  MicroRows rows_;
};

struct LearningConfig {
  std::string_view model = "linear";
  std::string_view sampler = "calibrated";
  std::uint32_t dimension = 12;
  std::uint32_t minibatch_size = 100;
  std::uint64_t rows = 4898;  // in the window, all there from the start
  std::uint32_t threads = 1;
  Clock* clock = nullptr;  // outlives the engine; null: the real one
  // R. 0: the learner never rests, and sweeps more and more rarely over rows that stay the same.
  double draws_per_observation = 0;
};

// An engine over synthetic rows, past its cold start, driven by the caller.
class LearningEngine {
 public:
  static constexpr std::uint64_t kRows = 4898;  // as many as the Wine data

  explicit LearningEngine(const LearningConfig& config)
      : config_(configure(config)),
        engine_(config_, config.clock),
        rows_(config_.model, kept_of(config), 0.3 * std::sqrt(config_.model.features)) {
    for (MicroRows rows = rows_; engine_->head() < config.rows; rows.renew()) {
      const std::uint64_t missing = config.rows - engine_->head();
      rows.feed(*engine_,
                static_cast<std::uint32_t>(std::min<std::uint64_t>(missing, rows.size())));
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

  // Streams the next rows: those of the start again and again. REQUIRES: draws_per_observation is
  // not 0 where there are any. Returns how many the window took.
  std::uint64_t stream(std::uint32_t rows) { return rows_.feed(*engine_, rows); }

 private:
  // Rows that are streamed again and again: a multiple of what a round takes.
  static std::uint32_t kept_of(const LearningConfig& c) {
    const std::uint64_t most = c.draws_per_observation > 0 ? 4000 : 100;
    return static_cast<std::uint32_t>(std::min(c.rows, most));
  }
  static EngineConfig configure(const LearningConfig& c) {
    EngineConfig config = MicroStream::config(c.model, c.dimension);
    config.sampler.name = c.sampler;
    config.sampler.minibatch_size = c.minibatch_size;
    config.window_size = c.rows;
    config.window_slack = std::max<std::uint64_t>(c.rows, config.window_slack);
    config.learner_threads = c.threads;
    config.draws_per_observation = c.draws_per_observation;
    return config;
  }

  EngineConfig config_;
  OwnedEngine engine_;
  MicroRows rows_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_
