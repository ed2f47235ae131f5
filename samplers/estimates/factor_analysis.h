// Factor analysis: a covariance matrix as a diagonal plus a product of rank r,
//   matrix ~ diag(uniqueness) + loadings loadings^T,
// by maximum likelihood with the EM algorithm of Rubin and Thayer 1982, on the correlations. It
// fits the whole law, small eigenvalues included, which matter for an inverse; the leading
// eigenvectors of the same rank would leave them out.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_FACTOR_ANALYSIS_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_FACTOR_ANALYSIS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// Memory D^2 + 3 D r + 2 D, and a little of rank r. One thread.
class FactorAnalysis {
 public:
  // rank <= dimension.
  FactorAnalysis(Arena& arena, std::uint32_t dimension, std::uint32_t rank) noexcept;

  // Fits `matrix` (D x D, both triangles) and overwrites it with its correlations. The same matrix
  // always gives the same fit. kNotPositiveDefinite when a variance is not a positive number.
  // Complexity D^3 for the start, and O(D^2 r) for each of at most 500 iterations.
  Status fit(double* matrix) noexcept;

  const double* uniqueness() const noexcept { return uniqueness_; }  // D, positive
  const double* loadings() const noexcept { return loadings_; }      // D x r, column-major
  std::uint32_t rank() const noexcept { return static_cast<std::uint32_t>(rank_); }

 private:
  Status begin(double* correlations) noexcept;
  void pivoted_columns(const double* correlations) noexcept;
  Status orthogonalize() noexcept;
  // products <- matrix columns, for a symmetric matrix and r columns.
  void multiply(const double* matrix, const double* columns, double* products) const noexcept;
  Status improve(const double* correlations) noexcept;

  Eigen::Index dimension_;
  Eigen::Index rank_;
  double* deviation_;
  double* uniqueness_;
  double* loadings_;
  double* weights_;  // D x r: regression of the factors on the variables, transposed
  double* products_;
  double* inner_;    // r x r
  double* inverse_;  // r x r
  Factor factor_;    // of r x r
  Factor correlations_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_FACTOR_ANALYSIS_H_
