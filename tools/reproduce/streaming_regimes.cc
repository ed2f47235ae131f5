#include "windhover/tools/reproduce/streaming_regimes.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner.h"
#include "windhover/tools/error.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index kFeatures = 9;
constexpr Index kParameters = kFeatures + 1;
constexpr Index kEffective = 1000;
constexpr Index kFrame = 50;
constexpr double kNinety = 1.645;

using enum Horizon;
using enum SinglePassNoise;
using enum ForgettingSpread;
constexpr Regime kRegimes[] = {
    {"window, R = 1", "calibrated", kWindow, kWeights, kSampling, 1, true, false},
    {"window, R = 4", "calibrated", kWindow, kWeights, kSampling, 4, true, false},
    {"window, R = 16", "calibrated", kWindow, kWeights, kSampling, 16, true, false},
    {"window, R = 4, sandwich", "sandwich", kWindow, kWeights, kSampling, 4, true, true},
    {"forgetting, weights", "", kForgetting, kWeights, kSampling, 1, true, true},
    {"forgetting, injected C", "", kForgetting, kNoiseCovariance, kSampling, 1, true, true},
    {"forgetting, injected A", "", kForgetting, kCurvature, kSampling, 1, true, false},
    {"forgetting, spread of a wandering truth", "", kForgetting, kWeights, kPosterior, 1, false,
     false},
    {"all, weights", "", kAll, kWeights, kSampling, 1, true, true},
    {"all, injected C", "", kAll, kNoiseCovariance, kSampling, 1, true, true},
    {"all, injected A", "", kAll, kCurvature, kSampling, 1, true, false},
};

struct Stream {
  RowMatrix x;
  Eigen::VectorXd y;
  Eigen::VectorXd truth;
};

Stream make_stream(Index rows, bool misspecified, std::uint64_t seed) {
  Stream stream{RowMatrix(rows, kFeatures), Eigen::VectorXd(rows), Eigen::VectorXd(kParameters)};
  const auto fill = [&](std::uint64_t step, auto& out) {
    fill_normals(seed, {.step = step}, {out.data(), static_cast<std::size_t>(out.size())});
  };
  fill(1, stream.x);
  fill(2, stream.truth);
  fill(3, stream.y);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 1; j < kFeatures; ++j) {
      stream.x(i, j) = 0.5 * stream.x(i, j - 1) + std::sqrt(0.75) * stream.x(i, j);
    }
    const double x = stream.x(i, 2);
    if (misspecified) stream.y[i] *= std::sqrt(0.25 + 0.75 * x * x);
    stream.y[i] += stream.x.row(i).dot(stream.truth.head(kFeatures)) + stream.truth[kFeatures];
  }
  return stream;
}

EngineConfig config_of(const Regime& regime, std::uint64_t seed) {
  EngineConfig config;
  config.model = {.name = "linear",
                  .features = kFeatures,
                  .prior_precision = 0.01,
                  .intercept_precision = 0.01};
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
    config.sampler.minibatch_size = 20;
  }
  return config;
}

void feed(Engine& engine, const Stream& stream) {
  for (Index row = 0; row < stream.y.size(); row += kFrame) {
    ObservationBatch batch;
    batch.rows = kFrame;
    batch.features = reinterpret_cast<const std::byte*>(stream.x.row(row).data());
    batch.feature_values = static_cast<std::size_t>(kFrame * kFeatures);
    batch.targets = reinterpret_cast<const std::byte*>(stream.y.data() + row);
    while (engine.observe(batch, {}).status == Status::kWindowFull) engine.poll(1);
    while (engine.poll(256) > 0) {
    }
  }
}

// Mean over the parameters of the chains' average less the window's mean, squared, over sd^2.
double lag_of(Engine& engine, std::span<const ParameterSummary> parameters) {
  const std::span<const double> chains = engine.learner().chains();
  const Eigen::Map<const RowMatrix> theta(
      chains.data(), static_cast<Index>(chains.size()) / kParameters, kParameters);
  double lag = 0;
  for (Index j = 0; j < kParameters; ++j) {
    const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
    const double off = (theta.col(j).mean() - p.mean) / p.sd;
    lag += off * off / kParameters;
  }
  return lag;
}

}  // namespace

std::span<const Regime> regimes() { return kRegimes; }

nlohmann::ordered_json replicate(const Regime& regime, bool misspecified, std::uint64_t seed) {
  const Index rows = (regime.horizon == kWindow ? 2 : 4) * kEffective;
  const Stream stream = make_stream(rows, misspecified, seed);
  const EngineConfig config = config_of(regime, seed);
  const MappedBlock block(value_or_throw(Engine::footprint(config)));
  RealClock clock;
  Engine& engine = *value_or_throw(Engine::create(config, block.bytes(), clock));
  feed(engine, stream);

  Reader reader = value_or_throw(engine.reader());
  std::array<ParameterSummary, kParameters> parameters;
  Provenance provenance;
  static_cast<void>(reader.posterior(parameters, provenance));
  RowMatrix draws(engine.config().retained_draws, kParameters);
  const auto count = static_cast<std::size_t>(draws.rows());
  const std::span<double> room(draws.data(), static_cast<std::size_t>(draws.size()));
  if (!ok(reader.draws(0, 0, count, room, provenance))) throw RunError("there are no draws");

  double plain = 0, robust = 0, drawn = 0, spread = 0, centre = 0;
  for (Index j = 0; j < kParameters; ++j) {
    const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
    const double off = std::abs(p.mean - stream.truth[j]);
    const double variance = (draws.col(j).array() - p.mean).square().mean();
    plain += off <= kNinety * p.sd;
    robust += off <= kNinety * p.sd_robust;
    drawn += off <= kNinety * std::sqrt(variance);
    spread += variance / (p.sd * p.sd);
    centre += off * off / (p.sd * p.sd);
  }
  nlohmann::ordered_json result = {{"plain", plain / kParameters},
                                   {"robust", robust / kParameters},
                                   {"draws", drawn / kParameters},
                                   {"spread", spread / kParameters},
                                   {"centre", centre / kParameters}};
  if (regime.horizon == kWindow) result["lag"] = lag_of(engine, parameters);
  return result;
}

}  // namespace windhover::reproduce
