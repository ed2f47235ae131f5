#include "windhover/runtime/learning/filtered_posterior.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

FilterScratch::FilterScratch(Arena& arena, std::uint32_t dimension) noexcept
    : factor(arena, dimension),
      precision(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      curvature(arena.allocate<double>(matrix_width(dimension) * matrix_width(dimension)).data()),
      gradient(arena.allocate<double>(dimension).data()),
      step(arena.allocate<double>(dimension).data()),
      moved(arena.allocate<double>(dimension).data()) {}

FilteredPosterior::FilteredPosterior(Arena& arena, const EngineConfig& config,
                                     const Estimator& estimator, FilterScratch& scratch,
                                     std::uint64_t memory, bool counts_as_many) noexcept
    : estimator_(estimator),
      scratch_(scratch),
      dimension_(config.model.dimension()),
      counts_as_many_(counts_as_many),
      scales_(has_dispersion(find_model(config.model.name)->response)),
      normal_(is_normal(find_model(config.model.name)->response)),
      rows_(memory),
      centre_(arena.allocate<double>(dimension_).data()),
      covariance_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()) {}

void FilteredPosterior::reset() noexcept {
  std::fill_n(centre_, dimension_, 0.0);
  std::fill_n(covariance_, std::size_t{dimension_} * dimension_, 0.0);
  rows_.reset();
  dispersion_.reset();
}

void FilteredPosterior::start(std::uint64_t rows, double* curvature) noexcept {
  const std::size_t width = matrix_width(dimension_);
  const AnchorSums& sums = estimator_.done();
  std::copy_n(estimator_.laplace().mode(), dimension_, centre_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    std::copy_n(sums.curvature_below(j), dimension_ - j, curvature + j * (width + 1));
  }
  rows_.start(rows);
  // A dispersion that is given may be wrong: the first rows replace it.
  const Dispersion& served = estimator_.dispersion();
  dispersion_.start(served.value(), served.learned() ? sums.weight() : 0.0);
  conclude(curvature);
}

void FilteredPosterior::conclude(const double* curvature) noexcept {
  const Index d = dimension_;
  const std::size_t width = matrix_width(dimension_);
  const double scale = exponent() / divisor();
  MatrixMap precision(scratch_.precision, d, d);
  for (Index j = 0; j < d; ++j) {
    const double* below = curvature + static_cast<std::size_t>(j) * (width + 1);
    for (Index i = j; i < d; ++i) precision(i, j) = scale * below[i - j];
    precision(j, j) += estimator_.prior().values()[j];
  }
  if (ok(scratch_.factor.compute(scratch_.precision))) scratch_.factor.inverse(1.0, covariance_);
}

double FilteredPosterior::dispersion() const noexcept {
  const Dispersion& served = estimator_.dispersion();
  return scales_ ? std::max(dispersion_.value(), served.least()) : served.value();
}

void FilteredPosterior::learn_dispersion(double squares, double weight, double most_rows) noexcept {
  dispersion_.learn(dispersion(), squares, weight, most_rows * estimator_.done().mean_weight());
}

double FilteredPosterior::exponent() const noexcept {
  const double as_many = counts_as_many_ ? rows_.as_many() : 1.0;
  return as_many * estimator_.done().weight_ratio();
}

double FilteredPosterior::spread(const AnchorSums& rows) const noexcept {
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double* p = covariance_ + static_cast<std::size_t>(j) * dimension_ + j;
    const double* below = rows.curvature_below(j);
    sum += p[0] * below[0];
    for (std::uint32_t i = 1; i < dimension_ - j; ++i) sum += 2 * p[i] * below[i];
  }
  return sum;
}

double FilteredPosterior::loss(const RowBatch& batch, double weight, Model& model) const noexcept {
  std::array<double, kMostRows> losses;
  model.set_dispersion(dispersion());
  model.predictive_losses(batch, {centre_, covariance_, divisor()}, losses.data());
  double sum = scales_ ? 0.5 * weight * std::log(dispersion()) : 0.0;
  for (std::size_t i = 0; i < batch.count; ++i) sum += losses[i];
  return sum;
}

void FilteredPosterior::residuals(const RowBatch& batch, Model& model,
                                  PredictiveResidual* out) const noexcept {
  model.predictive_residuals(batch, {centre_, covariance_, divisor()}, out);
}

double FilteredPosterior::usual_share(const RowBatch& batch, Model& model) const noexcept {
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

void FilteredPosterior::visit_state(StateVisitor& visitor) noexcept {
  rows_.visit_state(visitor);
  dispersion_.visit_state(visitor);
  visitor.visit(centre_, dimension_);
  visitor.visit(covariance_, std::size_t{dimension_} * dimension_);
}

}  // namespace windhover
