#include "windhover/runtime/learning/level_filter.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

LevelFilter::LevelFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
                         FilterScratch& scratch, std::uint64_t rows,
                         std::uint64_t level_rows) noexcept
    : estimator_(estimator),
      scratch_(scratch),
      dimension_(config.model.dimension()),
      width_(matrix_width(dimension_)),
      level_rows_(level_rows),
      posterior_(arena, config, estimator, scratch, rows, true) {}

void LevelFilter::reset() noexcept {
  posterior_.reset();
  ahead_ = 0;
}

void LevelFilter::start(std::uint64_t rows) noexcept {
  posterior_.start(rows, scratch_.curvature);
  ahead_ = 0;
}

double LevelFilter::way(double rows) const noexcept {
  const auto level_rows = static_cast<double>(level_rows_);
  return rows * posterior_.divisor() / (level_rows * level_rows);
}

void LevelFilter::look_ahead(double rows) noexcept {
  const double ahead = way(rows);
  posterior_.covariance()[std::size_t{dimension_} * dimension_ - 1] += ahead - ahead_;
  ahead_ = ahead;
}

void LevelFilter::learn(const RowBatch& batch, double weight, Model& model) noexcept {
  constexpr double kLeast = 64;  // rows that the dispersion is known from, where there are as many
  const double keep = posterior_.rows().add(batch.count);
  MatrixMap covariance(posterior_.covariance(), dimension_, dimension_);
  covariance /= keep;
  for (Index j = 0; j < Index{dimension_}; ++j) {
    // Where no rows come, fading would take variances beyond the prior's.
    const double most = 1 / estimator_.prior().values()[j];
    if (!(covariance(j, j) > most)) continue;
    const double shrink = std::sqrt(most / covariance(j, j));
    covariance.row(j) *= shrink;
    covariance.col(j) *= shrink;
  }
  model.set_dispersion(posterior_.dispersion());
  const double usual = posterior_.usual_share(batch, model);
  double squares = 0;
  for (std::size_t i = 0; i < batch.count; ++i) squares += take_up(batch.part(i, 1), model);
  const double most =
      std::min(posterior_.rows().sum(), std::max(8.0 * static_cast<double>(level_rows_), kLeast));
  const double before = posterior_.divisor();
  posterior_.learn_dispersion(usual * squares, weight, most);
  // P scales with the dispersion, which has become another one.
  covariance *= posterior_.divisor() / before;
}

double LevelFilter::take_up(const RowBatch& row, Model& model) noexcept {
  const Index d = dimension_;
  MatrixMap covariance(posterior_.covariance(), d, d);
  covariance(d - 1, d - 1) += way(1);
  std::fill_n(scratch_.gradient, d, 0.0);
  std::fill_n(scratch_.curvature, width_ * width_, 0.0);
  CurvatureSums sums{};
  sums.gradient = scratch_.gradient;
  sums.curvature = scratch_.curvature;
  model.add_curvature(row, posterior_.centre(), nullptr, 1.0, sums);
  // The row's curvature is h x x^T with x = 1 for the level, so the level's line of it is h x.
  const double* said = scratch_.curvature + d - 1;
  const double curvature = said[(static_cast<std::size_t>(d) - 1) * width_];
  if (!(curvature > 0)) return 0;
  VectorMap x(scratch_.moved, d);
  for (Index j = 0; j < d; ++j) x[j] = said[static_cast<std::size_t>(j) * width_] / curvature;
  VectorMap gain(scratch_.step, d);
  gain.setZero();
  kernels().symmetric_product(covariance.data(), dimension_, 1.0, x.data(), gain.data());
  const double information = curvature * posterior_.exponent() / posterior_.divisor();
  const double left = 1 / (1 + information * x.dot(gain));  // of the row's error
  if (!(left > 0 && left <= 1)) {
    // Rounding has left P no covariance: it begins anew as the prior's.
    covariance.setZero();
    for (Index j = 0; j < d; ++j) covariance(j, j) = 1 / estimator_.prior().values()[j];
    return 0;
  }
  VectorMap(posterior_.centre(), d) -=
      scratch_.gradient[d - 1] / curvature * information * left * gain;
  x = -information * left * gain;
  kernels().multiply_add(x.data(), 1, 1, gain.data(), dimension_, covariance.data(), dimension_,
                         dimension_, dimension_, 1);
  return sums.squares * left;
}

void LevelFilter::visit_state(StateVisitor& visitor) noexcept {
  posterior_.visit_state(visitor);
  visitor.values(ahead_);
}

}  // namespace windhover
