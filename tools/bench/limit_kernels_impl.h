// Body of the limits; included once by each limit_kernels_<instruction set>.cc with
// WINDHOVER_LIMIT_KERNELS set to the table's name and WINDHOVER_VECTOR_BYTES to the width of its
// registers. Everything here has internal linkage.
#ifndef WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_IMPL_H_
#define WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_IMPL_H_

#include "windhover/tools/bench/limit_kernels.h"

namespace windhover {
namespace {

using Doubles = double __attribute__((vector_size(WINDHOVER_VECTOR_BYTES)));
using LooseDoubles = double __attribute__((vector_size(WINDHOVER_VECTOR_BYTES), aligned(8)));
using Floats = float __attribute__((vector_size(WINDHOVER_VECTOR_BYTES)));
constexpr std::size_t kDoubles = WINDHOVER_VECTOR_BYTES / sizeof(double);
constexpr std::size_t kFloats = WINDHOVER_VECTOR_BYTES / sizeof(float);
constexpr std::size_t kChains = 12;  // independent sums: latency times throughput, and some more

inline Doubles load(const double* p) { return *reinterpret_cast<const LooseDoubles*>(p); }
inline void store(double* p, Doubles v) { *reinterpret_cast<LooseDoubles*>(p) = v; }
inline double sum(Doubles v) {
  double total = 0;
  for (std::size_t i = 0; i < kDoubles; ++i) total += v[i];
  return total;
}

double read(const double* data, std::size_t count) {
  Doubles s[8] = {};
  for (std::size_t i = 0; i < count; i += 8 * kDoubles) {
    for (std::size_t k = 0; k < 8; ++k) s[k] += load(data + i + k * kDoubles);
  }
  return sum((s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7])));
}

template <class Vector, class Number>
Number multiply_add(std::size_t rounds, Number factor, Number term) {
  Vector a[kChains];
  for (std::size_t k = 0; k < kChains; ++k) a[k] = Vector{} + static_cast<Number>(k);
  for (std::size_t i = 0; i < rounds; ++i) {
    for (std::size_t k = 0; k < kChains; ++k) a[k] = a[k] * factor + term;
  }
  Vector total{};
  for (std::size_t k = 0; k < kChains; ++k) total += a[k];
  return total[0];
}

void gemv(const double* a, std::size_t rows, std::size_t columns, const double* x, double* y) {
  const std::size_t whole = columns / kDoubles * kDoubles;
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const double* r0 = a + i * columns;
    const double* r1 = r0 + columns;
    const double* r2 = r1 + columns;
    const double* r3 = r2 + columns;
    Doubles s0{}, s1{}, s2{}, s3{};
    for (std::size_t j = 0; j < whole; j += kDoubles) {
      const Doubles v = load(x + j);
      s0 += v * load(r0 + j);
      s1 += v * load(r1 + j);
      s2 += v * load(r2 + j);
      s3 += v * load(r3 + j);
    }
    y[i] = sum(s0);
    y[i + 1] = sum(s1);
    y[i + 2] = sum(s2);
    y[i + 3] = sum(s3);
  }
  for (; i < rows; ++i) {
    Doubles s{};
    for (std::size_t j = 0; j < whole; j += kDoubles) s += load(x + j) * load(a + i * columns + j);
    y[i] = sum(s);
  }
}

// A tile of 2 vectors by 4 columns stays in registers over a block of rows that stays in L1.
void syrk(const double* x, std::size_t rows, std::size_t width, double* c) {
  constexpr std::size_t kColumns = 4;
  constexpr std::size_t kTile = 2 * kDoubles;
  constexpr std::size_t kBlock = 128;
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t last = first + kBlock < rows ? first + kBlock : rows;
    for (std::size_t column = 0; column < width; column += kColumns) {
      for (std::size_t row = column / kTile * kTile; row < width; row += kTile) {
        Doubles s[kColumns][2] = {};
        for (std::size_t i = first; i < last; ++i) {
          const Doubles low = load(x + i * width + row);
          const Doubles high = load(x + i * width + row + kDoubles);
          for (std::size_t k = 0; k < kColumns; ++k) {
            const double factor = x[i * width + column + k];
            s[k][0] += factor * low;
            s[k][1] += factor * high;
          }
        }
        for (std::size_t k = 0; k < kColumns; ++k) {
          double* out = c + (column + k) * width + row;
          store(out, load(out) + s[k][0]);
          store(out + kDoubles, load(out + kDoubles) + s[k][1]);
        }
      }
    }
  }
}

}  // namespace

const LimitKernels WINDHOVER_LIMIT_KERNELS = {read,
                                              multiply_add<Doubles, double>,
                                              2 * kChains* kDoubles,
                                              multiply_add<Floats, float>,
                                              2 * kChains* kFloats,
                                              gemv,
                                              syrk};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_IMPL_H_
