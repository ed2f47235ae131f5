// Zero-variance control variates for an average along a chain: Mira, Solgi and Imparato 2013; for
// stochastic gradients Baker, Fearnhead, Fox and Nemeth 2019, section 3.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_ZERO_VARIANCE_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_ZERO_VARIANCE_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/status.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// The expectation of phi(theta) from draws of phi + a^T gradient, where the gradient has
// expectation 0 and a = -Cov(gradient)^-1 Cov(gradient, phi). With full gradients and a Gaussian
// posterior a linear phi has no variance left. With minibatch gradients only the injected noise is
// removed, which divides the variance for SGLD by 1.1 to 1.7, and no bias.
//
// One thread. Memory 2 D^2 doubles.
class ZeroVariance {
 public:
  ZeroVariance(Arena& arena, std::uint32_t dimension) noexcept;
  void reset() noexcept;
  // Adds one draw: phi and the gradient of -log posterior there, on any fixed scale. O(D^2).
  void add(double phi, const double* gradient) noexcept;
  // Fits the control variate. Complexity O(D^3). kNotPositiveDefinite: too few draws, or gradients
  // without variance.
  Status solve() noexcept;

  double mean() const noexcept { return phi_; }             // without control variates
  double corrected() const noexcept { return corrected_; }  // after solve()
  const double* coefficients() const noexcept { return coefficients_; }

 private:
  std::uint32_t dimension_;
  double count_ = 0;
  double phi_ = 0;
  double corrected_ = 0;
  double* gradient_;      // mean
  double* cross_;         // sum of (gradient - mean)(phi - mean)
  double* second_;        // sum of (gradient - mean)(gradient - mean)^T, lower triangle
  double* coefficients_;  // a
  Factor factor_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_ZERO_VARIANCE_H_
