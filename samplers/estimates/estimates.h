// What the samplers are told about the posterior: shared by all chains, refreshed now and then.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_ESTIMATES_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_ESTIMATES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace windhover {

class Interlude;

// All estimates are on the scale of the mean loss L = -(1/n) log posterior. D x D matrices are
// column-major with both triangles filled.
struct Estimates {
  std::uint32_t dimension = 0;
  double n = 0;               // observations the posterior stands on
  double minibatch_size = 0;  // S
  const double* curvature =
      nullptr;  // A: Hessian of L at the mode, the prior's Lambda / n included
  const double* noise_covariance = nullptr;  // C: covariance of one row's gradient, chain average
  // A point near the mode and the gradient of L there over all rows; null when there is none.
  const double* anchor = nullptr;
  const double* anchor_gradient = nullptr;
  // The diagonal of A, with that of C, where D x D numbers do not fit; A is null then. Only
  // samplers that say so take it, and they need a step_size.
  const double* curvature_diagonal = nullptr;
  // The diagonal of C with NoiseStructure::kDiagonal, and noise_covariance is null then; otherwise
  // null.
  const double* noise_variances = nullptr;
  // Moves chains during a long refresh; null: they wait. Samplers with D x D numbers to compute may
  // ignore it, and chains wait then too.
  Interlude* interlude = nullptr;

  bool diagonals_only() const noexcept { return curvature == nullptr; }
  // A_jj and C_jj, whichever way they are given.
  double curvature_of(std::size_t j) const noexcept {
    return curvature != nullptr ? curvature[j * (dimension + 1)] : curvature_diagonal[j];
  }
  double noise_variance_of(std::size_t j) const noexcept {
    return noise_covariance != nullptr ? noise_covariance[j * (dimension + 1)] : noise_variances[j];
  }

  // What a diagonal rate needs: every A_jj positive, every C_jj at least 0, all finite.
  bool diagonals_are_sound() const noexcept {
    for (std::size_t j = 0; j < dimension; ++j) {
      const double a = curvature_of(j);
      const double c = noise_variance_of(j);
      if (!(a > 0 && c >= 0 && std::isfinite(a + c))) return false;
    }
    return true;
  }
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_ESTIMATES_H_
