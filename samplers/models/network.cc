#include "windhover/samplers/models/network.h"

#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/samplers/kernels.h"
#include "windhover/samplers/linear_algebra.h"
#include "windhover/samplers/models/generalized_linear.h"

namespace windhover {

namespace {

constexpr std::uint32_t kSharesALogarithm = 512;  // 2^-512 is far from underflow

}  // namespace

NetworkShape::NetworkShape(const ModelConfig& config, Response response) noexcept
    : kind(config.name == kBoltzmannName ? NetworkKind::kBoltzmann : NetworkKind::kFeedForward),
      layers(kind == NetworkKind::kFeedForward && config.hidden2 > 0 ? 3 : 2),
      activation(config.activation) {
  width[0] = config.features;
  width[1] = config.hidden;
  width[2] = config.hidden2;
  width[layers] = response == Response::kCategorical ? config.classes - 1 : 1;
}

double NetworkShape::activate(double in) const noexcept {
  switch (activation) {
    case Activation::kLogistic:
      return BernoulliLogitLikelihood::mean(in);
    case Activation::kRelu:
      return std::max(in, 0.0);
    default:
      return std::tanh(in);
  }
}

double NetworkShape::slope(double out) const noexcept {
  switch (activation) {
    case Activation::kLogistic:
      return out * (1 - out);
    case Activation::kRelu:
      return out > 0 ? 1.0 : 0.0;
    default:
      return 1 - out * out;
  }
}

std::uint32_t NetworkShape::dimension() const noexcept {
  if (kind == NetworkKind::kBoltzmann) return width[1] * (width[0] + 1 + width[2]) + width[2];
  std::uint32_t d = 0;
  for (std::size_t l = 1; l <= layers; ++l) d += width[l] * (width[l - 1] + 1);
  return d;
}

std::size_t NetworkShape::values() const noexcept {
  std::size_t values = kind == NetworkKind::kBoltzmann ? width[1] * states() : 0;
  for (std::size_t l = 1; l <= layers; ++l) values += width[l];
  return values;
}

void NetworkShape::prior_precision(const ModelConfig& config, double* precision) const noexcept {
  if (kind == NetworkKind::kBoltzmann) {
    for (std::uint32_t j = 0; j < width[1]; ++j) {
      precision = std::fill_n(precision, width[0], config.prior_precision * width[0]);
      *precision++ = config.intercept_precision;
      precision = std::fill_n(precision, width[2], config.prior_precision * width[1]);
    }
    std::fill_n(precision, width[2], config.intercept_precision);
    return;
  }
  for (std::size_t l = 1; l <= layers; ++l) {
    for (std::uint32_t k = 0; k < width[l]; ++k) {
      precision = std::fill_n(precision, width[l - 1], config.prior_precision * width[l - 1]);
      *precision++ = config.intercept_precision;
    }
  }
}

void NetworkShape::initial(std::uint64_t seed, double* theta) const noexcept {
  fill_normals(seed, {0, 1, Purpose::kInitialDraw}, {theta, dimension()});
  if (kind == NetworkKind::kBoltzmann) {
    for (std::uint32_t j = 0; j < width[1]; ++j) {
      for (std::uint32_t k = 0; k < width[0]; ++k) *theta++ /= std::sqrt(width[0]);
      *theta++ = 0;
      for (std::uint32_t c = 0; c < width[2]; ++c) *theta++ /= std::sqrt(width[1]);
    }
    std::fill_n(theta, width[2], 0.0);
    return;
  }
  for (std::size_t l = 1; l <= layers; ++l) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(width[l - 1]));
    for (std::uint32_t k = 0; k < width[l]; ++k) {
      for (std::uint32_t j = 0; j < width[l - 1]; ++j) *theta++ *= scale;
      *theta++ = 0;
    }
  }
}

// log(1 + e^x) = max(x, 0) - log p, p from 1/2 to 1 being the likelier state: the logarithm of a
// product of some is taken once.
const double* NetworkShape::forward_boltzmann(const double* theta, const double* x,
                                              double* values) const noexcept {
  double* eta = values + width[1];
  double* const on = eta + width[2];
  std::array<double, kMaxClasses> sums{};
  for (std::uint32_t j = 0; j < width[1]; ++j) {
    values[j] = theta[width[0]] + ConstVectorMap(theta, width[0]).dot(ConstVectorMap(x, width[0]));
    theta += width[0] + 1;
    double* in = on + j * states();
    std::fill_n(in, states(), 0.0);
    in[0] = values[j];
    for (std::uint32_t c = 0; c < width[2]; ++c) in[c + 1] = in[0] + theta[c];
    theta += width[2];
    for (std::size_t c = 0; c < states(); ++c) sums[c] += std::max(in[c], 0.0);
  }
  kernels().sigmoid(on, width[1] * states(), on);
  std::array<double, kMaxClasses> shares;
  shares.fill(1.0);
  for (std::uint32_t j = 0; j < width[1]; ++j) {
    const double* p = on + j * states();
    for (std::size_t c = 0; c < states(); ++c) shares[c] *= std::max(p[c], 1.0 - p[c]);
    if (j + 1 < width[1] && (j + 1) % kSharesALogarithm != 0) continue;
    for (std::size_t c = 0; c <= width[2]; ++c) sums[c] -= std::log(shares[c]);
    shares.fill(1.0);
  }
  for (std::uint32_t c = 0; c < width[2]; ++c) eta[c] = theta[c] + sums[c + 1] - sums[0];
  return eta;
}

const double* NetworkShape::forward(const double* theta, const double* x,
                                    double* values) const noexcept {
  if (kind == NetworkKind::kBoltzmann) return forward_boltzmann(theta, x, values);
  const double* in = x;
  for (std::size_t l = 1; l <= layers; ++l) {
    for (std::uint32_t k = 0; k < width[l]; ++k) {
      double sum = theta[width[l - 1]];
      for (std::uint32_t j = 0; j < width[l - 1]; ++j) sum += theta[j] * in[j];
      values[k] = l < layers ? activate(sum) : sum;
      theta += width[l - 1] + 1;
    }
    in = values;
    values += width[l];
  }
  return in;
}

void NetworkShape::backward(const double* theta, const double* x, const double* values,
                            const double* head, double weight, double* errors,
                            double* gradient) const noexcept {
  if (kind == NetworkKind::kBoltzmann) {
    const ConstVectorMap head_errors(head, width[2]);
    const double total = head_errors.sum();
    double* bias = gradient + dimension() - width[2];
    for (std::uint32_t c = 0; c < width[2]; ++c) bias[c] += weight * head[c];
    for (std::uint32_t j = 0; j < width[1]; ++j) {
      const std::size_t first = std::size_t{j} * (width[0] + 1 + width[2]);
      const double* on = values + width[1] + width[2] + j * states();
      const ConstVectorMap on_of_class(on + 1, width[2]);
      VectorMap(gradient + first + width[0] + 1, width[2]).array() +=
          weight * head_errors.array() * on_of_class.array();
      const double error = weight * (head_errors.dot(on_of_class) - on[0] * total);
      for (std::uint32_t k = 0; k < width[0]; ++k) gradient[first + k] += error * x[k];
      gradient[first + width[0]] += error;
    }
    return;
  }
  std::array<std::size_t, kMaxLayers + 1> unit{};       // first unit of a layer
  std::array<std::size_t, kMaxLayers + 1> parameter{};  // first parameter
  for (std::size_t l = 1; l < layers; ++l) {
    unit[l + 1] = unit[l] + width[l];
    parameter[l + 1] = parameter[l] + width[l] * (width[l - 1] + 1);
  }
  for (std::size_t c = 0; c < outputs(); ++c) errors[unit[layers] + c] = weight * head[c];
  for (std::size_t l = layers; l >= 1; --l) {
    const std::size_t fan_in = width[l - 1];
    const double* in = l == 1 ? x : values + unit[l - 1];
    double* error_in = l == 1 ? nullptr : errors + unit[l - 1];
    if (error_in != nullptr) std::fill_n(error_in, fan_in, 0.0);
    for (std::size_t k = 0; k < width[l]; ++k) {
      const double error = errors[unit[l] + k];
      const std::size_t first = parameter[l] + k * (fan_in + 1);
      for (std::size_t j = 0; j < fan_in; ++j) gradient[first + j] += error * in[j];
      gradient[first + fan_in] += error;
      if (error_in == nullptr) continue;
      for (std::size_t j = 0; j < fan_in; ++j) error_in[j] += error * theta[first + j];
    }
    if (error_in == nullptr) continue;
    for (std::size_t j = 0; j < fan_in; ++j) error_in[j] *= slope(in[j]);
  }
}

NetworkModel::NetworkModel(Arena& arena, const ModelConfig& config, std::string_view name,
                           Response response) noexcept
    : name_(name),
      response_(response),
      layout_(config),
      shape_(config, response),
      dimension_(shape_.dimension()),
      width_(matrix_width(dimension_)),
      batch_(arena, shape_) {
  transform_.shift = arena.allocate<double>(config.features);
  transform_.inverse_scale = arena.allocate<double>(config.features);
  x_ = arena.allocate<double>(config.features).data();
  values_ = arena.allocate<double>(shape_.values()).data();
  errors_ = arena.allocate<double>(shape_.values()).data();
  head_ = arena.allocate<double>(shape_.outputs()).data();
  direction_ = arena.allocate<double>(shape_.outputs()).data();
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

void NetworkModel::add_curvature(const RowBatch& batch, const double* anchor, const double*,
                                 double weight, CurvatureSums& sums) noexcept {
  const std::size_t outputs = shape_.outputs();
  for (std::size_t i = 0; i < batch.count; ++i) {
    visit(batch, i, anchor);
    sums.loss += weight * loss_;
    backward(anchor, head_, weight, sums.gradient);
    if (response_ == Response::kGaussian) {
      sums.squares += weight * square_;
      direction_[0] = 1;
      add_outer(anchor, direction_, weight, sums.curvature);
      continue;
    }
    // The covariance of the class indicator e, sum over classes c of p_c (e_c - p)(e_c - p)^T.
    double reference = 1;
    for (std::size_t c = 0; c < outputs; ++c) reference -= probability_[c];
    for (std::size_t c = 0; c <= outputs; ++c) {
      for (std::size_t k = 0; k < outputs; ++k) direction_[k] = -probability_[k];
      if (c > 0) direction_[c - 1] += 1;
      const double p = c == 0 ? std::max(reference, 0.0) : probability_[c - 1];
      add_outer(anchor, direction_, weight * p, sums.curvature);
    }
  }
  flush(sums.curvature);
  sums.rows += weight * static_cast<double>(batch.count);
}

}  // namespace windhover
