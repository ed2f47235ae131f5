// An engine and rows to feed it with: what a round, a pass and a prediction cost where the window
// moves on.
#ifndef WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_
#define WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "windhover/runtime/learning/learner.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/owned_engine.h"

namespace windhover {

// So many rows again and again. Features are standard normal, those of sparse rows ones, one in
// each of as many equal parts; targets are such as the model takes, with theta_j = 0.3 / sqrt(F).
class MicroRows {
 public:
  MicroRows(const ModelConfig& model, std::uint32_t rows)
      : features_(model.features), nonzeros_(model.max_nonzeros), rows_(rows) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    const Response response = find_model(model.name)->response;
    const double theta = 0.3 / std::sqrt(static_cast<double>(a_row()));
    for (std::uint32_t i = 0; i < rows; ++i) {
      double eta = 0;
      for (std::uint32_t k = 0; k < a_row(); ++k) {
        values_.push_back(nonzeros_ > 0 ? 1.0 : normal(generator));
        if (nonzeros_ > 0) {
          indices_.push_back(k * part() + static_cast<std::uint32_t>(generator() % part()));
        }
        eta += theta * values_.back();
      }
      targets_.push_back(target(response, eta, normal(generator), model.classes));
    }
    if (model.has_trials()) trials_.assign(rows, kTrials);
    for (std::uint32_t i = 1; i <= rows; ++i) row_ends_.push_back(i * a_row());
  }

  // Takes the next ones into the window; `count` divides the rows. The engine must have room.
  void feed(Engine& engine, std::uint32_t count) {
    if (count == 0) return;
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
    accepted_ += engine.observe(batch, {}).accepted;
    next_ = (next_ + count) % rows_;
  }

  std::uint64_t accepted() const { return accepted_; }
  std::uint32_t a_row() const { return nonzeros_ > 0 ? nonzeros_ : features_; }
  // As a request for predictions takes them.
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint32_t>& indices() const { return indices_; }
  const std::vector<std::uint32_t>& row_ends() const { return row_ends_; }

 private:
  static constexpr double kTrials = 20;

  std::uint32_t part() const { return features_ / nonzeros_; }
  template <class T>
  static const std::byte* bytes(const T* data) {
    return reinterpret_cast<const std::byte*>(data);
  }
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

  std::uint32_t features_;
  std::uint32_t nonzeros_;
  std::uint32_t rows_;
  std::vector<double> values_;
  std::vector<double> targets_;
  std::vector<double> trials_;  // of a binomial model
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint32_t> row_ends_;
  std::uint32_t next_ = 0;
  std::uint64_t accepted_ = 0;
};

// An engine past its cold start, driven by the caller, and its stream. Without a clock of the
// caller's, which outlives it, it goes by the real one. One that is not to learn has seen no row:
// its answers are the prior's.
class MicroStream {
 public:
  static constexpr std::uint32_t kWindow = 4096;

  explicit MicroStream(const EngineConfig& config, Clock* clock = nullptr, bool learns = true)
      : engine_(config, clock), rows_(config.model, 2 * kWindow) {
    constexpr std::uint32_t kAtATime = 64;
    if (!learns) return;
    while (engine_->head() < kWindow) {
      rows_.feed(*engine_, kAtATime);
      engine_->poll(1);
    }
    while (engine_->learner().view().phase != Learner::Phase::kSampling) {
      if (engine_->poll(100) == 0) rows_.feed(*engine_, kAtATime);
    }
    engine_->poll(0);  // publishes
  }

  // `fresh` rows, and one round.
  void round(std::uint32_t fresh) {
    rows_.feed(*engine_, fresh);
    engine_->poll(1);
  }

  Engine& engine() { return *engine_; }
  MicroRows& rows() { return rows_; }

  // Features and intercept make up the dimension; of networks that is one of the first layer's.
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

 private:
  OwnedEngine engine_;
  MicroRows rows_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MICRO_STREAM_H_
