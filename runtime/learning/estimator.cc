#include "windhover/runtime/learning/estimator.h"

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

Estimator::Estimator(Arena& arena, const EngineConfig& config) noexcept
    : dimension_(config.model.dimension()),
      width_(matrix_width(dimension_)),
      has_dispersion_(has_dispersion(find_model(config.model.name)->response)),
      damped_(find_model(config.model.name)->network),
      quadratic_(find_model(config.model.name)->response == Response::kGaussian && !damped_),
      temperature_(config.sampler.temperature),
      pass_(arena, dimension_),
      done_(arena, dimension_),
      noise_(arena, config.sampler, dimension_),
      prior_(arena, config.model),
      mode_(arena.allocate<double>(dimension_).data()),
      mean_(arena.allocate<double>(dimension_).data()),
      step_(arena.allocate<double>(dimension_).data()),
      anchor_gradient_(arena.allocate<double>(dimension_).data()),
      curvature_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      noise_covariance_(arena.allocate<double>(noise_numbers()).data()),
      noise_reference_(arena.allocate<double>(dimension_).data()),
      covariance_(arena.allocate<double>(std::size_t{dimension_} * dimension_).data()),
      variances_(arena.allocate<double>(dimension_).data()),
      prior_influence_(arena.allocate<double>(dimension_).data()),
      conflict_(arena.allocate<double>(std::size_t{4} * dimension_).data()),
      scratch_(arena.allocate<double>(dimension_).data()),
      factor_(arena, dimension_),
      inverse_factor_(arena, dimension_),
      mean_before_(arena.allocate<double>(dimension_).data()),
      factor_before_(arena, dimension_) {}

void Estimator::reset(const EngineConfig& config) noexcept {
  const ModelConfig& model = config.model;
  prior_.reset(model);
  learn_dispersion_ = has_dispersion_ && model.noise_variance == 0;
  given_variance_ = model.noise_variance;
  // 1/2 for normal noise; less for Student's t (Lange, Little and Taylor 1989, appendix B).
  const double nu = model.degrees_of_freedom;
  const bool student = find_model(model.name)->response == Response::kStudent;
  dispersion_information_ = student ? 0.5 * nu / (nu + 3) : 0.5;
  set_target_scale(1.0);
  start_over();
}

void Estimator::set_target_scale(double scale) noexcept {
  const bool given = has_dispersion_ && !learn_dispersion_;
  initial_dispersion_ = given ? given_variance_ / (scale * scale) : 1.0;
  dispersion_ = initial_dispersion_;
  std::fill_n(mode_, dimension_, 0.0);
  std::fill_n(mean_, dimension_, 0.0);
}

void Estimator::start_over() noexcept {
  prior_.start_over();
  dispersion_ = initial_dispersion_;
  std::fill_n(mode_, dimension_, 0.0);
  std::fill_n(mean_, dimension_, 0.0);
  prior_conflict_ = 0;
  std::fill_n(noise_covariance_, noise_numbers(), 0.0);
  pass_.begin(mode_, dispersion_);
  done_.begin(mode_, dispersion_);
  noise_.reset();
  std::fill_n(noise_reference_, dimension_, 0.0);
  noise_reference_known_ = false;
}

void Estimator::set_mode(const double* mode) noexcept {
  std::copy_n(mode, dimension_, mode_);
  std::copy_n(mode, dimension_, mean_);
}

double Estimator::slope(const double* from) const noexcept {
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double anchor = done_.anchor()[j];
    const double gradient = done_.sums().gradient[j] / dispersion_ + prior_.values()[j] * anchor;
    sum += gradient * (anchor - from[j]);
  }
  return sum;
}

// A = (data curvature per row) / dispersion + Lambda / n, and the Newton step from the anchor.
Status Estimator::compute_curvature() noexcept {
  const Index d = dimension_;
  const double rows = std::max(done_.rows(), 1.0);
  const double data_scale = done_.rows() > 0 ? 1.0 / (rows * dispersion_) : 0.0;
  const double* prior_precision = prior_.values();
  MatrixMap a(curvature_, d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      a(i, j) = data_scale *
                done_.sums()
                    .curvature[static_cast<std::size_t>(j) * width_ + static_cast<std::size_t>(i)];
    }
    advance(interlude_, kProductsANumber * static_cast<double>(d - j));
    a(j, j) += prior_precision[j] / n_;
  }
  symmetrize(curvature_, d, interlude_);
  // Directions that a network's data hardly inform are not straight for as far as their posterior
  // is wide: steps and starts must be shorter there. The calibrated sampler then injects the noise
  // that belongs to the shorter steps, so its law there has tau / (1 + tau) of the posterior's
  // variance.
  if (damped_) {
    double trace = 0;
    for (Index j = 0; j < d; ++j) trace += a(j, j) - prior_precision[j] / n_;
    for (Index j = 0; j < d; ++j) a(j, j) += kDamping * trace / static_cast<double>(d);
  }
  Status status = factor_.compute(curvature_, interlude_);
  if (!ok(status)) {
    // Columns that are equal but for rounding, so large that the prior is lost beside them.
    a.diagonal() *= 1 + kRidge;
    status = factor_.compute(curvature_, interlude_);
  }
  if (!ok(status)) return status;
  newton_decrement_ = 0;
  for (Index j = 0; j < d; ++j) {
    step_[j] = data_scale * done_.sums().gradient[j] + prior_precision[j] / n_ * done_.anchor()[j];
    anchor_gradient_[j] = step_[j];
  }
  factor_.solve(step_);
  advance(interlude_, kSweptNumber * static_cast<double>(d * d));
  for (Index j = 0; j < d; ++j) newton_decrement_ += n_ * step_[j] * anchor_gradient_[j];
  return Status::kOk;
}

Status Estimator::refresh(double n, double target_variance, double longest, double prior_move,
                          Interlude* interlude) noexcept {
  interlude_ = interlude;
  factor_before_.copy_from(factor_, interlude);
  std::copy_n(mean_, dimension_, mean_before_);
  n_before_ = n_;
  n_ = std::max(n, 1.0);
  const Status status = compute(target_variance, longest, prior_move);
  refresh_failed_ = !ok(status);
  if (refresh_failed_) {
    n_ = n_before_;
    factor_.copy_from(factor_before_);
  }
  return status;
}

Status Estimator::compute(double target_variance, double longest, double prior_move) noexcept {
  Status status = compute_curvature();
  if (ok(status) && (learn_dispersion_ || prior_.learned()) && done_.rows() > 0) {
    status = update_hyperparameters(target_variance, longest, prior_move);
  }
  if (!ok(status)) return status;
  compute_centre(longest, temperature_);
  inverse_factor_.compute(factor_, 1.0 / n_, covariance_, interlude_);
  compute_noise_covariance();
  compute_misfit();
  compute_prior_conflict();
  return Status::kOk;
}

Status Estimator::refresh_running(double n, double target_variance) noexcept {
  const double n_before = n_;
  noise_.estimate_from_sums();
  noise_reference_known_ = true;
  for (std::uint32_t j = 0; j < dimension_; ++j) noise_reference_[j] = data_curvature(j);
  // What is left of a step that cannot be trusted is taken at the refreshes to come.
  const Status status = refresh(n, target_variance, trusted_step(n));
  if (!ok(status)) return status;
  done_.move_anchor(mode_, dispersion_, n_before > 0 ? n_before / n_ : 1.0);
  leverage_ = leverage();
  return Status::kOk;
}

double Estimator::trusted_step(double n) const noexcept {
  return quadratic_ ? 1e300 : kTrustedStep * std::max(n, 1.0);
}

// Tr(A^-1 data curvature), A of the last refresh: a direction in which the rows since then overstep
// A by a factor of e adds about e to it.
double Estimator::leverage() const noexcept {
  const Index d = dimension_;
  const auto width = static_cast<Index>(width_);
  const ConstMatrixMap p(covariance_, d, d);
  const ConstMatrixMap sums(done_.sums().curvature, width, width);
  double trace = 0;
  for (Index j = 0; j < d; ++j) {
    trace += p(j, j) * sums(j, j) +
             2 * p.col(j).tail(d - j - 1).dot(sums.col(j).segment(j + 1, d - j - 1));
  }
  return n_ * trace / (std::max(done_.rows(), 1.0) * dispersion_);
}

bool Estimator::outgrown() const noexcept { return leverage() > leverage_ + 0.5; }

bool Estimator::end_noise_pass(double weight_floor, Interlude* interlude) noexcept {
  const bool swept = noise_.rows_in_pass() > 0;
  const double weight = noise_.end_pass(weight_floor, interlude);
  if (weight == 0) return !swept;
  if (!noise_reference_known_) std::fill_n(noise_reference_, dimension_, 0.0);
  noise_reference_known_ = true;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    noise_reference_[j] += weight * (data_curvature(j) - noise_reference_[j]);
  }
  return true;
}

// C is an average over passes, A is that of now. Where rows of a kind have become more or fewer
// since, both grow alike, so C is scaled with A's diagonal; where there were none, A itself stands
// for it, as if the model held. A C that is too small there would make the draws too wide.
void Estimator::compute_noise_covariance() noexcept {
  const Index d = dimension_;
  double* scale = scratch_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const bool known = noise_reference_known_ && noise_reference_[j] > 0;
    const double ratio = known ? data_curvature(j) / noise_reference_[j] : 1.0;
    scale[j] = std::sqrt(std::max(ratio, 0.0)) / dispersion_;
  }
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const bool never_seen = noise_reference_known_ && !(noise_reference_[j] > 0);
    const double extra = never_seen ? std::max(data_curvature(j), 0.0) / dispersion_ : 0.0;
    if (!noise_is_full()) {
      noise_covariance_[j] = scale[j] * scale[j] * noise_.variances()[j] + extra;
      continue;
    }
    for (std::uint32_t i = j; i < dimension_; ++i) {
      noise_covariance_[j * d + i] = scale[i] * scale[j] * noise_.matrix()[j * width_ + i];
    }
    advance(interlude_, kProductsANumber * (dimension_ - j));
    noise_covariance_[j * (dimension_ + 1)] += extra;
  }
  if (noise_is_full()) symmetrize(noise_covariance_, d, interlude_);
}

Estimates Estimator::estimates(double minibatch_size, bool noise_known) const noexcept {
  Estimates e;
  e.dimension = dimension_;
  e.n = n_;
  e.minibatch_size = minibatch_size;
  e.curvature = curvature_;
  if (!noise_known) {
    e.noise_covariance = curvature_;
  } else if (noise_is_full()) {
    e.noise_covariance = noise_covariance_;
  } else {
    e.noise_variances = noise_covariance_;
  }
  e.anchor = done_.anchor();
  e.anchor_gradient = anchor_gradient_;
  return e;
}

}  // namespace windhover
