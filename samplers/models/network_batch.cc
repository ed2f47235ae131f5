#include <algorithm>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/models/network.h"

namespace windhover {

NetworkBatch::NetworkBatch(Arena& arena, const NetworkShape& shape) noexcept : shape_(shape) {
  if (shape.kind != NetworkKind::kFeedForward) return;
  const std::size_t inputs = shape.values() - shape.outputs() + shape.width[0];
  const std::size_t widest = *std::max_element(shape.width.begin() + 1, shape.width.end());
  in_ = arena.allocate<double>(kRows * inputs).data();
  transposed_ = arena.allocate<double>(kStride * inputs).data();
  head_ = arena.allocate<double>(kStride * shape.outputs()).data();
  errors_ = arena.allocate<double>(kStride * widest).data();
  errors_below_ = arena.allocate<double>(kStride * widest).data();
}

void NetworkBatch::forward(const double* theta, std::size_t rows) noexcept {
  const double* in = in_;
  double* transposed = transposed_;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < shape_.width[0]; ++j) {
      transposed[j * kStride + i] = in[i * shape_.width[0] + j];
    }
  }
  for (std::size_t l = 1; l <= shape_.layers; ++l) {
    const std::size_t fan_in = shape_.width[l - 1];
    const std::size_t width = shape_.width[l];
    double* out = l == shape_.layers ? head_ : transposed + fan_in * kStride;
    for (std::size_t k = 0; k < width; ++k) {
      std::fill_n(out + k * kStride, rows, theta[k * (fan_in + 1) + fan_in]);
    }
    kernels().multiply_add(theta, fan_in + 1, 1, transposed, kStride, out, kStride, width, rows,
                           fan_in);
    theta += width * (fan_in + 1);
    if (l == shape_.layers) return;
    double* rowwise = in_ + (out - transposed_) / static_cast<std::ptrdiff_t>(kStride) *
                                static_cast<std::ptrdiff_t>(kRows);
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t i = 0; i < rows; ++i) {
        double& value = out[k * kStride + i];
        value = shape_.activate(value);
        rowwise[i * width + k] = value;
      }
    }
    transposed = out;
  }
}

void NetworkBatch::backward(const double* theta, std::size_t rows, double* gradient) noexcept {
  std::size_t inputs = shape_.values() - shape_.outputs() + shape_.width[0];
  std::size_t parameters = shape_.dimension();
  for (std::size_t l = shape_.layers; l >= 1; --l) {
    const std::size_t fan_in = shape_.width[l - 1];
    const std::size_t width = shape_.width[l];
    inputs -= fan_in;
    parameters -= width * (fan_in + 1);
    kernels().multiply_add(errors_, kStride, 1, in_ + inputs * kRows, fan_in, gradient + parameters,
                           fan_in + 1, width, fan_in, rows);
    for (std::size_t k = 0; k < width; ++k) {
      double& bias = gradient[parameters + k * (fan_in + 1) + fan_in];
      for (std::size_t i = 0; i < rows; ++i) bias += errors_[k * kStride + i];
    }
    if (l == 1) return;
    std::fill_n(errors_below_, fan_in * kStride, 0.0);
    kernels().multiply_add(theta + parameters, 1, fan_in + 1, errors_, kStride, errors_below_,
                           kStride, fan_in, rows, width);
    const double* out = transposed_ + inputs * kStride;
    for (std::size_t j = 0; j < fan_in; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        errors_below_[j * kStride + i] *= shape_.slope(out[j * kStride + i]);
      }
    }
    std::swap(errors_, errors_below_);
  }
}

}  // namespace windhover
