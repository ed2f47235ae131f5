#include "windhover/runtime/learning/memory_filter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

MemoryFilter::Scratch::Scratch(Arena& arena, std::uint32_t dimension) noexcept
    : factor(arena, dimension),
      precision(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      gradient(arena.allocate<double>(dimension).data()),
      step(arena.allocate<double>(dimension).data()),
      moved(arena.allocate<double>(dimension).data()) {}

MemoryFilter::MemoryFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
                           Scratch& scratch, std::uint64_t rows, bool counts_as_many,
                           std::uint64_t level_rows) noexcept
    : estimator_(estimator),
      scratch_(scratch),
      dimension_(config.model.dimension()),
      width_(matrix_width(dimension_)),
      rows_(rows),
      level_rows_(level_rows),
      counts_as_many_(counts_as_many),
      scales_(has_dispersion(find_model(config.model.name)->response)),
      normal_(is_normal(find_model(config.model.name)->response)),
      centre_(arena.allocate<double>(dimension_).data()),
      curvature_(arena.allocate<double>(width_ * width_).data()),
      covariance_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()) {}

void MemoryFilter::reset() noexcept {
  std::fill_n(centre_, dimension_, 0.0);
  std::fill_n(curvature_, width_ * width_, 0.0);
  std::fill_n(covariance_, std::size_t{dimension_} * dimension_, 0.0);
  rows_.reset();
  dispersion_.reset();
  stale_ = 0;
  ahead_ = 0;
}

void MemoryFilter::start(std::uint64_t rows) noexcept {
  const AnchorSums& sums = estimator_.done();
  std::copy_n(estimator_.laplace().mode(), dimension_, centre_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    std::copy_n(sums.curvature_below(j), dimension_ - j, curvature_ + j * (width_ + 1));
  }
  rows_.start(rows);
  // A dispersion that is given may be wrong: the first rows say what it is.
  const Dispersion& served = estimator_.dispersion();
  dispersion_.start(served.value(), served.learned() ? sums.weight() : 0.0);
  refresh();
}

double MemoryFilter::dispersion() const noexcept {
  const Dispersion& served = estimator_.dispersion();
  return scales_ ? std::max(dispersion_.value(), served.least()) : served.value();
}

double MemoryFilter::spread(const AnchorSums& rows) const noexcept {
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double* p = covariance_ + static_cast<std::size_t>(j) * dimension_ + j;
    const double* below = rows.curvature_below(j);
    sum += p[0] * below[0];
    for (std::uint32_t i = 1; i < dimension_ - j; ++i) sum += 2 * p[i] * below[i];
  }
  return sum;
}

double MemoryFilter::way(double rows) const noexcept {
  const auto level_rows = static_cast<double>(level_rows_);
  return level_rows_ > 0 ? rows * divisor() / (level_rows * level_rows) : 0.0;
}

void MemoryFilter::look_ahead(double rows) noexcept {
  const double ahead = way(rows);
  covariance_[std::size_t{dimension_} * dimension_ - 1] += ahead - ahead_;
  ahead_ = ahead;
}

double MemoryFilter::exponent() const noexcept {
  const double as_many = counts_as_many_ ? rows_.as_many() : 1.0;
  return as_many * estimator_.done().weight_ratio();
}

double MemoryFilter::loss(const RowBatch& batch, double weight, Model& model) const noexcept {
  std::array<double, kMostRows> losses;
  model.set_dispersion(dispersion());
  model.predictive_losses(batch, {centre_, covariance_, divisor()}, losses.data());
  double sum = scales_ ? 0.5 * weight * std::log(dispersion()) : 0.0;
  for (std::size_t i = 0; i < batch.count; ++i) sum += losses[i];
  return sum;
}

void MemoryFilter::residuals(const RowBatch& batch, Model& model,
                             PredictiveResidual* out) const noexcept {
  model.predictive_residuals(batch, {centre_, covariance_, divisor()}, out);
}

void MemoryFilter::learn(const RowBatch& batch, double weight, Model& model) noexcept {
  if (level_rows_ > 0) return learn_walking(batch, weight, model);
  const double keep = rows_.add(batch.count);
  for (std::size_t i = 0; i < width_ * width_; ++i) curvature_[i] *= keep;
  std::fill_n(scratch_.gradient, dimension_, 0.0);
  CurvatureSums sums{};
  sums.gradient = scratch_.gradient;
  sums.curvature = curvature_;
  model.set_dispersion(dispersion());
  model.add_curvature(batch, centre_, nullptr, 1.0, sums);
  stale_ += batch.count;
  const bool due = stale_ >= dimension_ / 2;
  // The curvature at the old centre says little of a row that comes as a surprise.
  const bool told = due && model.quadratic();
  if (told) refresh();
  const double usual = scales_ ? usual_share(batch, model) : 1.0;
  const double after = move(batch, 1 - keep, sums.loss, told, model);
  // What the rows said to the centre is not noise: for a normal y a residual before, times the one
  // after, is on average the noise variance.
  if (scales_ && sums.loss > 0) {
    const double squares = usual * sums.squares * std::sqrt(after / sums.loss);
    const double most = rows_.sum() * estimator_.done().mean_weight();
    dispersion_.learn(dispersion(), squares, weight, most);
  }
  if (due && !told) refresh();
}

double MemoryFilter::usual_share(const RowBatch& batch, Model& model) const noexcept {
  // The first rows have nothing yet to be outlying from.
  if (!normal_ || !dispersion_.told()) return 1;
  std::array<PredictiveResidual, kMostRows> rows;
  residuals(batch, model, rows.data());
  double usual = 0;
  double all = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const double most = FadingDispersion::kMost * (dispersion() + rows[i].variance);
    usual += rows[i].weight * std::min(rows[i].square(), most);
    all += rows[i].weight * rows[i].square();
  }
  return all > 0 && std::isfinite(all) ? usual / all : 1.0;
}

void MemoryFilter::learn_walking(const RowBatch& batch, double weight, Model& model) noexcept {
  constexpr double kLeast = 64;  // rows that the dispersion is known from, where there are as many
  const double keep = rows_.add(batch.count);
  MatrixMap covariance(covariance_, dimension_, dimension_);
  covariance /= keep;
  for (Index j = 0; j < Index{dimension_}; ++j) {
    // Directions in which no rows come would grow beyond the prior.
    const double most = 1 / estimator_.prior().values()[j];
    if (!(covariance(j, j) > most)) continue;
    const double shrink = std::sqrt(most / covariance(j, j));
    covariance.row(j) *= shrink;
    covariance.col(j) *= shrink;
  }
  model.set_dispersion(dispersion());
  const double usual = usual_share(batch, model);
  double squares = 0;
  for (std::size_t i = 0; i < batch.count; ++i) squares += take_up(batch.part(i, 1), model);
  const double most =
      std::min(rows_.sum(), std::max(8.0 * static_cast<double>(level_rows_), kLeast));
  const double before = divisor();
  dispersion_.learn(dispersion(), usual * squares, weight, most * estimator_.done().mean_weight());
  // P is of the rows so far, whatever their noise was taken for.
  covariance *= divisor() / before;
}

double MemoryFilter::take_up(const RowBatch& row, Model& model) noexcept {
  const Index d = dimension_;
  MatrixMap covariance(covariance_, d, d);
  covariance(d - 1, d - 1) += way(1);
  std::fill_n(scratch_.gradient, d, 0.0);
  std::fill_n(curvature_, width_ * width_, 0.0);
  CurvatureSums sums{};
  sums.gradient = scratch_.gradient;
  sums.curvature = curvature_;
  model.add_curvature(row, centre_, nullptr, 1.0, sums);
  // The level's row of h x x^T is h x.
  const double* said = curvature_ + d - 1;
  const double curvature = said[(static_cast<std::size_t>(d) - 1) * width_];
  if (!(curvature > 0)) return 0;
  VectorMap x(scratch_.moved, d);
  for (Index j = 0; j < d; ++j) x[j] = said[static_cast<std::size_t>(j) * width_] / curvature;
  VectorMap gain(scratch_.step, d);
  gain.setZero();
  kernels().symmetric_product(covariance_, dimension_, 1.0, x.data(), gain.data());
  const double information = curvature * exponent() / divisor();
  const double left = 1 / (1 + information * x.dot(gain));  // of the row's error
  if (!(left > 0 && left <= 1)) {
    // Rounding has left no covariance matrix: the filter begins anew.
    covariance.setZero();
    for (Index j = 0; j < d; ++j) covariance(j, j) = 1 / estimator_.prior().values()[j];
    return 0;
  }
  VectorMap(centre_, d) -= scratch_.gradient[d - 1] / curvature * information * left * gain;
  x = -information * left * gain;
  kernels().multiply_add(x.data(), 1, 1, gain.data(), dimension_, covariance_, dimension_,
                         dimension_, dimension_, 1);
  return sums.squares * left;
}

void MemoryFilter::refresh() noexcept {
  const Index d = dimension_;
  const double scale = exponent() / divisor();
  MatrixMap precision(scratch_.precision, d, d);
  for (Index j = 0; j < d; ++j) {
    const double* below = curvature_ + static_cast<std::size_t>(j) * (width_ + 1);
    for (Index i = j; i < d; ++i) precision(i, j) = scale * below[i - j];
    precision(j, j) += estimator_.prior().values()[j];
  }
  stale_ = 0;
  ahead_ = 0;
  // Where rows are too large to compute with P stays as it was.
  if (ok(scratch_.factor.compute(scratch_.precision))) scratch_.factor.inverse(1.0, covariance_);
}

// Makes Newton's step where P has been told of the batch. Otherwise makes P's step, of the length
// that is best for P and the batch together: for one row with a normal y that is Kalman's. Then
// comes Armijo's rule with 1/2, which a parabola meets up to its best point: a row whose like has
// not been seen would throw the centre far off.
double MemoryFilter::move(const RowBatch& batch, double fresh, double loss, bool told,
                          Model& model) noexcept {
  constexpr int kMostHalvings = 30;
  const Index d = dimension_;
  const double scale = exponent() / divisor();
  const double* prior = estimator_.prior().values();
  const auto objective = [&](const double* theta, double of_rows) {
    double norm = 0;
    for (Index j = 0; j < d; ++j) norm += prior[j] * theta[j] * theta[j];
    return scale * of_rows + 0.5 * fresh * norm;
  };
  for (Index j = 0; j < d; ++j) {
    scratch_.gradient[j] = scale * scratch_.gradient[j] + fresh * prior[j] * centre_[j];
  }
  std::fill_n(scratch_.step, d, 0.0);
  kernels().symmetric_product(covariance_, dimension_, 1.0, scratch_.gradient, scratch_.step);
  const double slope = ConstVectorMap(scratch_.step, d).dot(ConstVectorMap(scratch_.gradient, d));
  const double before = objective(centre_, loss);
  const auto loss_after = [&](double length) {
    for (Index j = 0; j < d; ++j) scratch_.moved[j] = centre_[j] - length * scratch_.step[j];
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
    std::copy_n(scratch_.moved, d, centre_);
    return there;
  }
  return loss;
}

void MemoryFilter::visit_state(StateVisitor& visitor) noexcept {
  rows_.visit_state(visitor);
  dispersion_.visit_state(visitor);
  visitor.values(stale_, ahead_);
  visitor.visit(centre_, dimension_);
  visitor.visit(curvature_, width_ * width_);
  visitor.visit(covariance_, std::size_t{dimension_} * dimension_);
}

}  // namespace windhover
