// What a logistic likelihood says of one row at its linear predictor eta.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_AT_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_AT_H_

#include <algorithm>
#include <cmath>

namespace windhover {

// 0 is that of a row that has been set aside.
inline constexpr float kLeastCurvature = 1e-30F;

// See row_at_of_weight().
inline constexpr float kMostOfCurvature = 3;

struct RowAt {
  float residual;   // d(-log p) / d eta
  float curvature;  // of the quadratic that touches -log p at eta and lies above it everywhere
};

// The curvature is that of Jaakkola and Jordan (2000): never less than -log p has, and 1 / (2
// |eta|) where that is next to nothing.
inline RowAt row_at(double eta, double target) noexcept {
  // The residual's size is the probability of the other class, without cancellation.
  const double sign = target > 0.5 ? -1 : 1;
  const double other = 1 / (1 + std::exp(-sign * eta));
  const double curvature = std::abs(eta) < 1e-3 ? 0.25 : (2 * other - 1) / (2 * sign * eta);
  return {static_cast<float>(sign * other), static_cast<float>(curvature)};
}

// Likewise, but on the side of the row's own class the curvature is that of -log p: a row that
// counts as many lies far out there, where a quadratic that has to lie above -log p everywhere
// would be a thousand times too narrow.
inline RowAt row_at_of_weight(double eta, double target) noexcept {
  RowAt at = row_at(eta, target);
  const float other = std::abs(at.residual);
  if (other < 0.5F) {
    const float most = kMostOfCurvature * other * (1 - other);
    at.curvature = std::clamp(most, kLeastCurvature, at.curvature);
  }
  return at;
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_AT_H_
