#include "windhover/runtime/prediction/count_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace windhover {

namespace {

// Gauss-Legendre quadrature with 32 nodes on -1 to 1: the positive half.
constexpr std::array kLegendreNodes = {
    0.04830766568773831, 0.1444719615827965, 0.23928736225213706, 0.33186860228212767,
    0.42135127613063533, 0.5068999089322294, 0.5877157572407623,  0.6630442669302152,
    0.7321821187402897,  0.7944837959679424, 0.84936761373257,    0.8963211557660522,
    0.9349060759377397,  0.9647622555875064, 0.9856115115452684,  0.9972638618494816};
constexpr std::array kLegendreWeights = {
    0.09654008851472781,  0.09563872007927483,  0.09384439908080457,  0.09117387869576386,
    0.08765209300440391,  0.08331192422694685,  0.07819389578707031,  0.07234579410884845,
    0.06582222277636175,  0.058684093478535704, 0.050998059262376244, 0.042835898022226426,
    0.034273862913021626, 0.025392065309262427, 0.016274394730905965, 0.007018610009469298};

}  // namespace

// Integrates in pieces: between the edges of the density, its shoulders, its maximum, and where Phi
// rises.
double gamma_ratio_cdf(double shape, double r, double alpha, double m, double s) noexcept {
  constexpr double kFall = 36;     // the density's edges lie where it is e^-36 of its maximum
  constexpr double kShoulder = 4;  // where it is e^-4 of it: beyond, it falls at an even rate
  constexpr double kRise = 8;      // Phi rises within so many s of m
  const double top = std::log(shape);
  // The logarithm is taken on the side on which it is small, so that large shapes do not cancel.
  const double log_alpha = std::log(alpha);
  const double side_of_top = log_alpha + top > 0 ? -1 : 1;
  const double slope = side_of_top > 0 ? shape : -r;
  const double spread_at_top = log_spread(side_of_top * (log_alpha + top));
  const auto log_density = [&](double v) {
    return slope * (v - top) -
           (shape + r) * (log_spread(side_of_top * (log_alpha + v)) - spread_at_top);
  };
  const double width = 1 / std::sqrt(shape / (1 + alpha * shape));  // at the top
  const auto edge = [&](double direction, double fall) {
    double outside = width;
    while (log_density(top + direction * outside) > -fall) outside *= 2;
    double inside = 0;
    for (int i = 0; i < 5; ++i) {
      const double middle = 0.5 * (inside + outside);
      (log_density(top + direction * middle) > -fall ? inside : outside) = middle;
    }
    return top + direction * outside;
  };
  const double low = edge(-1, kFall);
  const double high = edge(1, kFall);
  std::array breaks = {low,
                       edge(-1, kShoulder),
                       std::clamp(m - kRise * s, low, high),
                       top,
                       std::clamp(m + kRise * s, low, high),
                       edge(1, kShoulder),
                       high};
  std::sort(breaks.begin(), breaks.end());
  const auto below = [&](double v) {
    const double off = v - m;
    if (std::abs(off) >= kRise * s) return off > 0 ? 1.0 : 0.0;
    return normal_cdf(off / s);
  };
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const double half = 0.5 * (breaks[i + 1] - breaks[i]);
    const double centre = 0.5 * (breaks[i + 1] + breaks[i]);
    if (half <= 0) continue;
    for (std::size_t j = 0; j < kLegendreNodes.size(); ++j) {
      for (const double side : {-half, half}) {
        const double v = centre + side * kLegendreNodes[j];
        const double density = half * kLegendreWeights[j] * std::exp(log_density(v));
        total += density;
        sum += density * below(v);
      }
    }
  }
  return std::min(sum / total, 1.0);
}

}  // namespace windhover
