// What a user may say about chains that see every row once (single_pass.h).
#ifndef WINDHOVER_SAMPLERS_SINGLE_PASS_OPTIONS_H_
#define WINDHOVER_SAMPLERS_SINGLE_PASS_OPTIONS_H_

#include <cstdint>

namespace windhover {

// Where the chains' noise of their own comes from.
enum class SinglePassNoise : std::uint8_t {
  kWeights,          // random weights of the rows: the sampling covariance, no matrix needed
  kNoiseCovariance,  // injected, of covariance C: the same spread
  kCurvature,        // injected, of covariance A (its data part): the posterior's spread
};

// How wide the posterior is where older rows fade.
enum class ForgettingSpread : std::uint8_t {
  kSampling,   // as the estimate varies in a stream that does not change: N rows' worth
  kPosterior,  // of exponentially discounted rows, twice the variance: right for a truth that moves
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_SINGLE_PASS_OPTIONS_H_
