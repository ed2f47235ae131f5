// Vectors of numbers, one a chain or a column: a part of chain_kernels_impl.h, whose rules hold.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_LANES_IMPL_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_LANES_IMPL_H_

#include "windhover/samplers/row_blocks/chain_kernels.h"

// NOLINTBEGIN(misc-definitions-in-headers): each includer is meant to get its own copy.
namespace windhover {
namespace {

// Where the last chains do not fill the lanes, the rest of the lanes are 0.
constexpr std::uint32_t kLanes = kChainLanes;
static_assert(kColumnLanes == kLanes);
using Floats [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Doubles [[gnu::vector_size(kLanes * sizeof(double))]] = double;
using Words [[gnu::vector_size(kLanes * sizeof(std::uint32_t))]] = std::uint32_t;

template <bool kAll>
[[gnu::always_inline]] inline Floats load(const float* from, std::uint32_t lanes) {
  Floats out{};
  if constexpr (kAll) {
    __builtin_memcpy(&out, from, sizeof(out));
  } else {
    for (std::uint32_t i = 0; i < lanes; ++i) out[i] = from[i];
  }
  return out;
}

template <bool kAll>
[[gnu::always_inline]] inline Doubles load(const double* from, std::uint32_t lanes) {
  Doubles out{};
  if constexpr (kAll) {
    __builtin_memcpy(&out, from, sizeof(out));
  } else {
    for (std::uint32_t i = 0; i < lanes; ++i) out[i] = from[i];
  }
  return out;
}

template <bool kAll, class Number, class Vector>
[[gnu::always_inline]] inline void store(Vector numbers, Number* to, std::uint32_t lanes) {
  if constexpr (kAll) {
    __builtin_memcpy(to, &numbers, sizeof(numbers));
  } else {
    for (std::uint32_t i = 0; i < lanes; ++i) to[i] = numbers[i];
  }
}

[[gnu::always_inline]] inline double sum(Floats numbers) {
  const Doubles wide = __builtin_convertvector(numbers, Doubles);
  double total = 0;
  for (std::uint32_t i = 0; i < kLanes; ++i) total += wide[i];
  return total;
}

[[gnu::always_inline]] inline Floats root(Floats numbers) {
  for (std::uint32_t i = 0; i < kLanes; ++i) numbers[i] = __builtin_sqrtf(numbers[i]);
  return numbers;
}

// Each lane gets the number of the next one, and the last lane that of the first.
template <bool kAll>
[[gnu::always_inline]] inline Floats next(Floats numbers, std::uint32_t lanes) {
  if constexpr (kAll) {
    return __builtin_shufflevector(numbers, numbers, 1, 2, 3, 4, 5, 6, 7, 0);
  } else {
    Floats out{};
    for (std::uint32_t i = 0; i < lanes; ++i) out[i] = numbers[i + 1 < lanes ? i + 1 : 0];
    return out;
  }
}

// The sum, in each lane.
[[gnu::always_inline]] inline Floats sums_of(Floats numbers) {
  numbers += __builtin_shufflevector(numbers, numbers, 4, 5, 6, 7, 0, 1, 2, 3);
  numbers += __builtin_shufflevector(numbers, numbers, 2, 3, 0, 1, 6, 7, 4, 5);
  return numbers + __builtin_shufflevector(numbers, numbers, 1, 0, 3, 2, 5, 4, 7, 6);
}

[[gnu::always_inline]] inline float quick_sum(Floats numbers) { return sums_of(numbers)[0]; }

// Calls use<all>(first, lanes) for groups of at most kLanes chains; `all`: the group is full.
template <class Use>
[[gnu::always_inline]] inline void in_lanes(std::uint32_t chains, const Use& use) {
  std::uint32_t first = 0;
  for (; first + kLanes <= chains; first += kLanes) use.template operator()<true>(first, kLanes);
  if (first < chains) use.template operator()<false>(first, chains - first);
}

}  // namespace
}  // namespace windhover
// NOLINTEND(misc-definitions-in-headers)

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_LANES_IMPL_H_
