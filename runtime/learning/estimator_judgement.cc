// The part of the estimator that says what its numbers are worth: the sandwich, the
// misspecification index, and whether prior and data contradict each other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/prior_conflict.h"
#include "windhover/runtime/learning/estimator.h"

namespace windhover {

using Eigen::Index;

void Estimator::sandwich_sd(double* sd) const noexcept {
  const Index d = dimension_;
  if (!noise_is_full()) {
    std::fill_n(sd, d, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const ConstMatrixMap p(covariance_, d, d);
  const ConstMatrixMap c(noise_covariance_, d, d);
  VectorMap product(scratch_, d);
  for (Index j = 0; j < d; ++j) {
    product.noalias() = c * p.col(j);
    const double variance = std::max(0.0, n_ * product.dot(p.col(j)));
    sd[j] = std::sqrt(variance + prior_influence_variance(static_cast<std::uint32_t>(j)));
  }
}

DirectionVariance Estimator::variance_along(const double* direction) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap p(covariance_, d, d);
  const ConstVectorMap t(direction, d);
  VectorMap influence(scratch_, d);
  influence.setZero();
  for (Index j = 0; j < d; ++j) {
    if (t[j] != 0) influence += t[j] * p.col(j);
  }
  DirectionVariance along{influence.dot(t), std::numeric_limits<double>::quiet_NaN()};
  if (!noise_is_full()) return along;
  along.sandwich = noise_.updates() > 0 ? 0.0 : along.posterior;
  if (noise_.updates() == 0) return along;
  const ConstMatrixMap c(noise_covariance_, d, d);
  for (Index j = 0; j < d; ++j) {
    along.sandwich +=
        influence[j] * (n_ * c.col(j).dot(influence) + prior_.values()[j] * influence[j]);
  }
  return along;
}

// Once a refresh, not with every snapshot: of many parameters P and C lie in memory.
void Estimator::compute_misfit() noexcept {
  const Index d = dimension_;
  const ConstVectorMap precision(prior_.values(), d);
  double trace = 0;
  for (Index j = 0; j < d; ++j) {
    const ConstVectorMap p(covariance_ + j * d, d);
    prior_influence_[j] = (precision.array() * p.array().square()).sum();
    if (noise_is_full()) trace += p.dot(ConstVectorMap(noise_covariance_ + j * d, d));
    advance(interlude_, 2 * kSweptNumber * static_cast<double>(d));
  }
  misspecification_index_ = noise_is_full() ? n_ * trace / static_cast<double>(d)
                                            : std::numeric_limits<double>::quiet_NaN();
}

// (Lambda m)' I^-1 (Lambda m) by conjugate gradients, with P for a preconditioner: one iteration is
// enough where rows outweigh the prior in all directions alike. It only grows from one iteration
// to the next, so that an early end is a smaller number and raises no alarm.
void Estimator::compute_prior_conflict() noexcept {
  constexpr int kMostIterations = 16;
  constexpr double kSmallGain = 1e-3;
  constexpr double kSingular = 1e-10;  // curvature along a direction beside that of its parts
  prior_conflict_ = 0;
  if (damped_ || done_.rows() == 0) return;
  const Index d = dimension_;
  const auto width = static_cast<Index>(width_);
  const double information = n_ / (done_.rows() * dispersion_);
  const ConstMatrixMap sums(done_.sums().curvature, width, width);
  const ConstMatrixMap p(covariance_, d, d);
  const ConstVectorMap mode(mode_, d);
  VectorMap residual(conflict_, d);
  VectorMap whitened(conflict_ + d, d);
  VectorMap direction(conflict_ + 2 * d, d);
  VectorMap product(conflict_ + 3 * d, d);
  residual = ConstVectorMap(prior_.values(), d).cwiseProduct(mode);
  double statistic = mode.dot(residual);
  double gains = 0;
  double before = 0;
  for (int i = 0; i < std::min<int>(kMostIterations, static_cast<int>(d)); ++i) {
    whitened.setZero();
    for (Index j = 0; j < d; ++j) whitened += residual[j] * p.col(j);
    const double size = residual.dot(whitened);
    if (i == 0) {
      direction = whitened;
    } else {
      direction = whitened + size / before * direction;
    }
    before = size;
    product.setZero();
    double parts = 0;
    for (Index j = 0; j < d; ++j) {
      const Index below = d - j - 1;
      const auto column = sums.col(j).segment(j + 1, below);
      product[j] += sums(j, j) * direction[j] + column.dot(direction.tail(below));
      product.tail(below) += direction[j] * column;
      parts += sums(j, j) * direction[j] * direction[j];
    }
    advance(interlude_, 3 * kSweptNumber * static_cast<double>(d * d));
    const double along = direction.dot(product);
    if (!(along > kSingular * parts)) break;
    const double step = size / (information * along);
    gains += step * size;
    if (!(step * size > kSmallGain * gains)) break;
    residual -= step * information * product;
  }
  statistic += gains;
  if (learn_dispersion_) {
    statistic = with_learned_dispersion(statistic, n_, static_cast<double>(d));
  }
  const double conflict = statistic / prior_conflict_bound(static_cast<double>(d));
  prior_conflict_ = std::isfinite(conflict) ? conflict : 0.0;
}

}  // namespace windhover
