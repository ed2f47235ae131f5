#include "windhover/runtime/learning/memory_filter.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

MemoryFilter::MemoryFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
                           FilterScratch& scratch, std::uint64_t rows, bool counts_as_many) noexcept
    : estimator_(estimator),
      scratch_(scratch),
      dimension_(config.model.dimension()),
      width_(matrix_width(dimension_)),
      posterior_(arena, config, estimator, scratch, rows, counts_as_many),
      curvature_(arena.allocate<double>(width_ * width_).data()) {}

void MemoryFilter::reset() noexcept {
  posterior_.reset();
  std::fill_n(curvature_, width_ * width_, 0.0);
  stale_ = 0;
}

void MemoryFilter::start(std::uint64_t rows) noexcept {
  posterior_.start(rows, curvature_);
  stale_ = 0;
}

void MemoryFilter::refresh() noexcept {
  posterior_.conclude(curvature_);
  stale_ = 0;
}

void MemoryFilter::learn(const RowBatch& batch, double weight, Model& model) noexcept {
  const double keep = posterior_.rows().add(batch.count);
  for (std::size_t i = 0; i < width_ * width_; ++i) curvature_[i] *= keep;
  std::fill_n(scratch_.gradient, dimension_, 0.0);
  CurvatureSums sums{};
  sums.gradient = scratch_.gradient;
  sums.curvature = curvature_;
  model.set_dispersion(posterior_.dispersion());
  model.add_curvature(batch, posterior_.centre(), nullptr, 1.0, sums);
  stale_ += batch.count;
  const bool due = stale_ >= dimension_ / 2;
  // The curvature at the old centre says little of a row that comes as a surprise.
  const bool told = due && model.quadratic();
  if (told) refresh();
  const double usual = posterior_.scales() ? posterior_.usual_share(batch, model) : 1.0;
  const double after = move(batch, 1 - keep, sums.loss, told, model);
  // What the rows said to the centre is not noise: for a normal y a residual before, times the one
  // after, is on average the noise variance.
  if (posterior_.scales() && sums.loss > 0) {
    const double squares = usual * sums.squares * std::sqrt(after / sums.loss);
    posterior_.learn_dispersion(squares, weight, posterior_.rows().sum());
  }
  if (due && !told) refresh();
}

// Makes Newton's step where the batch is in P. Otherwise the step by P, of the length that is best
// for P and the batch together: for one row with a normal y that is Kalman's. Then the step is
// halved until it meets Armijo's rule with 1/2, which a parabola meets up to its lowest point: a
// row whose like has not been seen would throw the centre far off.
double MemoryFilter::move(const RowBatch& batch, double fresh, double loss, bool told,
                          Model& model) noexcept {
  constexpr int kMostHalvings = 30;
  const Index d = dimension_;
  const double scale = posterior_.exponent() / posterior_.divisor();
  double* centre = posterior_.centre();
  const double* prior = estimator_.prior().values();
  const auto objective = [&](const double* theta, double of_rows) {
    double norm = 0;
    for (Index j = 0; j < d; ++j) norm += prior[j] * theta[j] * theta[j];
    return scale * of_rows + 0.5 * fresh * norm;
  };
  for (Index j = 0; j < d; ++j) {
    scratch_.gradient[j] = scale * scratch_.gradient[j] + fresh * prior[j] * centre[j];
  }
  std::fill_n(scratch_.step, d, 0.0);
  kernels().symmetric_product(posterior_.covariance(), dimension_, 1.0, scratch_.gradient,
                              scratch_.step);
  const double slope = ConstVectorMap(scratch_.step, d).dot(ConstVectorMap(scratch_.gradient, d));
  const double before = objective(centre, loss);
  const auto loss_after = [&](double length) {
    for (Index j = 0; j < d; ++j) scratch_.moved[j] = centre[j] - length * scratch_.step[j];
    return model.loss_sum(batch, scratch_.moved);
  };
  double length = 1;
  if (!told && slope > 0) {
    const double whole = loss_after(1);
    const double curvature = 2 * (objective(scratch_.moved, whole) - before + slope);
    if (std::isfinite(curvature)) length = slope / (slope + std::max(curvature, 0.0));
  }
  for (int i = 0; i < kMostHalvings; ++i, length *= 0.5) {
    const double there = loss_after(length);
    // This is never true of a NaN.
    if (!(objective(scratch_.moved, there) <= before - 0.5 * length * slope)) continue;
    std::copy_n(scratch_.moved, d, centre);
    return there;
  }
  return loss;
}

void MemoryFilter::visit_state(StateVisitor& visitor) noexcept {
  posterior_.visit_state(visitor);
  visitor.values(stale_);
  visitor.visit(curvature_, width_ * width_);
}

}  // namespace windhover
