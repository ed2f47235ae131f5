#include "windhover/runtime/learning/model_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/prior_conflict.h"

namespace windhover {

using Eigen::Index;

ModelChecks::ModelChecks(Arena& arena, const LaplaceApproximation& laplace,
                         const NoiseEstimate& noise, const PriorPrecision& prior,
                         const Dispersion& dispersion, const ModelConfig& model) noexcept
    : laplace_(laplace),
      noise_(noise),
      prior_(prior),
      dispersion_(dispersion),
      dimension_(model.dimension()),
      weighted_(model.weighted()),
      prior_influence_(arena.allocate<double>(dimension_).data()),
      scratch_(arena.allocate<double>(std::size_t{4} * dimension_).data()) {}

// The factor that makes C n times that of as many equal rows: n where C is that of equal rows
// already.
double ModelChecks::noise_rows() const noexcept {
  return noise_.is_of_equal_rows() ? laplace_.n() : noise_scale_ * laplace_.n();
}

void ModelChecks::sandwich_sd(double* sd) const noexcept {
  const Index d = dimension_;
  if (!noise_.is_full()) {
    std::fill_n(sd, d, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const ConstMatrixMap p(laplace_.covariance(), d, d);
  const ConstMatrixMap c(noise_.values().data(), d, d);
  VectorMap product(scratch_, d);
  const double n = noise_rows();
  for (Index j = 0; j < d; ++j) {
    product.noalias() = c * p.col(j);
    const double variance = std::max(0.0, n * product.dot(p.col(j)));
    sd[j] = std::sqrt(variance + prior_influence_variance(static_cast<std::uint32_t>(j)));
  }
}

DirectionVariance ModelChecks::variance_along(const double* direction) const noexcept {
  const Index d = dimension_;
  const ConstMatrixMap p(laplace_.covariance(), d, d);
  const ConstVectorMap t(direction, d);
  VectorMap influence(scratch_, d);
  influence.setZero();
  for (Index j = 0; j < d; ++j) {
    if (t[j] != 0) influence += t[j] * p.col(j);
  }
  DirectionVariance along{influence.dot(t), std::numeric_limits<double>::quiet_NaN()};
  if (!noise_.is_full()) return along;
  along.sandwich = noise_.measured().updates() > 0 ? 0.0 : along.posterior;
  if (noise_.measured().updates() == 0) return along;
  const ConstMatrixMap c(noise_.values().data(), d, d);
  const double n = noise_rows();
  for (Index j = 0; j < d; ++j) {
    along.sandwich +=
        influence[j] * (n * c.col(j).dot(influence) + prior_.values()[j] * influence[j]);
  }
  return along;
}

bool ModelChecks::curvature_is_known(const AnchorSums& rows, Curvature curvature,
                                     double least) const noexcept {
  constexpr double kLaw = 0.3;
  if (curvature != Curvature::kFisher) return true;
  if (const double* cross = rows.sums().shape_cross; cross != nullptr) {
    const double scaled_sd =
        rows.scale_to(laplace_.n()) * dispersion_.relative_sd(laplace_.weight());
    const double taken = variance_along(cross).posterior;
    if (!(taken * scaled_sd * scaled_sd < kLaw)) return false;
  }
  return !rows.weighted() || effective_rows() >= least;
}

void ModelChecks::refresh(const AnchorSums& rows, Interlude* interlude) noexcept {
  noise_scale_ = rows.weight_ratio();
  compute_misfit(interlude);
  compute_prior_conflict(rows, interlude);
}

void ModelChecks::compute_misfit(Interlude* interlude) noexcept {
  const Index d = dimension_;
  const ConstVectorMap precision(prior_.values(), d);
  double trace = 0;
  for (Index j = 0; j < d; ++j) {
    const ConstVectorMap p(laplace_.covariance() + j * d, d);
    prior_influence_[j] = (precision.array() * p.array().square()).sum();
    if (noise_.is_full()) trace += p.dot(ConstVectorMap(noise_.values().data() + j * d, d));
    advance(interlude, 2 * kSweptNumber * static_cast<double>(d));
  }
  misspecification_index_ = noise_.is_full() ? noise_rows() * trace / static_cast<double>(d)
                                             : std::numeric_limits<double>::quiet_NaN();
}

// The statistic is m' Lambda m + (Lambda m)' I^-1 (Lambda m), I the rows' information. The second
// term is found by conjugate gradients with P for a preconditioner: one iteration is enough where
// rows outweigh the prior in all directions alike. It only grows from one iteration to the next, so
// an early end makes the number smaller and raises no alarm.
void ModelChecks::compute_prior_conflict(const AnchorSums& rows, Interlude* interlude) noexcept {
  constexpr int kMostIterations = 16;
  constexpr double kSmallGain = 1e-3;
  constexpr double kSingular = 1e-10;  // curvature along a direction beside that of its parts
  prior_conflict_ = 0;
  if (!laplace_.loss().is_summary() || rows.rows() == 0) return;
  const Index d = dimension_;
  const auto width = static_cast<Index>(matrix_width(dimension_));
  const double information = laplace_.n() / (rows.rows() * dispersion_.divisor());
  const ConstMatrixMap sums(rows.sums().curvature, width, width);
  const ConstMatrixMap p(laplace_.covariance(), d, d);
  const ConstVectorMap mode(laplace_.mode(), d);
  VectorMap residual(scratch_, d);
  VectorMap whitened(scratch_ + d, d);
  VectorMap direction(scratch_ + 2 * d, d);
  VectorMap product(scratch_ + 3 * d, d);
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
    advance(interlude, 3 * kSweptNumber * static_cast<double>(d * d));
    const double along = direction.dot(product);
    if (!(along > kSingular * parts)) break;
    const double step = size / (information * along);
    gains += step * size;
    if (!(step * size > kSmallGain * gains)) break;
    residual -= step * information * product;
  }
  statistic += gains;
  if (dispersion_.learned() && !dispersion_.is_shape()) {
    statistic = with_learned_dispersion(statistic, laplace_.weight(), static_cast<double>(d));
  }
  const double conflict = statistic / prior_conflict_bound(static_cast<double>(d));
  prior_conflict_ = std::isfinite(conflict) ? conflict : 0.0;
}

}  // namespace windhover
