// Vectors of doubles, and the kernels that need nothing else; the same rules as in kernels_impl.h.
#ifndef WINDHOVER_SAMPLERS_KERNELS_KERNELS_VECTOR_IMPL_H_
#define WINDHOVER_SAMPLERS_KERNELS_KERNELS_VECTOR_IMPL_H_

#include <cstddef>
#include <type_traits>

namespace windhover {
namespace {

using Vector = double __attribute__((vector_size(32)));
using Integers = unsigned long long __attribute__((vector_size(32)));
using Unaligned = double __attribute__((vector_size(32), aligned(8)));
constexpr std::size_t kLanes = 4;

inline Vector load(const double* p) { return *reinterpret_cast<const Unaligned*>(p); }
inline void store(double* p, Vector v) { *reinterpret_cast<Unaligned*>(p) = v; }
inline Vector broadcast(double x) { return Vector{x, x, x, x}; }
inline double sum(Vector v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// The vector for long rows, as wide as the registers of the instruction set.
#ifdef __AVX512F__
using Wide = double __attribute__((vector_size(64)));
using UnalignedWide = double __attribute__((vector_size(64), aligned(8)));
using WideIntegers = unsigned long long __attribute__((vector_size(64)));
constexpr std::size_t kWideLanes = 8;
inline Wide load_wide(const double* p) { return *reinterpret_cast<const UnalignedWide*>(p); }
inline void store_wide(double* p, Wide v) { *reinterpret_cast<UnalignedWide*>(p) = v; }
inline Wide broadcast_wide(double x) { return Wide{x, x, x, x, x, x, x, x}; }
inline Vector fold(Wide v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
#else
using Wide = Vector;
using WideIntegers = Integers;
constexpr std::size_t kWideLanes = kLanes;
inline Wide load_wide(const double* p) { return load(p); }
inline void store_wide(double* p, Wide v) { store(p, v); }
inline Wide broadcast_wide(double x) { return broadcast(x); }
inline Vector fold(Wide v) { return v; }
#endif

// The lane sums of four vectors, as one vector.
inline Vector transpose_sum(Vector a, Vector b, Vector c, Vector d) {
  const Vector ab =
      __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Vector cd =
      __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

// The integer vector of a vector type's shape, for code that serves both types.
template <class V>
using BitsOf = std::conditional_t<sizeof(V) == sizeof(Vector), Integers, WideIntegers>;
template <class V>
constexpr std::size_t lanes() {
  return sizeof(V) / sizeof(double);
}
template <class V>
inline V load_as(const double* p) {
  if constexpr (lanes<V>() == kLanes) {
    return load(p);
  } else {
    return load_wide(p);
  }
}
template <class V>
inline void store_as(double* p, V v) {
  if constexpr (lanes<V>() == kLanes) {
    store(p, v);
  } else {
    store_wide(p, v);
  }
}
template <class V>
inline V broadcast_as(double x) {
  if constexpr (lanes<V>() == kLanes) {
    return broadcast(x);
  } else {
    return broadcast_wide(x);
  }
}

// exp(x) for x in [-708, 0]: x = k ln 2 + r with |r| <= ln 2 / 2, a Taylor polynomial of degree 13
// in r (truncation below 1e-17 relative), and 2^k put into the exponent bits.
template <class V>
inline V exp_nonpositive(V x) {
  using Bits = BitsOf<V>;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: the sum's low bits hold k
  const V shifted = x * 1.4426950408889634 + kRound;
  const V k = shifted - kRound;
  const V r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  V p = broadcast_as<V>(1.0 / 6227020800.0);
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const Bits exponent = reinterpret_cast<Bits>(shifted) << 52;
  return reinterpret_cast<V>(reinterpret_cast<Bits>(p) + exponent);
}

template <class V>
inline V sigmoid_vector(V x) {
  using Bits = BitsOf<V>;
  const Bits sign = reinterpret_cast<Bits>(x) & (1ULL << 63);
  V negative = reinterpret_cast<V>(reinterpret_cast<Bits>(x) | (1ULL << 63));  // -|x|
  negative = negative < -708.0 ? broadcast_as<V>(-708.0) : negative;
  const V e = exp_nonpositive(negative);
  const V denominator = 1.0 / (1.0 + e);
  const V p = sign == 0 ? denominator : e * denominator;
  // The exponent arithmetic can turn a NaN's payload into a number.
  return x == x ? p : x;  // NOLINT(misc-redundant-expression)
}

template <class V>
inline V square_root(V x) {
  V root;
  for (std::size_t k = 0; k < lanes<V>(); ++k) root[k] = __builtin_sqrt(x[k]);
  return root;
}

template <class V>
inline V normal_mixture_vector(V square, V added, const double* variances, const double* weights,
                               std::size_t components) {
  V density{};
  for (std::size_t j = 0; j < components; ++j) {
    const V precision = 1.0 / (variances[j] + added);
    const V exponent = -0.5 * square * precision;
    const V term = weights[j] * square_root(precision) * exp_nonpositive(exponent);
    // exp_nonpositive() is not defined there; a NaN is passed on.
    density += exponent < -708.0      ? V{}
               : exponent == exponent ? term
                                      : exponent;  // NOLINT(misc-redundant-expression)
  }
  return density;
}

}  // namespace
}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_KERNELS_KERNELS_VECTOR_IMPL_H_
