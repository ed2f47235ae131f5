#include "windhover/runtime/learning/laplace_approximation.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

namespace {

// What is added to the diagonal of a network's curvature, in mean eigenvalues of its data part.
constexpr double kDamping = 0.1;
// The longest Newton step that is trusted, squared and per row: where linear predictors change by
// more than about a third of their noise no parabola can be trusted.
constexpr double kTrustedStep = 0.1;
// The share that every diagonal element grows by, where A is singular to working precision.
constexpr double kEqualColumnsRidge = 1e-10;

}  // namespace

LossShape::LossShape(const ModelConfig& model) noexcept
    : network(find_model(model.name)->network),
      quadratic(is_normal(find_model(model.name)->response) && !network),
      steps_are_safe(has_dispersion(find_model(model.name)->response) && !network) {}

double LossShape::trusted_step(double n) const noexcept {
  return quadratic ? 1e300 : kTrustedStep * std::max(n, 1.0);
}

LaplaceApproximation::Gaussian::Gaussian(Arena& arena, std::uint32_t dimension_in) noexcept
    : dimension(dimension_in),
      mode(arena.allocate<double>(dimension).data()),
      mean(arena.allocate<double>(dimension).data()),
      factor(arena, dimension) {}

void LaplaceApproximation::Gaussian::copy_from(const Gaussian& other,
                                               Interlude* interlude) noexcept {
  factor.copy_from(other.factor, interlude);
  std::copy_n(other.mode, dimension, mode);
  std::copy_n(other.mean, dimension, mean);
  n = other.n;
  mean_weight = other.mean_weight;
  newton_decrement = other.newton_decrement;
  third_share = other.third_share;
}

LaplaceApproximation::LaplaceApproximation(Arena& arena, const ModelConfig& model) noexcept
    : dimension_(model.dimension()),
      weighted_(model.weighted()),
      loss_(model),
      now_(arena, dimension_),
      before_(arena, dimension_),
      step_(arena.allocate<double>(dimension_).data()),
      anchor_gradient_(arena.allocate<double>(dimension_).data()),
      curvature_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      covariance_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      variances_(arena.allocate<double>(dimension_).data()),
      inverse_factor_(arena, dimension_) {}

void LaplaceApproximation::set_mode(const double* mode) noexcept {
  std::copy_n(mode, dimension_, now_.mode);
  std::copy_n(mode, dimension_, now_.mean);
}

void LaplaceApproximation::clear_mode() noexcept {
  std::fill_n(now_.mode, dimension_, 0.0);
  std::fill_n(now_.mean, dimension_, 0.0);
}

double LaplaceApproximation::mean_from_mode() const noexcept {
  const ConstVectorMap mean(now_.mean, dimension_);
  const ConstVectorMap mode(now_.mode, dimension_);
  double squared = 0;
  for (Index j = 0; j < dimension_; ++j) {
    double product = 0;
    for (Index i = 0; i < dimension_; ++i) {
      product += curvature_[j * dimension_ + i] * (mean[i] - mode[i]);
    }
    squared += now_.n * (mean[j] - mode[j]) * product;
  }
  return std::sqrt(std::max(squared, 0.0));
}

void LaplaceApproximation::begin(double n, double mean_weight, Interlude* interlude) noexcept {
  before_.copy_from(now_, interlude);
  now_.n = std::max(n, 1.0);
  now_.mean_weight = mean_weight;
}

double LaplaceApproximation::way_from_before() noexcept {
  double* way = variances_;  // free between refreshes
  for (std::uint32_t j = 0; j < dimension_; ++j) way[j] = now_.mode[j] - before_.mode[j];
  before_.factor.colour(way);
  return before_.n * ConstVectorMap(way, dimension_).squaredNorm();
}

// A = (data curvature per row) / dispersion + Lambda / n.
Status LaplaceApproximation::compute_curvature(const Input& input) noexcept {
  const Index d = dimension_;
  const AnchorSums& rows = input.rows;
  const double data_scale =
      rows.rows() > 0 ? 1.0 / (std::max(rows.rows(), 1.0) * input.dispersion) : 0.0;
  MatrixMap a(curvature_, d, d);
  for (Index j = 0; j < d; ++j) {
    const double* below = rows.curvature_below(static_cast<std::uint32_t>(j));
    for (Index i = j; i < d; ++i) a(i, j) = data_scale * below[i - j];
    advance(input.interlude, kProductsANumber * static_cast<double>(d - j));
    a(j, j) += input.prior[j] / now_.n;
  }
  symmetrize(curvature_, d, input.interlude);
  // In directions that a network's data hardly inform, the loss is no parabola for as far as the
  // posterior is wide: steps and starts must be shorter there. The calibrated sampler injects the
  // noise that belongs to the shorter steps, so its law is narrower than the posterior there.
  if (loss_.network) {
    double trace = 0;
    for (Index j = 0; j < d; ++j) trace += a(j, j) - input.prior[j] / now_.n;
    for (Index j = 0; j < d; ++j) a(j, j) += kDamping * trace / static_cast<double>(d);
  }
  Status status = now_.factor.compute(curvature_, input.interlude);
  if (!ok(status)) {
    // Some columns are equal but for rounding, and so large that the prior is lost beside them.
    a.diagonal() *= 1 + kEqualColumnsRidge;
    status = now_.factor.compute(curvature_, input.interlude);
  }
  if (!ok(status)) return status;
  now_.newton_decrement = 0;
  for (Index j = 0; j < d; ++j) {
    step_[j] = data_scale * rows.sums().gradient[j] + input.prior[j] / now_.n * rows.anchor()[j];
    anchor_gradient_[j] = step_[j];
  }
  now_.factor.solve(step_);
  advance(input.interlude, kSweptNumber * static_cast<double>(d * d));
  for (Index j = 0; j < d; ++j) now_.newton_decrement += now_.n * step_[j] * anchor_gradient_[j];
  return Status::kOk;
}

// P_jj = (A^-1)_jj / n.
const double* LaplaceApproximation::compute_variances(Interlude* interlude) noexcept {
  now_.factor.inverse_root_rows(covariance_, interlude);
  VectorMap variances(variances_, dimension_);
  variances.setZero();
  for (Index i = 0; i < dimension_; ++i) {
    const ConstVectorMap row(covariance_ + i * dimension_, i + 1);
    variances.head(i + 1).array() += row.array().square() / now_.n;
    advance(interlude, kProductsANumber * static_cast<double>(i));
  }
  return variances_;
}

// Mode, and mean = mode - T P/2 sum l''' x (x^T P x), the first-order correction for skewness of
// exp(-U / T); 0 for a quadratic loss. The first rows of a category are summed with a P that knows
// nothing of it, as large as the prior's. The correction is then taken down to kTrustedExcess times
// what the present P gives at most, until the next pass sums the rows with it.
void LaplaceApproximation::compute_centre(const Input& input, double longest, double temperature,
                                          const double* variances, std::size_t stride) noexcept {
  constexpr double kTrustedExcess = 2;
  const AnchorSums& rows = input.rows;
  const double length = std::sqrt(std::min(1.0, longest / std::max(now_.newton_decrement, 1e-300)));
  now_.third_share =
      kTrustedExcess / std::max(kTrustedExcess, rows.third_excess(variances, stride));
  const double third_scale =
      rows.rows() > 0 ? now_.third_share / (rows.rows() * input.dispersion) : 0.0;
  std::copy_n(rows.sums().third, dimension_, now_.mean);
  now_.factor.solve(now_.mean);
  advance(input.interlude, kSweptNumber * dimension_ * dimension_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    now_.mode[j] = rows.anchor()[j] - length * step_[j];
    now_.mean[j] = now_.mode[j] - 0.5 * temperature * third_scale * now_.mean[j];
  }
}

void LaplaceApproximation::compute_covariance(Interlude* interlude) noexcept {
  inverse_factor_.compute(now_.factor, 1.0 / now_.n, covariance_, interlude);
}

// A = R R^T of its factor R, worked out in place from the last column to the first, as each column
// reads those before it.
void LaplaceApproximation::restore() noexcept {
  now_.copy_from(before_, nullptr);
  compute_covariance(nullptr);
  const Index d = dimension_;
  now_.factor.root(1.0, curvature_);
  MatrixMap a(curvature_, d, d);
  for (Index j = d - 1; j >= 0; --j) {
    a.col(j).tail(d - j) *= a(j, j);
    for (Index k = 0; k < j; ++k) a.col(j).tail(d - j) += a(j, k) * a.col(k).tail(d - j);
  }
  symmetrize(curvature_, d);
}

void LaplaceApproximation::visit_state(StateVisitor& visitor) noexcept {
  const std::size_t square = std::size_t{dimension_} * dimension_;
  visitor.section("Laplace approximation", 2);
  visitor.values(now_.n, now_.newton_decrement, now_.third_share);
  if (weighted_) visitor.value(now_.mean_weight);
  for (double* of_each : {now_.mode, now_.mean, anchor_gradient_}) {
    visitor.visit(of_each, dimension_);
  }
  visitor.visit(curvature_, square);
  visitor.visit(covariance_, square);
  now_.factor.visit_state(visitor);
  inverse_factor_.visit_state(visitor);
}

}  // namespace windhover
