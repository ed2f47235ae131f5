// Replications of a stream through the engine, and through shortcuts that the engine does not
// offer.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "windhover/runtime/config.h"

namespace windhover::reproduce {

struct Regime {
  const char* name;
  const char* sampler;  // of Horizon::kWindow
  Horizon horizon;
  SinglePassNoise noise;
  ForgettingSpread spread;
  double draws_per_observation;
  // The draws claim to cover: where the model holds, and where it does not.
  bool covers_well;
  bool covers_misspecified;
};
std::span<const Regime> regimes();

// One stream of a linear model with 9 features of AR(1) correlation 0.5 and an intercept, noise of
// variance 1 or 0.25 + 0.75 x_2^2 (misspecified), through an engine worth 1000 rows. Shares of the
// 10 parameters within 1.645 sd of the truth by the posterior's sd, sd_robust and the draws' own;
// the draws' variance and the squared error of their mean, over sd^2, and (window) the lag: the
// variance of the chains' average about the mean of the rows in the window, over sd^2.
nlohmann::ordered_json replicate(const Regime& regime, bool misspecified, std::uint64_t seed);

struct Shortcut {
  const char* name;
  const char* fails;  // what to look for
  // In theory: share covered, and variance of the draws over what it should be where that is known.
  double covers;
  std::optional<double> spread;
  // The same of one stream.
  nlohmann::ordered_json (*run)(std::uint64_t seed);
};
// On rows N(truth, I) in 5 dimensions, where A = C = I and theta <- theta - h (theta - mean of the
// minibatch) is the whole chain; N = 1000, S = 20.
std::span<const Shortcut> shortcuts();

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_REGIMES_H_
