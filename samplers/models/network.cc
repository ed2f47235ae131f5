#include "windhover/samplers/models/network.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels.h"
#include "windhover/samplers/linear_algebra.h"
#include "windhover/samplers/models/generalized_linear.h"

namespace windhover {

NetworkModel::NetworkModel(Arena& arena, const ModelConfig& config, std::string_view name,
                           Response response) noexcept
    : name_(name),
      response_(response),
      layout_(config),
      shape_(config, response),
      dimension_(shape_.dimension()),
      width_(matrix_width(dimension_)),
      batch_(arena, shape_),
      curvature_(arena, shape_) {
  transform_.shift = arena.allocate<double>(config.features);
  transform_.inverse_scale = arena.allocate<double>(config.features);
  x_ = arena.allocate<double>(config.features).data();
  values_ = arena.allocate<double>(shape_.values()).data();
  errors_ = arena.allocate<double>(shape_.values()).data();
  head_ = arena.allocate<double>(shape_.outputs()).data();
  predictors_ = arena.allocate<double>(shape_.outputs()).data();
  probability_ = arena.allocate<double>(shape_.outputs()).data();
  rows_ = arena.allocate<double>(kRows * width_).data();
  scaled_ = arena.allocate<double>(kRows * width_).data();
  weights_ = arena.allocate<double>(kRows).data();
}

void NetworkModel::reset() noexcept {
  std::ranges::fill(transform_.shift, 0.0);
  std::ranges::fill(transform_.inverse_scale, 1.0);
  // The padding; bundles write the rest.
  for (std::size_t i = 0; i < kRows; ++i) {
    std::fill_n(rows_ + i * width_ + dimension_, width_ - dimension_, 0.0);
  }
}

Status NetworkModel::check_target(double y) const noexcept {
  if (response_ == Response::kGaussian) return Status::kOk;
  return y >= 0 && y <= static_cast<double>(shape_.outputs()) && y == std::floor(y)
             ? Status::kOk
             : Status::kTargetOutOfDomain;
}

void NetworkModel::visit(const RowBatch& batch, std::size_t i, const double* theta) noexcept {
  const double* row = batch.base + batch.slots[i] * layout_.stride();
  expand_features(layout_, transform_, row, x_);
  set_head(row[layout_.target_index()], shape_.forward(theta, x_, values_));
}

void NetworkModel::set_head(double y, const double* eta) noexcept {
  if (response_ == Response::kGaussian) {
    head_[0] = eta[0] - y;
    square_ = head_[0] * head_[0];
    loss_ = 0.5 * square_;
    return;
  }
  double largest = 0;
  for (std::size_t c = 0; c < shape_.outputs(); ++c) largest = std::max(largest, eta[c]);
  double total = std::exp(-largest);
  for (std::size_t c = 0; c < shape_.outputs(); ++c) {
    probability_[c] = std::exp(eta[c] - largest);
    total += probability_[c];
  }
  for (std::size_t c = 0; c < shape_.outputs(); ++c) head_[c] = probability_[c] /= total;
  loss_ = largest + std::log(total);
  if (y > 0) {
    const auto chosen = static_cast<std::size_t>(y) - 1;
    head_[chosen] -= 1;
    loss_ -= eta[chosen];
  }
}

void NetworkModel::add_outer(const double* theta, const double* head, double weight,
                             double* matrix) noexcept {
  double* row = rows_ + bundled_ * width_;
  std::fill_n(row, dimension_, 0.0);
  backward(theta, head, 1.0, row);
  weights_[bundled_++] = weight;
  if (bundled_ == kRows) flush(matrix);
}

void NetworkModel::flush(double* matrix) noexcept {
  if (bundled_ == 0) return;
  kernels().weighted_outer(rows_, width_, bundled_, weights_, scaled_, matrix);
  bundled_ = 0;
}

void NetworkModel::gradient_sum(const RowBatch& batch, const double* theta,
                                double* gradient) noexcept {
  std::fill_n(gradient, dimension_, 0.0);
  if (shape_.kind == NetworkKind::kBoltzmann) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      visit(batch, i, theta);
      backward(theta, head_, 1.0, gradient);
    }
    return;
  }
  for (std::size_t first = 0; first < batch.count; first += NetworkBatch::kRows) {
    const std::size_t rows = std::min(NetworkBatch::kRows, batch.count - first);
    const auto row = [&](std::size_t i) {
      return batch.base + batch.slots[first + i] * layout_.stride();
    };
    for (std::size_t i = 0; i < rows; ++i) {
      expand_features(layout_, transform_, row(i), batch_.features(i));
    }
    batch_.forward(theta, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < shape_.outputs(); ++c) predictors_[c] = batch_.predictor(c, i);
      set_head(row(i)[layout_.target_index()], predictors_);
      for (std::size_t c = 0; c < shape_.outputs(); ++c) batch_.set_error(c, i, head_[c]);
    }
    batch_.backward(theta, rows, gradient);
  }
}

void NetworkModel::add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept {
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, theta);
    backward(theta, head_, 1.0, sums.gradient);
    add_outer(theta, head_, 1.0, sums.outer);
  }
  flush(sums.outer);
  sums.rows += static_cast<double>(batch.count);
}

void NetworkModel::add_noise_variances(const RowBatch& batch, const double* theta,
                                       NoiseVarianceSums& sums) noexcept {
  double* row = rows_;  // bundles are not in use here
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, theta);
    std::fill_n(row, dimension_, 0.0);
    backward(theta, head_, 1.0, row);
    for (std::size_t j = 0; j < dimension_; ++j) {
      sums.gradient[j] += row[j];
      sums.squares[j] += row[j] * row[j];
    }
  }
  sums.rows += static_cast<double>(batch.count);
}

void NetworkModel::add_curvature(const RowBatch& batch, const double* anchor, const double*,
                                 double weight, CurvatureSums& sums) noexcept {
  const double one = 1;
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, anchor);
    sums.loss += weight * loss_;
    backward(anchor, head_, weight, sums.gradient);
    if (response_ == Response::kGaussian) {
      sums.squares += weight * square_;
      add_outer(anchor, &one, weight, sums.curvature);
    } else if (shape_.outputs() == 1) {
      add_outer(anchor, &one, weight * probability_[0] * (1 - probability_[0]), sums.curvature);
    } else {
      curvature_.add(anchor, x_, values_, probability_, weight, sums.curvature);
    }
  }
  flush(sums.curvature);
  curvature_.flush(anchor, sums.curvature);
  sums.rows += weight * static_cast<double>(batch.count);
}

}  // namespace windhover
