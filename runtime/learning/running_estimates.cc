#include "windhover/runtime/learning/running_estimates.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

Status RunningEstimates::refresh(double n, double target_variance) noexcept {
  const LaplaceApproximation& laplace = estimator_.laplace();
  const double n_before = laplace.n();
  estimator_.noise().follow_sums(estimator_.done());
  // What is left of a step that cannot be trusted is taken at the refreshes to come.
  const double longest = laplace.loss().trusted_step(n * estimator_.done().mean_weight());
  const Status status = estimator_.refresh(n, target_variance, longest);
  if (ok(status)) follow(n_before);
  return status;
}

Status RunningEstimates::refresh_at_mode(Model& model, const RowBatch& rows, double n,
                                         double target_variance) noexcept {
  const double n_before = estimator_.laplace().n();
  estimator_.noise().follow_sums(estimator_.sums().pass());  // C of the rows before
  const Status status = estimator_.refresh_at_mode(model, rows, n, target_variance);
  if (ok(status)) follow(n_before);
  return status;
}

void RunningEstimates::follow(double n_before) noexcept {
  const LaplaceApproximation& laplace = estimator_.laplace();
  estimator_.sums().done().move_anchor(laplace.mode(), estimator_.dispersion().value(),
                                       n_before > 0 ? n_before / laplace.n() : 1.0);
  leverage_ = leverage();
}

double RunningEstimates::usual_way(double rows) const noexcept {
  const AnchorSums& sums = estimator_.done();
  return static_cast<double>(sums.dimension()) * rows /
         (std::max(estimator_.laplace().n(), 1.0) * sums.weight_ratio());
}

// g^T P g, g the rows' gradient, is the squared distance by which they alone would move the mode,
// in posterior sd. For rows of the model it is usual_way() on average, far below the bound.
bool RunningEstimates::strained(double rows) const noexcept {
  constexpr double kTimes = 8;
  const AnchorSums& with = estimator_.done();
  const AnchorSums& without = estimator_.sums().pass();
  const LaplaceApproximation& laplace = estimator_.laplace();
  const Index d = with.dimension();
  const ConstMatrixMap p(laplace.covariance(), d, d);
  double pull = 0;
  for (Index j = 0; j < d; ++j) {
    const double pulled = with.sums().gradient[j] - without.sums().gradient[j];
    if (pulled == 0) continue;
    double along = 0;
    for (Index i = 0; i < d; ++i) {
      along += p(i, j) * (with.sums().gradient[i] - without.sums().gradient[i]);
    }
    pull += pulled * along;
  }
  const double divisor = estimator_.dispersion().divisor();
  const double usual = usual_way(rows);
  return !(pull <= (1 + kTimes * usual) * divisor * divisor) || outgrown();
}

// Tr(A^-1 data curvature), A of the last refresh: a direction in which the curvature has grown by a
// factor 1 + e since then adds about e to it.
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

// What a parabola leaves out of a row's gradient is half the third derivative times the squared way
// of its linear predictor. The mean lies as far from the mode as the same with x^T P x for that
// square, of which the sum with the rows' curvatures is D; so the way is taken to be in proportion.
// Where third derivatives are as often above 0 as below, as of Student's t, the mean tells nothing,
// and rows of a skewness of 1 are taken for what they add up to.
double RunningEstimates::linearization_error() const noexcept {
  const LaplaceApproximation& laplace = estimator_.laplace();
  if (laplace.loss().quadratic) return 0;
  const AnchorSums& rows = estimator_.done();
  const auto d = static_cast<double>(rows.dimension());
  const double ways = std::max(rows.gone(), 0.0) / (estimator_.dispersion().divisor() * d);
  const double least = 0.5 * d / std::sqrt(std::max(laplace.weight(), 1.0));
  // The mean is T times as far from the mode at a temperature T; what a parabola leaves out is not.
  const double mean = laplace.mean_from_mode() / estimator_.temperature();
  return ways * std::max(mean, least) / std::sqrt(d);
}

}  // namespace windhover
