#include "windhover/samplers/noise_covariance.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra.h"

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
    : decay_(config.decay),
      decay_constant_(config.decay_constant),
      dimension_(dimension),
      width_(matrix_width(dimension)),
      estimate_(arena.allocate<double>(width_ * width_).data()) {
  sums_.outer = arena.allocate<double>(width_ * width_).data();
  sums_.gradient = arena.allocate<double>(dimension).data();
  first_gradient_ = arena.allocate<double>(dimension).data();
}

void NoiseCovariance::reset() noexcept {
  std::fill_n(estimate_, width_ * width_, 0.0);
  updates_ = 0;
  clear_sums();
}

void NoiseCovariance::clear_sums() noexcept {
  std::fill_n(sums_.outer, width_ * width_, 0.0);
  std::fill_n(sums_.gradient, dimension_, 0.0);
  sums_.rows = 0;
}

// estimate <- (1 - weight) estimate + weight outer, where `outer` is already a covariance.
void NoiseCovariance::blend(double weight) noexcept {
  for (std::size_t i = 0; i < width_ * width_; ++i) {
    estimate_[i] += weight * (sums_.outer[i] - estimate_[i]);
  }
  clear_sums();
}

void NoiseCovariance::add_rows(Model& model, const RowBatch& rows, const double* theta) noexcept {
  model.add_noise(rows, theta, sums_);
}

void NoiseCovariance::end_pass(double weight_floor) noexcept {
  if (sums_.rows == 0) return;
  // The rows are the whole window, so the mean gradient is that of the loss, not an estimate: the
  // covariance divides by the number of rows.
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::uint32_t i = j; i < dimension_; ++i) {
      double& entry = sums_.outer[j * width_ + i];
      entry = (entry - sums_.gradient[i] * sums_.gradient[j] / sums_.rows) / sums_.rows;
    }
  }
  ++updates_;
  blend(std::max(decay_weight(decay_, decay_constant_, updates_), std::min(weight_floor, 1.0)));
}

void NoiseCovariance::add_minibatch(Model& model, const RowBatch& minibatch,
                                    const double* theta) noexcept {
  if (minibatch.count < 2) return;
  model.add_noise(minibatch, theta, sums_);
  const double size = sums_.rows;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::uint32_t i = j; i < dimension_; ++i) {
      double& entry = sums_.outer[j * width_ + i];
      entry = (entry - sums_.gradient[i] * sums_.gradient[j] / size) / (size - 1.0);
    }
  }
  ++updates_;
  blend(decay_weight(decay_, decay_constant_, updates_));
}

void NoiseCovariance::add_pair(Model& model, const RowBatch& minibatch,
                               const double* theta) noexcept {
  if (minibatch.count < 2) return;
  const double size = static_cast<double>(minibatch.count);
  model.gradient_sum(minibatch, theta, sums_.gradient);
  model.gradient_sum(minibatch.part(0, 1), theta, first_gradient_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    first_gradient_[j] -= sums_.gradient[j] / size;
  }
  const double unbias = size / (size - 1.0);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::uint32_t i = j; i < dimension_; ++i) {
      sums_.outer[j * width_ + i] = unbias * first_gradient_[i] * first_gradient_[j];
    }
  }
  ++updates_;
  blend(decay_weight(decay_, decay_constant_, updates_));
}

}  // namespace windhover
