#include "windhover/tools/reproduce/streaming_regimes.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <vector>

#include "windhover/runtime/learning/learner.h"
#include "windhover/tools/error.h"
#include "windhover/tools/owned_engine.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using enum Horizon;
using enum SinglePassNoise;
using enum ForgettingSpread;
constexpr Regime kRegimes[] = {
    {"window, R = 1", "calibrated", kWindow, kWeights, kSampling, 1, false},
    {"window, R = 4", "calibrated", kWindow, kWeights, kSampling, 4, false},
    {"window, R = 16", "calibrated", kWindow, kWeights, kSampling, 16, false},
    {"window, sandwich, R = 4", "sandwich", kWindow, kWeights, kSampling, 4, true},
    {"forgets, weights {0, 2}", "", kFading, kWeights, kSampling, 1, true},
    {"forgets, noise of C", "", kFading, kNoiseCovariance, kSampling, 1, true},
    {"forgets, noise of A", "", kFading, kCurvature, kSampling, 1, false},
    {"all, weights {0, 2}", "", kAll, kWeights, kSampling, 1, true},
    {"all, noise of C", "", kAll, kNoiseCovariance, kSampling, 1, true},
    {"all, noise of A", "", kAll, kCurvature, kSampling, 1, false},
};

EngineConfig config_of(const Regime& regime, std::string_view model, std::uint64_t seed) {
  EngineConfig config;
  config.model = {
      .name = model, .features = kFeatures, .prior_precision = 0.01, .intercept_precision = 0.01};
  config.horizon = regime.horizon;
  config.single_pass_noise = regime.noise;
  config.forgetting_spread = regime.spread;
  config.window_size = kEffective;
  config.window_slack = 1024;
  config.max_frame_rows = 512;
  config.max_query_rows = 1;
  config.draws_per_observation = regime.draws_per_observation;
  config.seed = seed;
  if (regime.horizon == kWindow) {
    config.sampler.name = regime.sampler;
    config.sampler.chains = 4;
  } else {
    config.sampler.minibatch_size = kMinibatch;
  }
  return config;
}

// An engine that a stream is fed to, and what it serves.
class Served {
 public:
  explicit Served(const EngineConfig& config)
      : engine_(config), reader_(value_or_throw(engine_->reader())) {}

  // Rows from `first` to `last`, a frame at a time; then reads.
  void feed(const Stream& stream, Index first, Index last) {
    for (Index row = first; row < last; row += kFrame) {
      const ObservationBatch batch =
          dense_batch(stream.x.row(row).data(), stream.y.data() + row, kFrame, kFeatures);
      while (engine_->observe(batch, {}).status == Status::kWindowFull) engine_->poll(1);
      while (engine_->poll(256) > 0) {
      }
    }
    std::array<ParameterSummary, kParameters> parameters;
    Provenance provenance;
    static_cast<void>(reader_.posterior(parameters, provenance));
    for (Index j = 0; j < kParameters; ++j) {
      const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
      mean[j] = p.mean;
      variance[j] = p.sd * p.sd;
      robust[j] = p.sd_robust * p.sd_robust;
    }
    const std::span<double> room(draws.data(), static_cast<std::size_t>(draws.size()));
    if (!ok(reader_.draws(0, 0, static_cast<std::size_t>(draws.rows()), room, provenance))) {
      throw RunError("there are no draws");
    }
    reader_.release();  // or the next posterior would be of the same snapshot
  }

  VectorXd chains_average() const {
    const std::span<const double> chains = engine_->learner().view().chains;
    const Eigen::Map<const RowMatrix> theta(
        chains.data(), static_cast<Index>(chains.size()) / kParameters, kParameters);
    return theta.colwise().mean();
  }

  VectorXd mean = VectorXd(kParameters);
  VectorXd variance = VectorXd(kParameters);
  VectorXd robust = VectorXd(kParameters);
  RowMatrix draws = RowMatrix(EngineConfig{}.retained_draws, kParameters);

 private:
  OwnedEngine engine_;
  Reader reader_;
};

}  // namespace

std::span<const Regime> regimes() { return kRegimes; }

Regime wandering_regime(ForgettingSpread spread) {
  return {"forgets", "", kFading, kWeights, spread, 1, false};
}

std::size_t looks_of(const Regime& regime) { return regime.horizon == kWindow ? 4 : 1; }

nlohmann::ordered_json replicate(const Regime& regime, World world, Index exposed,
                                 std::uint64_t seed) {
  const bool logistic = world == World::kLogistic || world == World::kOmitted;
  const auto looks = static_cast<Index>(looks_of(regime));
  const Stream stream = make_stream(world, (1 + looks) * kEffective, seed);
  Served served(config_of(regime, logistic ? "logistic" : "linear", seed));
  served.feed(stream, 0, kEffective);
  nlohmann::ordered_json result;
  for (Index look = 1; look <= looks; ++look) {
    served.feed(stream, look * kEffective, (look + 1) * kEffective);
    const VectorXd off = served.mean - stream.truth;
    const VectorXd drawn =
        (served.draws.rowwise() - served.mean.transpose()).array().square().colwise().mean();
    const auto over_variance = [&](const VectorXd& squares) {
      return squares.cwiseQuotient(served.variance).mean();
    };
    const double share = 1.0 / static_cast<double>(looks);
    add_to(result, "spread", share * over_variance(drawn));
    add_to(result, "centre", share * over_variance(off.cwiseAbs2()));
    judge(result, "plain", off, served.variance, exposed, share);
    judge(result, "robust", off, served.robust, exposed, share);
    judge(result, "draws", off, drawn, exposed, share);
  }
  return result;
}

nlohmann::ordered_json lag_of_engine(double draws_per_observation, std::uint64_t seed) {
  constexpr Index kRows = 2 * kEffective;
  const Regime regime{"", "calibrated", kWindow, kWeights, kSampling, draws_per_observation, false};
  EngineConfig config = config_of(regime, "linear", seed);
  config.sampler.chains = kLagChains;
  const Stream stream = make_stream(World::kLinear, kRows, seed);
  Served served(config);
  served.feed(stream, 0, kRows);
  RowMatrix x(kEffective, kParameters);
  x << stream.x.bottomRows(kEffective), VectorXd::Ones(kEffective);
  const auto y = stream.y.tail(kEffective);
  // The prior counts as many rows as the noise variance says, which is 1.
  const MatrixXd precision = x.transpose() * x + config.model.prior_precision *
                                                     MatrixXd::Identity(kParameters, kParameters);
  const VectorXd own = precision.llt().solve(x.transpose() * y);
  const auto distance = [&](const VectorXd& from) {
    return (from - served.mean).array().square().matrix().cwiseQuotient(served.variance).mean();
  };
  return {{"served", distance(own)}, {"chains", distance(served.chains_average())}};
}

}  // namespace windhover::reproduce
