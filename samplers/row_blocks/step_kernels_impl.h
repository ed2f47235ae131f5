// The loops of a step before chains move: a part of chain_kernels_impl.h, whose rules hold here.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_KERNELS_IMPL_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_KERNELS_IMPL_H_

#include "windhover/samplers/row_blocks/chain_lanes_impl.h"

// NOLINTBEGIN(misc-definitions-in-headers): each includer is meant to get its own copy.
namespace windhover {
namespace {

void balance(float* normals, std::size_t count, std::uint32_t chains) {
  const auto all = static_cast<float>(chains);
  const float longer = __builtin_sqrtf(all / (all - 1));
  if (chains == kLanes) {
    for (float* row = normals; row < normals + count; row += kLanes) {
      const Floats here = load<true>(row, kLanes);
      store<true>(longer * (here - sums_of(here) / all), row, kLanes);
    }
    return;
  }
  for (float* row = normals; row < normals + count; row += chains) {
    float sum = 0;
    in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
      sum += quick_sum(load<kAll>(row + first, lanes));
    });
    const float mean = sum / all;
    in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
      store<kAll>(longer * (load<kAll>(row + first, lanes) - mean), row + first, lanes);
    });
  }
}

double direction(const float* value, const float* precision, const float* curvature,
                 std::size_t count, float* by) {
  Floats along{};
  for (std::size_t k = 0; k < count; k += kLanes) {
    const Floats of = load<true>(value + k, kLanes);
    const Floats all = load<true>(precision + k, kLanes) + load<true>(curvature + k, kLanes);
    const Floats here = of / all;
    along += of * here;
    store<true>(here, by + k, kLanes);
  }
  return sum(along);
}

StepSums steps(const ColumnSteps& b, std::size_t count, float scale, float importance,
               float dispersion) {
  Floats squares{};
  Floats weights{};
  for (std::size_t k = 0; k < count; k += kLanes) {
    const Floats value = load<true>(b.value + k, kLanes);
    const Floats rows = load<true>(b.rows + k, kLanes);
    const Floats curvature = load<true>(b.curvature + k, kLanes);
    const Floats all = load<true>(b.precision + k, kLanes) + curvature;
    const Floats relative = scale * load<true>(b.length + k, kLanes);
    const Floats step = relative / all;
    const Floats noise_sd = root(step * (2 - relative) * dispersion);
    const Floats repeats = rows * value;
    const Floats scatter = importance * (step * repeats) / noise_sd;
    const Floats informed = curvature / all / rows;
    squares += scatter * scatter;
    weights += informed;
    store<true>(step, b.step + k, kLanes);
    store<true>(noise_sd, b.noise_sd + k, kLanes);
    store<true>(repeats, b.repeats + k, kLanes);
    store<true>(scatter, b.scatter + k, kLanes);
    store<true>(informed, b.informed + k, kLanes);
  }
  return {sum(squares), sum(weights)};
}

// exp(-x) for x in [0, 87]: -x = k ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, and 2^k put
// into the exponent bits.
[[gnu::always_inline]] inline Floats exp_of_negative(Floats x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: the sum's low bits hold k
  const Floats shifted = kRound - x * 1.44269504F;
  const Floats k = shifted - kRound;
  const Floats r = (-x - k * 0.693145752F) - k * 1.42860677e-6F;
  Floats p = Floats{} + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  return reinterpret_cast<Floats>(reinterpret_cast<Words>(p) +
                                  (reinterpret_cast<Words>(shifted) << 23));
}

template <bool kAll>
void logistic_of(const double* eta, double more, float sign, std::uint32_t first,
                 std::uint32_t lanes, float* residual, float* curvature, ChainResponses& sums) {
  constexpr float kMost = 87;
  constexpr float kSmall = 0.25F;
  const Floats x = sign * __builtin_convertvector(load<kAll>(eta + first, lanes) + more, Floats);
  const Floats size = x < 0 ? -x : x;
  const Floats e = exp_of_negative(size < kMost ? size : Floats{} + kMost);
  const Floats larger = 1 / (1 + e);
  const Floats other = x < 0 ? e * larger : larger;
  // tanh(x / 2) / (2 x).
  const Floats square = x * x;
  const Floats near =
      0.25F + square * (-0.25F / 12 + square * (0.25F / 120 - square * (0.25F * 17 / 20160)));
  Floats bent = size < kSmall ? near : (1 - e) * larger / (2 * size);
  Floats said = x == x ? sign * other : x;  // NOLINT(misc-redundant-expression): NaN stays
  if constexpr (!kAll) {
    for (std::uint32_t i = lanes; i < kLanes; ++i) said[i] = bent[i] = 0;
  }
  sums.residual += quick_sum(said);
  sums.curvature += quick_sum(bent);
  store<kAll>(said, residual + first, lanes);
  store<kAll>(bent, curvature + first, lanes);
}

ChainResponses logistic(const double* eta, double more, float sign, std::uint32_t chains,
                        float* residual, float* curvature) {
  ChainResponses sums{0, 0};
  in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
    logistic_of<kAll>(eta, more, sign, first, lanes, residual, curvature, sums);
  });
  return sums;
}

}  // namespace
}  // namespace windhover
// NOLINTEND(misc-definitions-in-headers)

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_KERNELS_IMPL_H_
