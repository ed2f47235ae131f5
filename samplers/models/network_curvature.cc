#include <algorithm>

#include "windhover/samplers/kernels.h"
#include "windhover/samplers/models/network.h"

namespace windhover {

NetworkCurvature::NetworkCurvature(Arena& arena, const NetworkShape& shape) noexcept
    : shape_(shape), dimension_(shape.dimension()), width_(matrix_width(dimension_)) {
  if (shape.outputs() < 2) return;
  x_ = arena.allocate<double>(kRows * shape.width[0]).data();
  values_ = arena.allocate<double>(kRows * shape.values()).data();
  probability_ = arena.allocate<double>(kRows * shape.outputs()).data();
  weights_ = arena.allocate<double>(kRows).data();
  errors_ = arena.allocate<double>(kRows * shape.outputs() * shape.units()).data();
  rows_ = arena.allocate<double>(kRows * width_).data();
  head_ = arena.allocate<double>(shape.outputs()).data();
  scratch_ = arena.allocate<double>(shape.values()).data();
}

void NetworkCurvature::add(const double* theta, const double* x, const double* values,
                           const double* probability, double weight, double* matrix) noexcept {
  std::copy_n(x, shape_.width[0], x_ + count_ * shape_.width[0]);
  std::copy_n(values, shape_.values(), values_ + count_ * shape_.values());
  std::copy_n(probability, shape_.outputs(), probability_ + count_ * shape_.outputs());
  weights_[count_++] = weight;
  if (count_ == kRows) flush(theta, matrix);
}

void NetworkCurvature::flush(const double* theta, double* matrix) noexcept {
  if (count_ == 0) return;
  find_errors(theta);
  const double one = 1;
  const auto& multiply_add = kernels().multiply_add;
  std::size_t index = 0;
  for (std::size_t l = 1; l <= shape_.layers; ++l) {
    for (std::size_t k = 0; k < shape_.width[l]; ++k) {
      spread_unit(theta, index++);
      const NetworkShape::Unit unit = shape_.unit(l, k);
      const bool features = unit.input == NetworkShape::kFeatures;
      const double* inputs = features ? x_ : values_ + unit.input;
      const std::size_t row = features ? shape_.width[0] : shape_.values();
      multiply_add(inputs, unit.input_stride, row, rows_ + unit.first, width_,
                   matrix + unit.first * (width_ + 1), unit.stride * width_, unit.fan_in,
                   dimension_ - unit.first, count_);
      multiply_add(&one, 0, 0, rows_ + unit.bias, width_, matrix + unit.bias * (width_ + 1), width_,
                   1, dimension_ - unit.bias, count_);
    }
  }
  count_ = 0;
}

void NetworkCurvature::find_errors(const double* theta) noexcept {
  const std::size_t outputs = shape_.outputs();
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t c = 0; c < outputs; ++c) {
      std::fill_n(head_, outputs, 0.0);
      head_[c] = 1;
      shape_.backward(theta, x_ + i * shape_.width[0], values_ + i * shape_.values(), head_, 1.0,
                      scratch_, rows_);
      std::copy_n(scratch_, shape_.units(), errors_of(i, c));
    }
  }
}

void NetworkCurvature::spread_unit(const double* theta, std::size_t unit) noexcept {
  const std::size_t outputs = shape_.outputs();
  for (std::size_t i = 0; i < count_; ++i) {
    const double* p = probability_ + i * outputs;
    double mean = 0;
    for (std::size_t c = 0; c < outputs; ++c) mean += p[c] * errors_of(i, c)[unit];
    for (std::size_t c = 0; c < outputs; ++c) head_[c] = p[c] * (errors_of(i, c)[unit] - mean);
    double* row = rows_ + i * width_;
    std::fill_n(row, width_, 0.0);
    shape_.backward(theta, x_ + i * shape_.width[0], values_ + i * shape_.values(), head_,
                    weights_[i], scratch_, row);
  }
}

}  // namespace windhover
