#include "windhover/runtime/learning/running_estimates.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Status RunningEstimates::refresh(double n, double target_variance) noexcept {
  const LaplaceApproximation& laplace = estimator_.laplace();
  const double n_before = laplace.n();
  estimator_.noise().follow_sums(estimator_.done());
  // What is left of a step that cannot be trusted is taken at the refreshes to come.
  const Status status = estimator_.refresh(n, target_variance, laplace.loss().trusted_step(n));
  if (!ok(status)) return status;
  estimator_.done().move_anchor(laplace.mode(), estimator_.dispersion().value(),
                                n_before > 0 ? n_before / laplace.n() : 1.0);
  leverage_ = leverage();
  return status;
}

// Tr(A^-1 data curvature), A of the last refresh: a direction in which the rows since then overstep
// A by a factor of e adds about e to it.
double RunningEstimates::leverage() const noexcept {
  const AnchorSums& rows = estimator_.done();
  const LaplaceApproximation& laplace = estimator_.laplace();
  const Index d = rows.dimension();
  const auto width = static_cast<Index>(matrix_width(rows.dimension()));
  const ConstMatrixMap p(laplace.covariance(), d, d);
  const ConstMatrixMap sums(rows.sums().curvature, width, width);
  double trace = 0;
  for (Index j = 0; j < d; ++j) {
    trace += p(j, j) * sums(j, j) +
             2 * p.col(j).tail(d - j - 1).dot(sums.col(j).segment(j + 1, d - j - 1));
  }
  return laplace.n() * trace / (std::max(rows.rows(), 1.0) * estimator_.dispersion().divisor());
}

}  // namespace windhover
