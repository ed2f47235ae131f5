#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/models/linear_rows.h"
#include "windhover/samplers/models/network.h"

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

std::size_t NetworkShape::units() const noexcept {
  std::size_t units = 0;
  for (std::size_t l = 1; l <= layers; ++l) units += width[l];
  return units;
}

NetworkShape::Unit NetworkShape::unit(std::size_t layer, std::size_t k) const noexcept {
  if (kind == NetworkKind::kBoltzmann) {
    const std::size_t hidden = width[0] + 1 + width[2];
    if (layer == 1) return {k * hidden, 1, k * hidden + width[0], width[0], kFeatures, 1};
    return {width[0] + 1 + k, hidden, width[1] * hidden + k, width[1], width[1] + width[2] + k + 1,
            states()};
  }
  std::size_t first = 0;
  std::size_t inputs = 0;
  for (std::size_t l = 1; l < layer; ++l) {
    first += width[l] * (width[l - 1] + 1);
    if (l > 1) inputs += width[l - 1];
  }
  const std::size_t fan_in = width[layer - 1];
  first += k * (fan_in + 1);
  return {first, 1, first + fan_in, fan_in, layer == 1 ? kFeatures : inputs, 1};
}

std::size_t NetworkShape::values() const noexcept {
  return units() + (kind == NetworkKind::kBoltzmann ? width[1] * states() : 0);
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

// log(1 + e^x) = max(x, 0) - log p, with p >= 1/2 the probability of the likelier state. One
// logarithm is taken of the product of several p.
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
    for (std::uint32_t c = 0; c < width[2]; ++c) {
      errors[width[1] + c] = weight * head[c];
      bias[c] += weight * head[c];
    }
    for (std::uint32_t j = 0; j < width[1]; ++j) {
      const std::size_t first = std::size_t{j} * (width[0] + 1 + width[2]);
      const double* on = values + width[1] + width[2] + j * states();
      const ConstVectorMap on_of_class(on + 1, width[2]);
      VectorMap(gradient + first + width[0] + 1, width[2]).array() +=
          weight * head_errors.array() * on_of_class.array();
      const double error = weight * (head_errors.dot(on_of_class) - on[0] * total);
      for (std::uint32_t k = 0; k < width[0]; ++k) gradient[first + k] += error * x[k];
      gradient[first + width[0]] += error;
      errors[j] = error;
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
    const bool units_below = l > 1;
    const double* in = units_below ? values + unit[l - 1] : x;
    double* error_in = errors + unit[l - 1];
    if (units_below) std::fill_n(error_in, fan_in, 0.0);
    for (std::size_t k = 0; k < width[l]; ++k) {
      const double error = errors[unit[l] + k];
      const std::size_t first = parameter[l] + k * (fan_in + 1);
      for (std::size_t j = 0; j < fan_in; ++j) gradient[first + j] += error * in[j];
      gradient[first + fan_in] += error;
      if (!units_below) continue;
      for (std::size_t j = 0; j < fan_in; ++j) error_in[j] += error * theta[first + j];
    }
    if (!units_below) continue;
    for (std::size_t j = 0; j < fan_in; ++j) error_in[j] *= slope(in[j]);
  }
}

}  // namespace windhover
