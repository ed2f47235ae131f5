// What kind of thing y is, and what follows from it alone.
#ifndef WINDHOVER_SAMPLERS_MODELS_RESPONSE_H_
#define WINDHOVER_SAMPLERS_MODELS_RESPONSE_H_

#include <cmath>
#include <cstdint>

namespace windhover {

enum class Response : std::uint8_t {
  kGaussian,     // y real, variance = dispersion
  kBernoulli,    // y is 0 or 1
  kCount,        // y is 0, 1, 2, ...; the linear predictor is the log of its mean
  kStudent,      // y real, squared scale = dispersion
  kCategorical,  // y is the number of a class, from 0
  // y is 0, 1, 2, ..., negative binomial: its mean mu is the exponential of the linear predictor,
  // its variance mu + alpha mu^2
  kOverdispersedCount,
  kLogNormal,  // y > 0, log y real, its variance = dispersion
  kBinomial,   // y is 0, 1, ..., n, with n the row's trials
  // y is 0 with a probability pi, otherwise Poisson with a mean whose log is the linear predictor
  kZeroInflatedCount,
  kHeteroscedastic,  // y real, the logarithm of its variance linear in x
};

constexpr bool is_count(Response response) {
  return response == Response::kCount || response == Response::kOverdispersedCount ||
         response == Response::kZeroInflatedCount;
}

// Whether y counts something.
constexpr bool is_whole_number(Response response) {
  return is_count(response) || response == Response::kBinomial;
}

// Whether y, or with kLogNormal its logarithm, is normal around the linear predictor.
constexpr bool is_normal(Response response) {
  return response == Response::kGaussian || response == Response::kLogNormal;
}

// Whether -log p(y) is divided by a dispersion that may be learned.
constexpr bool has_dispersion(Response response) {
  return is_normal(response) || response == Response::kStudent;
}

// Whether y, or its logarithm, is a number with a unit.
constexpr bool is_number(Response response) {
  return has_dispersion(response) || response == Response::kHeteroscedastic;
}

// Whether the linear predictor is on the scale of log y.
constexpr bool predicts_logarithm(Response response) {
  return is_count(response) || response == Response::kLogNormal;
}

// Whether this response can have this y, with `classes` classes for kCategorical. Others check that
// a number is finite and not too large, and that a binomial y is at most its row's trials.
inline bool in_domain(Response response, std::uint32_t classes, double y) {
  constexpr double kLargestCount = 0x1.0p53;  // integers are exact up to here
  switch (response) {
    case Response::kBernoulli:
      return y == 0 || y == 1;
    case Response::kCategorical:
      return y >= 0 && y < classes && y == std::floor(y);
    case Response::kCount:
    case Response::kOverdispersedCount:
    case Response::kBinomial:
    case Response::kZeroInflatedCount:
      return y >= 0 && y <= kLargestCount && y == std::floor(y);
    case Response::kLogNormal:
      return y > 0 && std::isfinite(y);
    default:
      return true;
  }
}

// y on the scale that a target's dispersion, shift and scale refer to: log y with kLogNormal.
inline double working_target(Response response, double y) {
  return response == Response::kLogNormal ? std::log(y) : y;
}

inline bool has_classes(Response response) {
  return response == Response::kBernoulli || response == Response::kCategorical;
}

// Whether the likelihood has a learned shape, a positive number that does not divide -log p: an
// overdispersion alpha, or the odds pi / (1 - pi) of a structural zero.
inline bool has_shape(Response response) {
  return response == Response::kOverdispersedCount || response == Response::kZeroInflatedCount;
}

// Whether the expected mixed second derivative by the shape and theta is not 0. It is 0 for an
// overdispersion (orthogonal: Cox and Reid 1987).
constexpr bool shape_crosses(Response response) { return response == Response::kZeroInflatedCount; }

// Whether Model::row_distances() says how far off a y is. It does not for classes, nor for
// Student's t, where it would not matter; an overdispersion or a variance that depends on x makes
// room for any y.
constexpr bool tells_distance(Response response) {
  return is_normal(response) || response == Response::kCount || response == Response::kBinomial;
}

// Whether y may be standardised.
inline bool has_target_units(Response response) {
  return is_number(response) || is_count(response);
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_RESPONSE_H_
