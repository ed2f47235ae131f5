// The noise of a normal y, as a mixture of normals of a few variances.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_NOISE_MIXTURE_H_
#define WINDHOVER_RUNTIME_POSTERIOR_NOISE_MIXTURE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Invariant: variances are positive and ascend, weights are positive and add up to 1. The last
// component, or the last two, are of rows that are unlike the others. Without components the noise
// has one variance, the Posterior's dispersion.
struct NoiseMixture {
  static constexpr std::size_t kMost = 6;

  bool any() const noexcept { return components > 0; }
  double mean() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < components; ++i) sum += weight[i] * variance[i];
    return sum;
  }

  // The same as plain numbers, for those who keep an answer.
  static constexpr std::size_t kNumbers = 2 * kMost;
  void write(double* to) const noexcept {
    std::ranges::copy(variance, to);
    std::ranges::copy(weight, to + kMost);
  }
  static NoiseMixture read(const double* from) noexcept {
    NoiseMixture mixture;
    std::copy_n(from, kMost, mixture.variance.begin());
    std::copy_n(from + kMost, kMost, mixture.weight.begin());
    while (mixture.components < kMost && mixture.weight[mixture.components] > 0) {
      ++mixture.components;
    }
    return mixture;
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.value(components);
    if (visitor.restores()) {  // whatever a damaged copy says
      components = std::min<std::uint32_t>(components, kMost);
    }
    visitor.visit(variance.data(), kMost);
    visitor.visit(weight.data(), kMost);
  }

  std::uint32_t components = 0;
  std::array<double, kMost> variance{};
  std::array<double, kMost> weight{};  // 0 beyond the components
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_NOISE_MIXTURE_H_
