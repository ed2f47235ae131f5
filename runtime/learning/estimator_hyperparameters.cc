// The dispersion and the precision of the prior, where they are learned (hyper-parameters.md).
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learning/estimator.h"

namespace windhover {

using Eigen::Index;

// Of the rows in done(), per row, at dispersion 1.
double Estimator::data_curvature(std::uint32_t j) const noexcept {
  return done_.sums().curvature[j * (width_ + 1)] / std::max(done_.rows(), 1.0);
}

// P_jj = (A^-1)_jj / n. What lies in P meanwhile is overwritten when the refresh succeeds, which
// it does: A has been positive definite once.
void Estimator::compute_variances() noexcept {
  factor_.inverse_root_rows(covariance_, interlude_);
  VectorMap variances(variances_, dimension_);
  variances.setZero();
  for (Index i = 0; i < dimension_; ++i) {
    const ConstVectorMap row(covariance_ + i * dimension_, i + 1);
    variances.head(i + 1).array() += row.array().square() / n_;
    advance(interlude_, kProductsANumber * static_cast<double>(i));
  }
}

// Mode, and mean = mode - T P/2 sum l''' x (x^T P x), the first-order correction for skewness of
// exp(-U / T); 0 for a quadratic loss.
void Estimator::compute_centre(double longest, double temperature) noexcept {
  const double length = std::sqrt(std::min(1.0, longest / std::max(newton_decrement_, 1e-300)));
  const double third_scale = done_.rows() > 0 ? 1.0 / (done_.rows() * dispersion_) : 0.0;
  std::copy_n(done_.sums().third, dimension_, mean_);
  factor_.solve(mean_);
  advance(interlude_, kSweptNumber * dimension_ * dimension_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    mode_[j] = done_.anchor()[j] - length * step_[j];
    mean_[j] = mode_[j] - 0.5 * temperature * third_scale * mean_[j];
  }
}

// Dispersion and prior precision, each from the posterior that both lead to, in turn. The precision
// stays where the mode it calls for can be told from the anchor's sums: past that, coefficients of
// categories with few rows would run away with it.
Status Estimator::update_hyperparameters(double target_variance, double longest,
                                         double prior_move) noexcept {
  constexpr int kMaxIterations = 8;
  const double previous = dispersion_;
  const bool free = prior_move == PriorPrecision::kFree;
  const bool learn_prior = prior_.learned() && step_is_trusted();
  prior_.mark();
  for (int i = 0; i < kMaxIterations; ++i) {
    const double before = dispersion_;
    double change = 0;
    compute_variances();
    if (learn_prior && (i == 0 || free)) {
      compute_centre(longest, 1.0);
      change = prior_.update(mode_, mean_, variances_, prior_move);
    }
    if (learn_dispersion_) {
      update_dispersion(target_variance);
      change = std::max(change, std::abs(dispersion_ - before) / before);
    }
    const Status status = compute_curvature();
    if (!ok(status)) {
      dispersion_ = before;
      prior_.undo();
      return compute_curvature();
    }
    if (learn_prior && !step_is_trusted()) {
      prior_move = 0.5 * prior_.moved();
      prior_.undo();
      const Status undone = compute_curvature();
      if (!ok(undone)) return undone;
    } else if (change < 1e-9) {
      break;
    }
  }
  dispersion_step_ = std::abs(std::log(dispersion_ / previous));
  return Status::kOk;
}

// The fixed point of E_q[squared residual] with q the posterior under this dispersion:
// RSS(mode) / rows + Tr(A_1 P), A_1 the data curvature in units of dispersion 1. For Student's t
// the squares are weighted with the anchor's dispersion: one step of the EM algorithm a pass.
void Estimator::update_dispersion(double target_variance) noexcept {
  const Index d = dimension_;
  const double rows = done_.rows();
  if (rows == 0) return;
  // RSS at the mode from the sums at the anchor: the loss is quadratic, or the step is small.
  double rss = done_.sums().squares;
  double trace = 0;  // of A_1 A^-1 / dispersion = D - sum_j prior_j P_jj
  for (Index j = 0; j < d; ++j) {
    const Index below = d - j - 1;
    const ConstVectorMap column(done_.sums().curvature + j * static_cast<Index>(width_ + 1), d - j);
    const double product =
        column[0] * step_[j] + 2 * column.tail(below).dot(ConstVectorMap(step_ + j + 1, below));
    rss += step_[j] * product - 2 * step_[j] * done_.sums().gradient[j];
    trace += 1.0 - prior_.values()[j] * variances_[j];
    advance(interlude_, kSweptNumber * static_cast<double>(d - j));
  }
  // A weak prior of a few pseudo-rows at the targets' own variance keeps few rows from being
  // explained perfectly; it is gone at 2 D + 10 rows.
  const double pseudo_rows = std::max(0.0, 1.0 - rows / (2.0 * static_cast<double>(d) + 10.0));
  const double effective = std::clamp(trace, 0.0, std::min(static_cast<double>(d), 0.99 * rows));
  const double variance =
      (std::max(rss, 0.0) + pseudo_rows * target_variance) / (rows + pseudo_rows - effective);
  // Targets that the features explain perfectly, a stuck sensor's, would take it down to 0, a power
  // at a time.
  const double bounded = std::max(variance, least_dispersion_);
  if (bounded > 0 && std::isfinite(bounded)) dispersion_ = bounded;
}

double Estimator::dispersion_change() const noexcept {
  return std::log(dispersion_ / done_.dispersion());
}

double Estimator::dispersion_relative_sd() const noexcept {
  return learn_dispersion_ ? 1.0 / std::sqrt(dispersion_information_ * n_) : 0.0;
}

}  // namespace windhover
