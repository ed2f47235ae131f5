#include "windhover/samplers/models/network.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
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
      bundle_(network_bundle(width_)),
      rows_(arena.allocate<double>(bundle_ * width_).data()),
      scaled_(arena.allocate<double>(bundle_ * width_).data()),
      batch_(arena, shape_),
      by_unit_(NetworkCurvature::pays(shape_)),
      curvature_(arena, shape_, scaled_) {
  transform_.shift = arena.allocate<double>(config.features);
  transform_.inverse_scale = arena.allocate<double>(config.features);
  x_ = arena.allocate<double>(config.features).data();
  values_ = arena.allocate<double>(shape_.values()).data();
  errors_ = arena.allocate<double>(shape_.values()).data();
  head_ = arena.allocate<double>(shape_.outputs()).data();
  direction_ = arena.allocate<double>(shape_.outputs()).data();
  probability_ = arena.allocate<double>(shape_.outputs() + 1).data();
  weights_ = arena.allocate<double>(bundle_).data();
}

void NetworkModel::reset() noexcept {
  std::ranges::fill(transform_.shift, 0.0);
  std::ranges::fill(transform_.inverse_scale, 1.0);
  // The padding; bundles write the rest.
  for (std::size_t i = 0; i < bundle_; ++i) {
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
    head_[0] = eta[0] - (y - target_.shift) / target_.scale;
    square_ = head_[0] * head_[0];
    loss_ = 0.5 * square_;
    return;
  }
  double largest = 0;
  for (std::size_t c = 0; c < shape_.outputs(); ++c) largest = std::max(largest, eta[c]);
  double total = probability_[0] = std::exp(-largest);
  for (std::size_t c = 0; c < shape_.outputs(); ++c) {
    total += probability_[c + 1] = std::exp(eta[c] - largest);
  }
  probability_[0] /= total;
  for (std::size_t c = 0; c < shape_.outputs(); ++c) head_[c] = probability_[c + 1] /= total;
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
  if (bundled_ == bundle_) flush(matrix);
}

void NetworkModel::flush(double* matrix) noexcept {
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
      for (std::size_t c = 0; c < shape_.outputs(); ++c) direction_[c] = batch_.predictor(c, i);
      set_head(row(i)[layout_.target_index()], direction_);
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

// H = sum over classes c of p_c (e_c - p)(e_c - p)^T, the covariance of the class's indicator e.
void NetworkModel::add_classes(const double* theta, double weight, double* matrix) noexcept {
  const std::size_t outputs = shape_.outputs();
  if (outputs == 1) {
    direction_[0] = 1;
    return add_outer(theta, direction_, weight * probability_[0] * probability_[1], matrix);
  }
  for (std::size_t c = 0; c <= outputs; ++c) {
    for (std::size_t k = 0; k < outputs; ++k) direction_[k] = -probability_[k + 1];
    if (c > 0) direction_[c - 1] += 1;
    add_outer(theta, direction_, weight * probability_[c], matrix);
  }
}

void NetworkModel::add_curvature(const RowBatch& batch, const double* anchor, const double*,
                                 double weight, CurvatureSums& sums) noexcept {
  for (std::size_t first = 0; first < batch.count; first += bundle_) {
    const std::size_t count = std::min(bundle_, batch.count - first);
    for (std::size_t i = 0; i < count; ++i) {
      visit(batch, first + i, anchor);
      sums.loss += weight * loss_;
      backward(anchor, head_, weight, sums.gradient);
      if (response_ == Response::kGaussian) {
        sums.squares += weight * square_;
        direction_[0] = 1;
        add_outer(anchor, direction_, weight, sums.curvature);
      } else if (by_unit_) {
        curvature_.keep(i, x_, values_, probability_, weight);
      } else {
        add_classes(anchor, weight, sums.curvature);
      }
    }
    if (by_unit_) curvature_.add(anchor, count, sums.curvature);
  }
  flush(sums.curvature);
  sums.rows += weight * static_cast<double>(batch.count);
}

}  // namespace windhover
