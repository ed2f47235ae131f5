// Normals in single precision: a part of chain_kernels_impl.h, whose rules hold here.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_NORMALS_IMPL_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_NORMALS_IMPL_H_

#include "windhover/samplers/row_blocks/chain_kernels.h"

// NOLINTBEGIN(misc-definitions-in-headers): each includer is meant to get its own copy.
namespace windhover {
namespace {

[[gnu::always_inline]] inline float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
[[gnu::always_inline]] inline std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}

// log u for u in (0, 1]: u = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s) with
// s = (m - 1) / (m + 1) by its series.
[[gnu::always_inline]] inline float log_of(float u) {
  constexpr std::uint32_t kSqrtHalf = 0x3F3504F3;
  constexpr std::uint32_t kOne = 0x3F800000;
  const std::uint32_t shifted = bits_of(u) - kSqrtHalf + kOne;
  const float e = static_cast<float>(static_cast<std::int32_t>(shifted >> 23) - 127);
  const float m = float_of(bits_of(u) - (shifted & 0x7F800000) + kOne);
  const float s = (m - 1.0F) / (m + 1.0F);
  const float z = s * s;
  const float log_m = s * (2.0F + z * (2.0F / 3 + z * (2.0F / 5 + z * (2.0F / 7))));
  return e * 0x1.62e43p-1F + log_m;
}

// The radius from the first word, the angle from the second: the angle is (q + f) quarter turns, q
// its two top bits and f in [-1/2, 1/2) the rest.
[[gnu::always_inline]] inline void normal_pair(std::uint32_t first, std::uint32_t second,
                                               float& one, float& other) {
  const auto high = static_cast<float>(static_cast<std::int32_t>(first >> 16));
  const auto low = static_cast<float>(static_cast<std::int32_t>(first & 0xFFFF));
  const float u = high * 0x1p-16F + (low + 0.5F) * 0x1p-32F;
  const float log_u = log_of(u);
  const float radius = __builtin_sqrtf(log_u < 0 ? -2.0F * log_u : 0.0F);
  const auto f = static_cast<float>(static_cast<std::int32_t>(second << 2)) * 0x1p-32F;
  const float x = f * 0x1.921fb6p+0F;
  const float z = x * x;
  const float sine = x + x * (z * (-1.0F / 6 + z * (1.0F / 120 + z * (-1.0F / 5040))));
  const float cosine =
      1.0F + z * (-0.5F + z * (1.0F / 24 + z * (-1.0F / 720 + z * (1.0F / 40320))));
  const std::uint32_t quadrant = second >> 30;
  // Each further quarter turn takes (cos, sin) to (-sin, cos).
  const std::uint32_t swap = 0U - (quadrant & 1);
  const std::uint32_t changed = (bits_of(sine) ^ bits_of(cosine)) & swap;
  one = radius * float_of(bits_of(cosine) ^ changed ^ (((quadrant + 1) & 2) << 30));
  other = radius * float_of(bits_of(sine) ^ changed ^ ((quadrant & 2) << 30));
}

constexpr std::size_t kPairs = kChainNormals / 2;

#if defined(__AVX512F__)
// Makes 2 kChainNormals normals at a time: as many pairs as a register holds.
[[gnu::always_inline]] inline void many_normals(const std::uint32_t* bits, float* out) {
  using WideWords [[gnu::vector_size(kChainNormals * sizeof(std::uint32_t))]] = std::uint32_t;
  using WideFloats [[gnu::vector_size(kChainNormals * sizeof(float))]] = float;
  const auto low = [](auto a, auto b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  };
  const auto high = [](auto a, auto b) {
    return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
  };
  WideWords words[2];
  __builtin_memcpy(words, bits, sizeof(words));
  const WideWords first = low(words[0], words[1]);
  const WideWords second = high(words[0], words[1]);
  WideFloats one;
  WideFloats other;
  for (std::size_t i = 0; i < kChainNormals; ++i) {
    float here = 0;
    float there = 0;
    normal_pair(first[i], second[i], here, there);
    one[i] = here;
    other[i] = there;
  }
  const WideFloats numbers[2] = {low(one, other), high(one, other)};
  __builtin_memcpy(out, numbers, sizeof(numbers));
}
#endif

void normals(const std::uint32_t* bits, std::size_t count, float* out) {
#if defined(__AVX512F__)
  constexpr std::size_t kMany = 2 * kChainNormals;
  for (; count >= kMany; count -= kMany, bits += kMany, out += kMany) many_normals(bits, out);
#endif
  for (; count > 0; count -= kChainNormals, bits += kChainNormals, out += kChainNormals) {
    std::uint32_t words[kChainNormals];
    __builtin_memcpy(words, bits, sizeof(words));
    float numbers[kChainNormals];
    for (std::size_t i = 0; i < kPairs; ++i) {
      normal_pair(words[i], words[kPairs + i], numbers[i], numbers[kPairs + i]);
    }
    __builtin_memcpy(out, numbers, sizeof(numbers));
  }
}

}  // namespace
}  // namespace windhover
// NOLINTEND(misc-definitions-in-headers)

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_NORMALS_IMPL_H_
