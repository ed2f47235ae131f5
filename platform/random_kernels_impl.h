#ifndef WINDHOVER_PLATFORM_RANDOM_KERNELS_IMPL_H_
#define WINDHOVER_PLATFORM_RANDOM_KERNELS_IMPL_H_

#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "windhover/platform/random_kernels.h"

// The one source of all random kernels, included by random_kernels_{baseline,avx2,avx512}.cc.
// Everything has internal linkage (see random_kernels.h). Loops run over the lanes of plain arrays
// and have no branches, so that the compiler turns them into vectors of whatever width it is given.
//
// Equal bits everywhere: each lane goes through the same IEEE operations in the same order, no lane
// looks at another, there is no call into libm, and these files are compiled with
// -ffp-contract=off, or the compiler would fuse multiplications and additions where the instruction
// set has FMA.

// NOLINTBEGIN(misc-definitions-in-headers): each includer is meant to get its own copy.
namespace windhover::random_kernels {
namespace {

// The vector of 64-bit lanes of the instruction set at hand, and the one operation on it that needs
// a name: the 64-bit product of the lower halves of each lane. (From plain C++, g++ 12 makes the
// full 64-bit product, three times as slow. The intrinsics are always inlined, so none of their
// code is shared.)
#if defined(__AVX512F__)
using Vector [[gnu::vector_size(64), gnu::may_alias]] = std::uint64_t;
[[gnu::always_inline]] inline Vector multiply_low(Vector a, Vector b) {
  return reinterpret_cast<Vector>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#elif defined(__AVX2__)
using Vector [[gnu::vector_size(32), gnu::may_alias]] = std::uint64_t;
[[gnu::always_inline]] inline Vector multiply_low(Vector a, Vector b) {
  return reinterpret_cast<Vector>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#elif defined(__SSE2__)
using Vector [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
[[gnu::always_inline]] inline Vector multiply_low(Vector a, Vector b) {
  return reinterpret_cast<Vector>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
#else
using Vector [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
[[gnu::always_inline]] inline Vector multiply_low(Vector a, Vector b) {
  return (a & 0xffffffffu) * (b & 0xffffffffu);
}
#endif
constexpr std::size_t kLanes = sizeof(Vector) / sizeof(std::uint64_t);

// A tile is the unit of work: 8 blocks, one AVX-512 vector of 64-bit lanes. A short span costs as
// much as a whole tile.
constexpr std::size_t kBlocks = 8;
constexpr std::size_t kWords = 4 * kBlocks;
constexpr std::size_t kDoubles = 2 * kBlocks;
constexpr std::size_t kVectors = kBlocks / kLanes;

// Words 0 and 1, and words 2 and 3, of each block, each pair as one integer, the earlier word low.
struct Tile {
  alignas(64) std::uint64_t first[kBlocks];
  alignas(64) std::uint64_t second[kBlocks];
};

// Philox4x32-10 (Salmon et al. 2011, section 3.3). Each 64-bit lane holds one 32-bit word, because
// processors multiply 32 by 32 bits to 64 that way. The upper half of a lane may hold anything:
// neither multiply_low nor the last line looks at it. Each round waits for the one before, so
// several tiles are computed side by side.
template <std::size_t kTiles>
[[gnu::always_inline]] inline void fill_tiles(const Start& start, std::uint32_t block,
                                              Tile (&tiles)[kTiles]) {
  constexpr Vector kZero{};
  constexpr std::size_t kAll = kTiles * kVectors;
  const Vector multiplier0 = kZero + 0xD2511F53u;
  const Vector multiplier1 = kZero + 0xCD9E8D57u;
  Vector x0[kAll];
  Vector x1[kAll];
  Vector x2[kAll];
  Vector x3[kAll];
  for (std::size_t v = 0; v < kAll; ++v) {
    x0[v] = kZero + start.counter[0];
    x1[v] = kZero + start.counter[1];
    x2[v] = kZero + start.counter[2];
    Vector blocks{};
    for (std::size_t i = 0; i < kLanes; ++i) {
      blocks[i] = block + static_cast<std::uint32_t>(kLanes * v + i);
    }
    x3[v] = blocks;
  }
#pragma GCC unroll 10
  for (std::uint32_t number = 0; number < 10; ++number) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kAll; ++v) {
      const Vector product0 = multiply_low(x0[v], multiplier0);
      const Vector product1 = multiply_low(x2[v], multiplier1);
      x0[v] = (product1 >> 32) ^ x1[v] ^ (kZero + (start.key[0] + number * 0x9E3779B9u));
      x2[v] = (product0 >> 32) ^ x3[v] ^ (kZero + (start.key[1] + number * 0xBB67AE85u));
      x1[v] = product1;
      x3[v] = product0;
    }
  }
  const Vector low_half = kZero + 0xffffffffu;
  for (std::size_t v = 0; v < kAll; ++v) {
    Tile& tile = tiles[v / kVectors];
    const std::size_t at = kLanes * (v % kVectors);
    *reinterpret_cast<Vector*>(tile.first + at) = (x0[v] & low_half) | (x1[v] << 32);
    *reinterpret_cast<Vector*>(tile.second + at) = (x2[v] & low_half) | (x3[v] << 32);
  }
}

// Writes a tile in the order of the stream: block by block.
[[gnu::always_inline]] inline void interleave(const Tile& tile, std::uint32_t* out) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::uint64_t pairs[2 * kBlocks];
  for (std::size_t i = 0; i < kBlocks; ++i) {
    pairs[2 * i] = tile.first[i];
    pairs[2 * i + 1] = tile.second[i];
  }
  __builtin_memcpy(out, pairs, sizeof(pairs));
}

[[gnu::always_inline]] inline std::uint64_t bits_of(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
[[gnu::always_inline]] inline double double_of(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

constexpr std::uint64_t kOne = 0x3FF0'0000'0000'0000;  // bits of 1.0

// (k + 1/2) / 2^52, exactly: k becomes the mantissa of a number in [1, 2), from which 1 - 2^-53 is
// taken.
[[gnu::always_inline]] inline double open_uniform(std::uint64_t k) {
  return double_of(kOne | k) - (1.0 - 0x1p-53);
}

// log(u) for u in (0, 1), normal: u = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s)
// with s = (m - 1) / (m + 1), |s| < 0.1716, by its series; the first term left out is below 2^-57
// of the sum. m - 1 is exact, so the result stays accurate in relative terms as u nears 1.
[[gnu::always_inline]] inline double log_of(double u) {
  constexpr std::uint64_t kSqrtHalf = 0x3FE6'A09E'667F'3BCD;
  const std::uint64_t shifted = bits_of(u) - kSqrtHalf + kOne;
  const double m =
      double_of((bits_of(u) & 0x000F'FFFF'FFFF'FFFF) |
                ((bits_of(u) - (shifted & 0x7FF0'0000'0000'0000) + kOne) & 0x7FF0'0000'0000'0000));
  // The biased exponent as a double, by way of the mantissa of a number near 2^52.
  const double e = double_of(0x4330'0000'0000'0000 | (shifted >> 52)) - (0x1p52 + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double w = z * z;
  const double even = 2.0 / 3 + w * (2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19))));
  const double odd = 2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21))));
  const double tail = s * (z * (even + z * odd));
  // ln 2 in two parts: e times the first, which ends in zeros, is exact.
  constexpr double kLn2High = 0x1.62e42fefap-1;
  constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  return e * kLn2High + (2.0 * s + (tail + e * kLn2Low));
}

// sin x and cos x for |x| <= pi / 4 by their series; the first terms left out are below 2^-53 of
// the sums.
[[gnu::always_inline]] inline double sin_of(double x) {
  const double z = x * x;
  const double w = z * z;
  const double even =
      -1.0 / 6 + w * (-1.0 / 5040 + w * (-1.0 / 39916800 + w * (-1.0 / 1307674368000)));
  const double odd =
      1.0 / 120 + w * (1.0 / 362880 + w * (1.0 / 6227020800 + w * (1.0 / 355687428096000)));
  return x + x * (z * (even + z * odd));
}
[[gnu::always_inline]] inline double cos_of(double x) {
  const double z = x * x;
  const double w = z * z;
  const double even = -1.0 / 2 + w * (-1.0 / 720 + w * (-1.0 / 3628800 + w * (-1.0 / 87178291200)));
  const double odd =
      1.0 / 24 + w * (1.0 / 40320 + w * (1.0 / 479001600 + w * (1.0 / 20922789888000)));
  return 1.0 + z * (even + z * odd);
}

// Box and Muller: radius from words 0 and 1, angle from words 2 and 3. The angle is (q + f) quarter
// turns, q its two top bits and f in (-1/2, 1/2) the rest, so that reducing it to one quadrant is
// exact.
[[gnu::always_inline]] inline void normals_of(const Tile& tile, double* out) {
  alignas(64) double first[kBlocks];
  alignas(64) double second[kBlocks];
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const double u = open_uniform(tile.first[i] >> 12);
    const double radius = __builtin_sqrt(-2.0 * log_of(u));

    const std::uint64_t k = tile.second[i] >> 12;
    const std::uint64_t quadrant = k >> 50;
    const double f = open_uniform(k << 2 & 0x000F'FFFF'FFFF'FFFF) - (0.5 - 0x1.8p-52);
    constexpr double kHalfPi = 0x1.921fb54442d18p+0;
    const double x = f * kHalfPi;
    const std::uint64_t sine = bits_of(sin_of(x));
    const std::uint64_t cosine = bits_of(cos_of(x));

    // Each further quarter turn takes (cos, sin) to (-sin, cos).
    const std::uint64_t swap = std::uint64_t{0} - (quadrant & 1);
    const std::uint64_t changed = (sine ^ cosine) & swap;
    const std::uint64_t cosine_sign = ((quadrant + 1) & 2) << 62;
    const std::uint64_t sine_sign = (quadrant & 2) << 62;
    first[i] = radius * double_of(cosine ^ changed ^ cosine_sign);
    second[i] = radius * double_of(sine ^ changed ^ sine_sign);
  }
  for (std::size_t i = 0; i < kBlocks; ++i) {
    out[2 * i] = first[i];
    out[2 * i + 1] = second[i];
  }
}

[[gnu::always_inline]] inline void uniforms_of(const Tile& tile, double* out) {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    out[2 * i] = open_uniform(tile.first[i] >> 12);
    out[2 * i + 1] = open_uniform(tile.second[i] >> 12);
  }
}

// Maps both words of each pair from [0, 2^32) to [0, bound).
[[gnu::always_inline]] inline void scale(std::uint64_t (&pairs)[kBlocks], std::uint32_t bound) {
  const Vector factor = Vector{} + bound;
  const Vector high_half = Vector{} + 0xffffffff00000000u;
  for (std::size_t v = 0; v < kVectors; ++v) {
    auto& pair = *reinterpret_cast<Vector*>(pairs + kLanes * v);
    pair = (multiply_low(pair, factor) >> 32) | (multiply_low(pair >> 32, factor) & high_half);
  }
}

// Runs `convert(tile, target)` tile by tile; the last, partial one goes through a buffer.
template <std::size_t kPerTile, class T, class Convert>
[[gnu::always_inline]] inline void for_tiles(const Start& start, T* out, std::size_t count,
                                             Convert convert) {
  std::uint32_t block = start.block;
  constexpr std::size_t kTogether = kBlocks == kLanes ? 4 : 1;
  Tile tiles[kTogether];
  for (; count >= kTogether * kPerTile; count -= kTogether * kPerTile) {
    fill_tiles(start, block, tiles);
    for (Tile& tile : tiles) {
      convert(tile, out);
      out += kPerTile;
    }
    block += static_cast<std::uint32_t>(kTogether * kBlocks);
  }
  Tile tile[1];
  for (; count >= kPerTile; count -= kPerTile, out += kPerTile, block += kBlocks) {
    fill_tiles(start, block, tile);
    convert(tile[0], out);
  }
  if (count == 0) return;
  alignas(64) T buffer[kPerTile];
  fill_tiles(start, block, tile);
  convert(tile[0], buffer);
  __builtin_memcpy(out, buffer, count * sizeof(T));
}

void bits(const Start& start, std::uint32_t* out, std::size_t count) noexcept {
  for_tiles<kWords>(start, out, count,
                    [](const Tile& tile, std::uint32_t* target) { interleave(tile, target); });
}

void indices(const Start& start, std::uint32_t bound, std::uint32_t* out,
             std::size_t count) noexcept {
  for_tiles<kWords>(start, out, count, [bound](Tile& tile, std::uint32_t* target) {
    scale(tile.first, bound);
    scale(tile.second, bound);
    interleave(tile, target);
  });
}

void uniforms(const Start& start, double* out, std::size_t count) noexcept {
  for_tiles<kDoubles>(start, out, count,
                      [](const Tile& tile, double* target) { uniforms_of(tile, target); });
}

void normals(const Start& start, double* out, std::size_t count) noexcept {
  for_tiles<kDoubles>(start, out, count,
                      [](const Tile& tile, double* target) { normals_of(tile, target); });
}

}  // namespace
}  // namespace windhover::random_kernels
// NOLINTEND(misc-definitions-in-headers)

#endif  // WINDHOVER_PLATFORM_RANDOM_KERNELS_IMPL_H_
