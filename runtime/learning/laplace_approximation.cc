#include "windhover/runtime/learning/laplace_approximation.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

namespace {

// Of a network's curvature, in units of its mean eigenvalue.
constexpr double kDamping = 0.1;
// A Newton step's squared length a row, in the noise of the linear predictors: beyond a change of
// these by about a third no parabola can be trusted.
constexpr double kTrustedStep = 0.1;
// Of every diagonal element, where A is singular to working precision.
constexpr double kRidge = 1e-10;

}  // namespace

LaplaceApproximation::LaplaceApproximation(Arena& arena, const ModelConfig& model) noexcept
    : dimension_(model.dimension()),
      damped_(find_model(model.name)->network),
      quadratic_(find_model(model.name)->response == Response::kGaussian && !damped_),
      steps_are_safe_(has_dispersion(find_model(model.name)->response) && !damped_),
      mode_(arena.allocate<double>(dimension_).data()),
      mean_(arena.allocate<double>(dimension_).data()),
      step_(arena.allocate<double>(dimension_).data()),
      anchor_gradient_(arena.allocate<double>(dimension_).data()),
      curvature_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      covariance_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      variances_(arena.allocate<double>(dimension_).data()),
      factor_(arena, dimension_),
      inverse_factor_(arena, dimension_),
      mode_before_(arena.allocate<double>(dimension_).data()),
      mean_before_(arena.allocate<double>(dimension_).data()),
      factor_before_(arena, dimension_) {}

void LaplaceApproximation::set_mode(const double* mode) noexcept {
  std::copy_n(mode, dimension_, mode_);
  std::copy_n(mode, dimension_, mean_);
}

void LaplaceApproximation::clear_mode() noexcept {
  std::fill_n(mode_, dimension_, 0.0);
  std::fill_n(mean_, dimension_, 0.0);
}

double LaplaceApproximation::trusted_step(double n) const noexcept {
  return quadratic_ ? 1e300 : kTrustedStep * std::max(n, 1.0);
}

void LaplaceApproximation::begin(double n, Interlude* interlude) noexcept {
  factor_before_.copy_from(factor_, interlude);
  std::copy_n(mode_, dimension_, mode_before_);
  std::copy_n(mean_, dimension_, mean_before_);
  n_before_ = n_;
  decrement_before_ = newton_decrement_;
  n_ = std::max(n, 1.0);
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
    a(j, j) += input.prior[j] / n_;
  }
  symmetrize(curvature_, d, input.interlude);
  // Directions that a network's data hardly inform are not straight for as far as their posterior
  // is wide: steps and starts must be shorter there. The calibrated sampler then injects the noise
  // that belongs to the shorter steps, so its law there has tau / (1 + tau) of the posterior's
  // variance.
  if (damped_) {
    double trace = 0;
    for (Index j = 0; j < d; ++j) trace += a(j, j) - input.prior[j] / n_;
    for (Index j = 0; j < d; ++j) a(j, j) += kDamping * trace / static_cast<double>(d);
  }
  Status status = factor_.compute(curvature_, input.interlude);
  if (!ok(status)) {
    // Columns that are equal but for rounding, so large that the prior is lost beside them.
    a.diagonal() *= 1 + kRidge;
    status = factor_.compute(curvature_, input.interlude);
  }
  if (!ok(status)) return status;
  newton_decrement_ = 0;
  for (Index j = 0; j < d; ++j) {
    step_[j] = data_scale * rows.sums().gradient[j] + input.prior[j] / n_ * rows.anchor()[j];
    anchor_gradient_[j] = step_[j];
  }
  factor_.solve(step_);
  advance(input.interlude, kSweptNumber * static_cast<double>(d * d));
  for (Index j = 0; j < d; ++j) newton_decrement_ += n_ * step_[j] * anchor_gradient_[j];
  return Status::kOk;
}

// P_jj = (A^-1)_jj / n.
const double* LaplaceApproximation::compute_variances(Interlude* interlude) noexcept {
  factor_.inverse_root_rows(covariance_, interlude);
  VectorMap variances(variances_, dimension_);
  variances.setZero();
  for (Index i = 0; i < dimension_; ++i) {
    const ConstVectorMap row(covariance_ + i * dimension_, i + 1);
    variances.head(i + 1).array() += row.array().square() / n_;
    advance(interlude, kProductsANumber * static_cast<double>(i));
  }
  return variances_;
}

// Mode, and mean = mode - T P/2 sum l''' x (x^T P x), the first-order correction for skewness of
// exp(-U / T); 0 for a quadratic loss.
void LaplaceApproximation::compute_centre(const Input& input, double longest,
                                          double temperature) noexcept {
  const AnchorSums& rows = input.rows;
  const double length = std::sqrt(std::min(1.0, longest / std::max(newton_decrement_, 1e-300)));
  const double third_scale = rows.rows() > 0 ? 1.0 / (rows.rows() * input.dispersion) : 0.0;
  std::copy_n(rows.sums().third, dimension_, mean_);
  factor_.solve(mean_);
  advance(input.interlude, kSweptNumber * dimension_ * dimension_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    mode_[j] = rows.anchor()[j] - length * step_[j];
    mean_[j] = mode_[j] - 0.5 * temperature * third_scale * mean_[j];
  }
}

void LaplaceApproximation::compute_covariance(Interlude* interlude) noexcept {
  inverse_factor_.compute(factor_, 1.0 / n_, covariance_, interlude);
}

// A = R R^T of its factor, columns from the last to the first: each reads those before it.
void LaplaceApproximation::restore() noexcept {
  n_ = n_before_;
  newton_decrement_ = decrement_before_;
  std::copy_n(mode_before_, dimension_, mode_);
  std::copy_n(mean_before_, dimension_, mean_);
  factor_.copy_from(factor_before_);
  compute_covariance(nullptr);
  const Index d = dimension_;
  factor_.root(1.0, curvature_);
  MatrixMap a(curvature_, d, d);
  for (Index j = d - 1; j >= 0; --j) {
    a.col(j).tail(d - j) *= a(j, j);
    for (Index k = 0; k < j; ++k) a.col(j).tail(d - j) += a(j, k) * a.col(k).tail(d - j);
  }
  symmetrize(curvature_, d);
}

void LaplaceApproximation::visit_state(StateVisitor& visitor) noexcept {
  const std::size_t square = std::size_t{dimension_} * dimension_;
  visitor.section("Laplace approximation");
  visitor.values(n_, newton_decrement_);
  for (double* of_each : {mode_, mean_, anchor_gradient_}) visitor.visit(of_each, dimension_);
  visitor.visit(curvature_, square);
  visitor.visit(covariance_, square);
  factor_.visit_state(visitor);
  inverse_factor_.visit_state(visitor);
}

}  // namespace windhover
