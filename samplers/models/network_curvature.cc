#include <algorithm>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/models/network.h"

namespace windhover {

NetworkCurvature::NetworkCurvature(Arena& arena, const NetworkShape& shape, double* rows) noexcept
    : shape_(shape), dimension_(shape.dimension()), width_(matrix_width(dimension_)), rows_(rows) {
  if (!pays(shape)) return;
  const std::size_t bundle = network_bundle(width_);
  x_ = arena.allocate<double>(bundle * shape.width[0]).data();
  values_ = arena.allocate<double>(bundle * shape.values()).data();
  probability_ = arena.allocate<double>(bundle * (shape.outputs() + 1)).data();
  weights_ = arena.allocate<double>(bundle).data();
  errors_ = arena.allocate<double>(bundle * shape.outputs() * shape.units()).data();
  head_ = arena.allocate<double>(shape.outputs()).data();
  scratch_ = arena.allocate<double>(shape.values()).data();
}

bool NetworkCurvature::pays(const NetworkShape& shape) noexcept {
  // The multiplications of an outer product that take as long as a pass backward does for a unit:
  // 36 to 46 were measured.
  constexpr std::size_t kPassBackward = 48;
  const std::size_t classes = shape.outputs() + 1;
  return classes > 2 && classes * shape.dimension() > kPassBackward * shape.units();
}

void NetworkCurvature::keep(std::size_t i, const double* x, const double* values,
                            const double* probability, double weight) noexcept {
  const std::size_t classes = shape_.outputs() + 1;
  std::copy_n(x, shape_.width[0], x_ + i * shape_.width[0]);
  std::copy_n(values, shape_.values(), values_ + i * shape_.values());
  std::copy_n(probability, classes, probability_ + i * classes);
  weights_[i] = weight;
}

void NetworkCurvature::add(const double* theta, std::size_t count, double* matrix) noexcept {
  find_errors(theta, count);
  const double one = 1;
  const auto& multiply_add = kernels().multiply_add;
  std::size_t unit_index = 0;
  for (std::size_t l = 1; l <= shape_.layers; ++l) {
    for (std::size_t k = 0; k < shape_.width[l]; ++k) {
      spread_unit(theta, count, unit_index++);
      const NetworkShape::Unit unit = shape_.unit(l, k);
      const bool features = unit.input == NetworkShape::kFeatures;
      const double* inputs = features ? x_ : values_ + unit.input;
      const std::size_t stride = features ? shape_.width[0] : shape_.values();
      multiply_add(inputs, unit.input_stride, stride, rows_ + unit.first, width_,
                   matrix + unit.first * (width_ + 1), unit.stride * width_, unit.fan_in,
                   dimension_ - unit.first, count);
      multiply_add(&one, 0, 0, rows_ + unit.bias, width_, matrix + unit.bias * (width_ + 1), width_,
                   1, dimension_ - unit.bias, count);
    }
  }
}

void NetworkCurvature::find_errors(const double* theta, std::size_t count) noexcept {
  const std::size_t outputs = shape_.outputs();
  double* unused = rows_;  // the predictors' gradients
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < outputs; ++c) {
      std::fill_n(head_, outputs, 0.0);
      head_[c] = 1;
      shape_.backward(theta, x_ + i * shape_.width[0], values_ + i * shape_.values(), head_, 1.0,
                      scratch_, unused);
      std::copy_n(scratch_, shape_.units(), errors_of(i, c));
    }
  }
}

void NetworkCurvature::spread_unit(const double* theta, std::size_t count,
                                   std::size_t unit) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    find_head(i, unit);
    double* row = rows_ + i * width_;
    std::fill_n(row, width_, 0.0);
    shape_.backward(theta, x_ + i * shape_.width[0], values_ + i * shape_.values(), head_,
                    weights_[i], scratch_, row);
  }
}

// Computes relative to the likeliest class. Its probability may round to 1, but what it leaves to
// the others is still known, and the sum stays positive semi-definite.
void NetworkCurvature::find_head(std::size_t i, std::size_t unit) noexcept {
  const std::size_t classes = shape_.outputs() + 1;
  const double* p = probability_ + i * classes;
  const auto likeliest = static_cast<std::size_t>(std::max_element(p, p + classes) - p);
  const auto error = [&](std::size_t c) { return c == 0 ? 0.0 : errors_of(i, c - 1)[unit]; };
  const double base = error(likeliest);
  double mean = 0;
  for (std::size_t c = 0; c < classes; ++c) mean += p[c] * (error(c) - base);
  double others = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    if (c == likeliest) continue;
    const double share = p[c] * (error(c) - base - mean);
    others += share;
    if (c > 0) head_[c - 1] = share;
  }
  if (likeliest > 0) head_[likeliest - 1] = -others;
}

}  // namespace windhover
