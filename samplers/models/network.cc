#include "windhover/samplers/models/network.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/models/linear_rows.h"

namespace windhover {

OuterBundle::OuterBundle(Arena& arena, std::size_t dimension) noexcept
    : dimension_(dimension),
      width_(matrix_width(dimension)),
      capacity_(network_bundle(width_)),
      rows_(arena.allocate<double>(capacity_ * width_).data()),
      scaled_(arena.allocate<double>(capacity_ * width_).data()),
      weights_(arena.allocate<double>(capacity_).data()) {}

void OuterBundle::reset() noexcept {
  // Clears only the padding: whoever adds a row writes the rest.
  for (std::size_t i = 0; i < capacity_; ++i) {
    std::fill_n(rows_ + i * width_ + dimension_, width_ - dimension_, 0.0);
  }
}

void OuterBundle::flush(double* matrix) noexcept {
  kernels().weighted_outer(rows_, width_, count_, weights_, scaled_, matrix);
  count_ = 0;
}

NetworkModel::NetworkModel(Arena& arena, const ModelConfig& config, std::string_view name,
                           Response response) noexcept
    : name_(name),
      response_(response),
      layout_(config),
      shape_(config, response),
      dimension_(shape_.dimension()),
      bundle_(arena, dimension_),
      batch_(arena, shape_),
      by_unit_(NetworkCurvature::pays(shape_)),
      curvature_(arena, shape_, bundle_.scratch()) {
  transform_.shift = arena.allocate<double>(config.features);
  transform_.inverse_scale = arena.allocate<double>(config.features);
  row_.x = arena.allocate<double>(config.features).data();
  row_.values = arena.allocate<double>(shape_.values()).data();
  row_.errors = arena.allocate<double>(shape_.values()).data();
  row_.head = arena.allocate<double>(shape_.outputs()).data();
  direction_ = arena.allocate<double>(shape_.outputs()).data();
  row_.probability = arena.allocate<double>(shape_.outputs() + 1).data();
}

void NetworkModel::reset() noexcept {
  std::ranges::fill(transform_.shift, 0.0);
  std::ranges::fill(transform_.inverse_scale, 1.0);
  bundle_.reset();
}

Status NetworkModel::check_target(double y) const noexcept {
  const auto classes = static_cast<std::uint32_t>(shape_.outputs() + 1);
  return in_domain(response_, classes, y) ? Status::kOk : Status::kTargetOutOfDomain;
}

void NetworkModel::visit(const RowBatch& batch, std::size_t i, const double* theta) noexcept {
  const double* row = batch.base + batch.slots[i] * layout_.stride();
  expand_features(layout_, transform_, row, row_.x);
  set_head(row[layout_.target_index()], shape_.forward(theta, row_.x, row_.values));
}

void NetworkModel::set_head(double y, const double* eta) noexcept {
  if (response_ == Response::kGaussian) {
    row_.head[0] = eta[0] - (y - target_.shift) / target_.scale;
    row_.square = row_.head[0] * row_.head[0];
    row_.loss = 0.5 * row_.square;
    return;
  }
  double largest = 0;
  for (std::size_t c = 0; c < shape_.outputs(); ++c) largest = std::max(largest, eta[c]);
  double total = row_.probability[0] = std::exp(-largest);
  for (std::size_t c = 0; c < shape_.outputs(); ++c) {
    total += row_.probability[c + 1] = std::exp(eta[c] - largest);
  }
  row_.probability[0] /= total;
  for (std::size_t c = 0; c < shape_.outputs(); ++c) {
    row_.head[c] = row_.probability[c + 1] /= total;
  }
  row_.loss = largest + std::log(total);
  if (y > 0) {
    const auto chosen = static_cast<std::size_t>(y) - 1;
    row_.head[chosen] -= 1;
    row_.loss -= eta[chosen];
  }
}

void NetworkModel::add_outer(const double* theta, const double* head, double weight,
                             double* matrix) noexcept {
  double* row = bundle_.next();
  std::fill_n(row, dimension_, 0.0);
  backward(theta, head, 1.0, row);
  bundle_.add(weight, matrix);
}

void NetworkModel::gradient_sum(const RowBatch& batch, const double* theta,
                                double* gradient) noexcept {
  std::fill_n(gradient, dimension_, 0.0);
  if (shape_.kind == NetworkKind::kBoltzmann) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      visit(batch, i, theta);
      backward(theta, row_.head, 1.0, gradient);
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
      for (std::size_t c = 0; c < shape_.outputs(); ++c) batch_.set_error(c, i, row_.head[c]);
    }
    batch_.backward(theta, rows, gradient);
  }
}

void NetworkModel::add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept {
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, theta);
    backward(theta, row_.head, 1.0, sums.gradient);
    add_outer(theta, row_.head, 1.0, sums.outer);
  }
  bundle_.flush(sums.outer);
  sums.rows += static_cast<double>(batch.count);
}

void NetworkModel::add_noise_variances(const RowBatch& batch, const double* theta,
                                       NoiseVarianceSums& sums) noexcept {
  double* row = bundle_.next();  // no bundle is under way here
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, theta);
    std::fill_n(row, dimension_, 0.0);
    backward(theta, row_.head, 1.0, row);
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
    return add_outer(theta, direction_, weight * row_.probability[0] * row_.probability[1], matrix);
  }
  for (std::size_t c = 0; c <= outputs; ++c) {
    for (std::size_t k = 0; k < outputs; ++k) direction_[k] = -row_.probability[k + 1];
    if (c > 0) direction_[c - 1] += 1;
    add_outer(theta, direction_, weight * row_.probability[c], matrix);
  }
}

double NetworkModel::loss_sum(const RowBatch& batch, const double* theta) noexcept {
  double loss = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, theta);
    loss += row_.loss;
  }
  return loss;
}

void NetworkModel::add_curvature(const RowBatch& batch, const double* anchor, const double*,
                                 double weight, CurvatureSums& sums) noexcept {
  for (std::size_t first = 0; first < batch.count; first += bundle_.capacity()) {
    const std::size_t count = std::min(bundle_.capacity(), batch.count - first);
    for (std::size_t i = 0; i < count; ++i) {
      visit(batch, first + i, anchor);
      sums.loss += weight * row_.loss;
      backward(anchor, row_.head, weight, sums.gradient);
      if (response_ == Response::kGaussian) {
        sums.squares += weight * row_.square;
        direction_[0] = 1;
        add_outer(anchor, direction_, weight, sums.curvature);
      } else if (by_unit_) {
        curvature_.keep(i, row_.x, row_.values, row_.probability, weight);
      } else {
        add_classes(anchor, weight, sums.curvature);
      }
    }
    if (by_unit_) curvature_.add(anchor, count, sums.curvature);
  }
  bundle_.flush(sums.curvature);
  sums.rows += weight * static_cast<double>(batch.count);
}

}  // namespace windhover
