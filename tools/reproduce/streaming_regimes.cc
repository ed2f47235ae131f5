// Streams through the engine; and through the recursion that it follows for what the engine does
// not offer: other weights of rows.
#include <Eigen/Cholesky>

#include "windhover/platform/random.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/tools/error.h"
#include "windhover/tools/owned_engine.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/streaming.h"

namespace windhover::reproduce {

namespace {

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

// An engine that takes a stream, and what it serves.
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
    const auto count = static_cast<std::size_t>(draws.rows());
    if (!ok(reader_.draws(0, 0, count, entries_of(draws), provenance))) {
      throw RunError("there are no draws");
    }
    reader_.release();  // without it the next read would give the same snapshot
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

ordered_json replicate(const Regime& regime, World world, Index exposed, std::uint64_t seed) {
  const bool logistic = world == World::kLogistic || world == World::kOmitted;
  const auto looks = static_cast<Index>(looks_of(regime));
  const Stream stream = make_stream(world, (1 + looks) * kEffective, seed);
  Served served(config_of(regime, logistic ? "logistic" : "linear", seed));
  served.feed(stream, 0, kEffective);
  ordered_json result;
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

ordered_json lag_of_engine(double draws_per_observation, std::uint64_t seed) {
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
  // The noise variance is 1, so that the prior adds its precision unscaled.
  const MatrixXd precision = x.transpose() * x + config.model.prior_precision *
                                                     MatrixXd::Identity(kParameters, kParameters);
  const VectorXd own = precision.llt().solve(x.transpose() * y);
  const auto distance = [&](const VectorXd& from) {
    return (from - served.mean).array().square().matrix().cwiseQuotient(served.variance).mean();
  };
  return {{"served", distance(own)}, {"chains", distance(served.chains_average())}};
}

namespace {

constexpr Index kChains = 64;

double weight(RowWeightLaw law, double u) {
  if (law == RowWeightLaw::kExponential) return -std::log(u);
  // The cumulative distribution of Poisson(1), inverted.
  double term = std::exp(-1.0);
  double below = term;
  double count = 0;
  while (u > below && count < 20) {
    count += 1;
    term /= count;
    below += term;
  }
  return count;
}

}  // namespace

ordered_json weighted(RowWeightLaw law, World world, Index exposed, std::uint64_t seed) {
  constexpr double kGain = 2.0 * kMinibatch / (kEffective + kMinibatch);
  constexpr Index kRows = 2 * kEffective;
  const Stream stream = make_stream(world, kRows, seed);
  RowMatrix x(kRows, kParameters);
  x << stream.x, VectorXd::Ones(kRows);
  const MatrixXd a = curvature_of_row();
  const Eigen::LLT<MatrixXd> factor(a);
  // One column per chain. After 2000 rows the start has decayed to exp(-8).
  MatrixXd chains = stream.truth.replicate(1, kChains);
  std::vector<double> u(static_cast<std::size_t>(kMinibatch * kChains));
  MatrixXd residuals(kMinibatch, kChains);
  for (Index first = 0; first < kRows; first += kMinibatch) {
    const auto batch = x.middleRows(first, kMinibatch);
    residuals.noalias() = batch * chains;
    residuals.colwise() -= stream.y.segment(first, kMinibatch);
    fill_uniforms(seed, {.step = static_cast<std::uint64_t>(first), .purpose = Purpose::kSweep}, u);
    for (Index i = 0; i < residuals.size(); ++i) {
      residuals.data()[i] *= weight(law, u[static_cast<std::size_t>(i)]);
    }
    chains -= factor.solve(kGain / kMinibatch * (batch.transpose() * residuals));
  }
  const VectorXd centre = chains.rowwise().mean();
  const VectorXd variance =
      (chains.colwise() - centre).rowwise().squaredNorm() / static_cast<double>(kChains - 1);
  const VectorXd model =
      factor.solve(MatrixXd::Identity(kParameters, kParameters)).diagonal() / kEffective;
  ordered_json result = {{"spread", variance.cwiseQuotient(model).mean()}};
  judge(result, "draws", centre - stream.truth, variance, exposed);
  return result;
}

}  // namespace windhover::reproduce
