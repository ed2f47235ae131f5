// Replications of a stream through the engine, and of what the engine does not offer.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "windhover/runtime/config.h"
#include "windhover/tools/reproduce/streaming_worlds.h"

namespace windhover::reproduce {

struct Regime {
  const char* name;
  const char* sampler;  // of Horizon::kWindow
  Horizon horizon;
  SinglePassNoise noise;
  ForgettingSpread spread;
  double draws_per_observation;
  // The draws claim to cover where the model does not hold, too.
  bool robust;
};
std::span<const Regime> regimes();  // for a truth that stays

// `fading` with that spread, for a truth that wanders.
Regime wandering_regime(ForgettingSpread spread);

// Posteriors of one stream that are looked at: windows without a row in common, or one where rows
// are seen once.
std::size_t looks_of(const Regime& regime);

// One stream through an engine worth kEffective rows. "plain", "robust" and "draws": intervals by
// the posterior's sd, by sd_robust and by the sd of the 64 retained draws (judge()). "spread"
// and "centre": the draws' variance about the served mean and the squared error of that, each over
// sd^2, mean over the parameters.
nlohmann::ordered_json replicate(const Regime& regime, World world, Eigen::Index exposed,
                                 std::uint64_t seed);

// kLinear through a window, by `calibrated` with kLagChains chains. "served": the squared distance
// of the served mean from the mean of the rows in the window, and "chains": that of the chains'
// average from the served mean; over sd^2, mean over the parameters.
constexpr std::uint32_t kLagChains = 32;
nlohmann::ordered_json lag_of_engine(double draws_per_observation, std::uint64_t seed);

// "chains" in theory: when the estimates follow the rows of a frame, chains are carried along as
// far as they have not gone by themselves, and so nothing is left but that K draws have an average.
constexpr double kLagWhenCarried = 1.0 / kLagChains;

// Chains of H* on a window that moves, which nothing carries along: K = 32, S = 20, A = C = I.
// "chains" as above. In theory tau (1 - exp(-1 / tau)) + 1 / K, tau = 1 / (2 R).
nlohmann::ordered_json lag_of_followers(std::size_t draws_per_observation, std::uint64_t seed);
double lag_when_following(double draws_per_observation);

// Random weights for each chain on shared fresh rows, simulated where the engine's are {0, 2}:
// recursive steps with the exact A of a linear world, a draw a chain.
enum class RowWeightLaw { kPoisson, kExponential };
nlohmann::ordered_json weighted(RowWeightLaw law, World world, Eigen::Index exposed,
                                std::uint64_t seed);

struct Shortcut {
  const char* name;
  const char* fails;  // what to look for
  // In theory: share covered, and variance of the draws over what it should be where that is known.
  double covers;
  std::optional<double> spread;
  // "covers" and "spread" of one stream.
  nlohmann::ordered_json (*run)(std::uint64_t seed);
};
// On rows N(truth, I) in 5 dimensions, where A = C = I and theta <- theta - h (theta - mean of the
// minibatch) is the whole chain; N = 1000, S = 20.
std::span<const Shortcut> shortcuts();

// Share that mean +- 1.645 sd cover, of a variance that is known and `ratio` times that of the
// mean.
double coverage_of_draws(double ratio);
// Share that mean +- 1.645 sd of 32 draws cover, whose variance is `ratio` times that of the centre
// they stand about: Student's t of 31 degrees.
double coverage_of_32_draws(double ratio);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_
