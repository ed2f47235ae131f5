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

// kVectors registers of rows, which stay there over all columns.
template <std::size_t kVectors>
void gemv_strip(const double* a, std::size_t columns, const double* x, double* y) {
  Doubles s[kVectors] = {};
  for (std::size_t j = 0; j < columns; ++j, a += kVectors * kDoubles) {
    for (std::size_t k = 0; k < kVectors; ++k) s[k] += x[j] * load(a + k * kDoubles);
  }
  for (std::size_t k = 0; k < kVectors; ++k) store(y + k * kDoubles, s[k]);
}

void gemv(const double* a, std::size_t rows, std::size_t columns, const double* x, double* y) {
  static constexpr decltype(&gemv_strip<1>) kStrips[] = {
      gemv_strip<1>, gemv_strip<2>, gemv_strip<3>, gemv_strip<4>,
      gemv_strip<5>, gemv_strip<6>, gemv_strip<7>, gemv_strip<8>};
  // Strips of eight, or of a little less where that makes them alike: a last one of one register
  // would wait for each of its sums.
  std::size_t left = (rows + kDoubles - 1) / kDoubles;
  for (std::size_t strips = (left + 7) / 8; strips > 0; --strips) {
    const std::size_t vectors = (left + strips - 1) / strips;
    kStrips[vectors - 1](a, columns, x, y);
    a += vectors * kDoubles * columns;
    y += vectors * kDoubles;
    left -= vectors;
  }
}

// A tile of kVectors registers by 4 columns stays in registers over a block of rows that stays in
// L1.
constexpr std::size_t kColumns = 4;

template <std::size_t kVectors>
void syrk_tile(const double* x, std::size_t first, std::size_t last, std::size_t width,
               std::size_t column, std::size_t row, double* c) {
  Doubles s[kColumns][kVectors] = {};
  for (std::size_t i = first; i < last; ++i) {
    Doubles v[kVectors];
    for (std::size_t n = 0; n < kVectors; ++n) v[n] = load(x + i * width + row + n * kDoubles);
    for (std::size_t k = 0; k < kColumns; ++k) {
      const double factor = x[i * width + column + k];
      for (std::size_t n = 0; n < kVectors; ++n) s[k][n] += factor * v[n];
    }
  }
  for (std::size_t k = 0; k < kColumns; ++k) {
    for (std::size_t n = 0; n < kVectors; ++n) {
      double* out = c + (column + k) * width + row + n * kDoubles;
      store(out, load(out) + s[k][n]);
    }
  }
}

void syrk(const double* x, std::size_t rows, std::size_t width, double* c) {
  constexpr std::size_t kBlock = 128;
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t last = first + kBlock < rows ? first + kBlock : rows;
    for (std::size_t column = 0; column < width; column += kColumns) {
      std::size_t row = column / kDoubles * kDoubles;
      for (; row + 2 * kDoubles <= width; row += 2 * kDoubles) {
        syrk_tile<2>(x, first, last, width, column, row, c);
      }
      for (; row < width; row += kDoubles) {
        syrk_tile<1>(x, first, last, width, column, row, c);
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
