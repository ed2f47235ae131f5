#include "windhover/runtime/prediction/logit_normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/prediction_kernels.h"

namespace windhover {

double sigmoid(double x) noexcept {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double log_sigmoid(double x) noexcept {
  return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x)));
}

double entropy(double p) noexcept {
  const double q = 1 - p;
  return (p > 0 ? -p * std::log(p) : 0.0) + (q > 0 ? -q * std::log(q) : 0.0);
}

namespace {

// Trapezoidal rules: for functions analytic in a strip their error falls geometrically in the
// number of nodes.
constexpr std::size_t kNodes = 64;

// Nodes in units of the linear predictor's sd, over [-8, 8].
struct NormalNodes {
  std::array<double, kNodes> z{};
  std::array<double, kNodes> weight{};
  NormalNodes() noexcept {
    double total = 0;
    for (std::size_t i = 0; i < kNodes; ++i) {
      z[i] = -8.0 + 16.0 * (static_cast<double>(i) + 0.5) / kNodes;
      weight[i] = std::exp(-0.5 * z[i] * z[i]);
      total += weight[i];
    }
    for (double& w : weight) w /= total;
  }
};

// Nodes in units of the sigmoid's argument, over [-28, 28].
struct SigmoidNodes {
  std::array<double, kNodes> eta{};
  std::array<double, kNodes> slope{};    // of the sigmoid, times the spacing
  std::array<double, kNodes> entropy{};  // times the spacing
  SigmoidNodes() noexcept {
    for (std::size_t i = 0; i < kNodes; ++i) {
      constexpr double kSpacing = 56.0 / kNodes;
      eta[i] = kSpacing * (static_cast<double>(i) + 0.5) - 28.0;
      const double p = sigmoid(eta[i]);
      const double q = sigmoid(-eta[i]);
      slope[i] = kSpacing * p * q;
      entropy[i] = -kSpacing * (p * log_sigmoid(eta[i]) + q * log_sigmoid(-eta[i]));
    }
  }
};

const NormalNodes& normal_nodes() noexcept {
  static const NormalNodes nodes;
  return nodes;
}

// Accurate to 1e-8 for s up to about 4: beyond, the sigmoid is too steep for these nodes.
LogitNormalMoments narrow_moments(double m, double s) noexcept {
  const NormalNodes& nodes = normal_nodes();
  std::array<double, 4> sums;
  prediction_kernels().sigmoid_sums(m, s, nodes.z.data(), nodes.weight.data(), kNodes, sums.data());
  return {sums[0], sums[1], sums[2], sums[3]};
}

// Integrates by parts, for larger s: E f(eta) = integral of f'(t) P(eta > t) for f that rises from
// 0 to 1.
LogitNormalMoments wide_moments(double m, double s) noexcept {
  static const SigmoidNodes nodes;
  LogitNormalMoments moments;
  const double density_scale = 1 / (s * std::sqrt(2 * std::numbers::pi));
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double z = (m - nodes.eta[i]) / s;
    const double above = normal_cdf(z);
    const double density = density_scale * std::exp(-0.5 * z * z);
    moments.mean += nodes.slope[i] * above;
    moments.other += nodes.slope[i] * normal_cdf(-z);
    moments.product += nodes.slope[i] * density;
    moments.entropy += nodes.entropy[i] * density;
  }
  return moments;
}

}  // namespace

LogitNormalMoments logit_normal_moments(double m, double s) noexcept {
  constexpr double kNarrow = 4;
  return s <= kNarrow ? narrow_moments(m, s) : wide_moments(m, s);
}

double log_expected_sigmoid(double m, double s) noexcept {
  const NormalNodes& nodes = normal_nodes();
  std::array<double, kNodes> terms;
  double largest = -1e300;
  for (std::size_t i = 0; i < kNodes; ++i) {
    terms[i] = std::log(nodes.weight[i]) + log_sigmoid(m + s * nodes.z[i]);
    largest = std::max(largest, terms[i]);
  }
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

}  // namespace windhover
