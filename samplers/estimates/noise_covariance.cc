#include "windhover/samplers/estimates/noise_covariance.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

double decay_weight(DecaySchedule schedule, double constant, std::uint64_t t) noexcept {
  const double time = static_cast<double>(t);
  switch (schedule) {
    case DecaySchedule::kHarmonic:
      return 1.0 / time;
    case DecaySchedule::kPolynomial:
      return constant / (time + constant - 1.0);
    case DecaySchedule::kConstant:
      return t == 1 ? 1.0 : constant;
  }
  return 1.0;
}

NoiseCovariance::NoiseCovariance(Arena& arena, const SamplerConfig& config,
                                 std::uint32_t dimension) noexcept
    : structure_(config.noise_structure),
      decay_(config.decay),
      decay_constant_(config.decay_constant),
      dimension_(dimension),
      width_(matrix_width(dimension)),
      estimate_(arena.allocate<double>(size()).data()),
      gradient_(arena.allocate<double>(dimension).data()),
      second_(arena.allocate<double>(size()).data()),
      first_gradient_(arena.allocate<double>(dimension).data()) {}

void NoiseCovariance::reset() noexcept {
  std::fill_n(estimate_, size(), 0.0);
  updates_ = 0;
  clear_sums();
}

void NoiseCovariance::clear_sums(Interlude* interlude) noexcept {
  const std::size_t column = full() ? width_ : dimension_;
  for (std::size_t first = 0; first < size(); first += column) {
    std::fill_n(second_ + first, column, 0.0);
    advance(interlude, kProductsANumber * static_cast<double>(column));
  }
  std::fill_n(gradient_, dimension_, 0.0);
  rows_ = 0;
}

// Turns the sums into a covariance: (second moments about the mean gradient) / divisor. false: not
// all are finite.
bool NoiseCovariance::centre(double divisor, Interlude* interlude) noexcept {
  const double scale = 1 / divisor;
  bool finite = true;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double mean = gradient_[j] / rows_;
    if (!full()) {
      // Rounding must not make a variance negative where the gradient does not vary.
      second_[j] = std::max(second_[j] - gradient_[j] * mean, 0.0) * scale;
      finite = finite && std::isfinite(second_[j]);
      continue;
    }
    VectorMap column(second_ + j * (width_ + 1), dimension_ - j);
    column = scale * (column - mean * ConstVectorMap(gradient_ + j, dimension_ - j));
    finite = finite && column.allFinite();
    advance(interlude, kProductsANumber * (dimension_ - j));
  }
  return finite;
}

// estimate <- (1 - weight) estimate + weight second, where `second_` is already a covariance.
void NoiseCovariance::blend(double weight, Interlude* interlude) noexcept {
  const std::size_t columns = full() ? dimension_ : 1;
  for (std::size_t j = 0; j < columns; ++j) {
    const auto below = static_cast<Eigen::Index>(dimension_ - j);
    const ConstVectorMap second(second_ + j * (width_ + 1), below);
    VectorMap estimate(estimate_ + j * (width_ + 1), below);
    estimate += weight * (second - estimate);
    advance(interlude, kProductsANumber * static_cast<double>(below));
  }
  clear_sums(interlude);
}

void NoiseCovariance::add_rows(Model& model, const RowBatch& rows, const double* theta) noexcept {
  if (full()) {
    NoiseSums sums{gradient_, second_, rows_};
    model.add_noise(rows, theta, sums);
    rows_ = sums.rows;
  } else {
    NoiseVarianceSums sums{gradient_, second_, rows_};
    model.add_noise_variances(rows, theta, sums);
    rows_ = sums.rows;
  }
}

double NoiseCovariance::end_pass(double weight_floor, Interlude* interlude) noexcept {
  if (rows_ == 0) return 0.0;
  // The rows are the whole window, so the mean gradient is that of the loss and no estimate: the
  // divisor is the number of rows. A pass that is not finite is dropped, or it would stay in every
  // average.
  if (!centre(rows_, interlude)) {
    clear_sums();
    return 0.0;
  }
  ++updates_;
  const double weight =
      std::max(decay_weight(decay_, decay_constant_, updates_), std::min(weight_floor, 1.0));
  blend(weight, interlude);
  return weight;
}

bool NoiseCovariance::finite() const noexcept {
  return ConstVectorMap(second_, static_cast<Eigen::Index>(size())).allFinite();
}

void NoiseCovariance::fade(double keep) noexcept {
  for (std::size_t i = 0; i < size(); ++i) second_[i] *= keep;
  for (std::uint32_t j = 0; j < dimension_; ++j) gradient_[j] *= keep;
  rows_ *= keep;
}

void NoiseCovariance::estimate_from_sums() noexcept {
  if (!finite()) clear_sums();
  if (rows_ == 0) return;
  ++updates_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double mean = gradient_[j] / rows_;
    if (!full()) {
      estimate_[j] = std::max(second_[j] / rows_ - mean * mean, 0.0);
      continue;
    }
    for (std::uint32_t i = j; i < dimension_; ++i) {
      const std::size_t at = j * width_ + i;
      estimate_[at] = second_[at] / rows_ - mean * gradient_[i] / rows_;
    }
  }
}

void NoiseCovariance::add_minibatch(Model& model, const RowBatch& minibatch,
                                    const double* theta) noexcept {
  if (minibatch.count < 2) return;
  add_rows(model, minibatch, theta);
  centre(rows_ - 1.0);
  ++updates_;
  blend(decay_weight(decay_, decay_constant_, updates_));
}

void NoiseCovariance::add_pair(Model& model, const RowBatch& minibatch,
                               const double* theta) noexcept {
  if (minibatch.count < 2) return;
  const double size = static_cast<double>(minibatch.count);
  model.gradient_sum(minibatch, theta, gradient_);
  model.gradient_sum(minibatch.part(0, 1), theta, first_gradient_);
  for (std::uint32_t j = 0; j < dimension_; ++j) first_gradient_[j] -= gradient_[j] / size;
  const double unbias = size / (size - 1.0);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    if (!full()) {
      second_[j] = unbias * first_gradient_[j] * first_gradient_[j];
      continue;
    }
    for (std::uint32_t i = j; i < dimension_; ++i) {
      second_[j * width_ + i] = unbias * first_gradient_[i] * first_gradient_[j];
    }
  }
  ++updates_;
  blend(decay_weight(decay_, decay_constant_, updates_));
}

}  // namespace windhover
