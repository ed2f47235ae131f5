// The body of the limits, included once by each limit_kernels_<instruction set>.cc with
// WINDHOVER_LIMIT_KERNELS set to the name of the table and WINDHOVER_VECTOR_BYTES to the width of
// the registers. Everything here has internal linkage.
#ifndef WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_IMPL_H_
#define WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_IMPL_H_

#include <utility>

#include "windhover/tools/bench/limit_kernels.h"

namespace windhover {
namespace {

using Doubles = double __attribute__((vector_size(WINDHOVER_VECTOR_BYTES)));
using LooseDoubles = double __attribute__((vector_size(WINDHOVER_VECTOR_BYTES), aligned(8)));
using Floats = float __attribute__((vector_size(WINDHOVER_VECTOR_BYTES)));
constexpr std::size_t kDoubles = WINDHOVER_VECTOR_BYTES / sizeof(double);
constexpr std::size_t kFloats = WINDHOVER_VECTOR_BYTES / sizeof(float);
constexpr std::size_t kChains = 12;  // independent sums, more than latency times throughput

inline Doubles load(const double* p) { return *reinterpret_cast<const LooseDoubles*>(p); }
inline void store(double* p, Doubles v) { *reinterpret_cast<LooseDoubles*>(p) = v; }
inline double sum(Doubles v) {
  double total = 0;
  for (std::size_t i = 0; i < kDoubles; ++i) total += v[i];
  return total;
}

double read(const double* data, std::size_t count) {
  Doubles s[8] = {};  // unrolled
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

// Sums are indexed by constants of an index sequence: sums that a loop variable indexes may be kept
// in memory.

// gemv over one strip: registers of rows, one for each of kVector, which hold their sums over all
// columns.
template <std::size_t... kVector>
void gemv_strip(const double* a, std::size_t columns, const double* x, double* y,
                std::index_sequence<kVector...>) {
  Doubles s[sizeof...(kVector)] = {((void)kVector, Doubles{})...};
  for (std::size_t j = 0; j < columns; ++j, a += sizeof...(kVector) * kDoubles) {
    ((s[kVector] += x[j] * load(a + kVector * kDoubles)), ...);
  }
  (store(y + kVector * kDoubles, s[kVector]), ...);
}

template <std::size_t kVectors>
void gemv_strip(const double* a, std::size_t columns, const double* x, double* y) {
  gemv_strip(a, columns, x, y, std::make_index_sequence<kVectors>());
}

void gemv(const double* a, std::size_t rows, std::size_t columns, const double* x, double* y) {
  using Strip = void (*)(const double*, std::size_t, const double*, double*);
  static constexpr Strip kStrips[] = {gemv_strip<1>, gemv_strip<2>, gemv_strip<3>, gemv_strip<4>,
                                      gemv_strip<5>, gemv_strip<6>, gemv_strip<7>, gemv_strip<8>};
  // Strips of eight registers, or of a little less where that makes them alike: a last strip of one
  // register would wait for each of its sums.
  std::size_t left = (rows + kDoubles - 1) / kDoubles;
  for (std::size_t strips = (left + 7) / 8; strips > 0; --strips) {
    const std::size_t vectors = (left + strips - 1) / strips;
    kStrips[vectors - 1](a, columns, x, y);
    a += vectors * kDoubles * columns;
    y += vectors * kDoubles;
    left -= vectors;
  }
}

// A tile of kVectors registers by kColumns columns stays in registers over a block of rows that
// stays in L1. A tile of few sums has several sets of them, for rows in turn, because each sum
// would otherwise wait for the one before.
template <std::size_t kColumns, std::size_t kVectors>
struct SyrkTile {
  static constexpr std::size_t kTile = kColumns * kVectors;
  static constexpr std::size_t kSets = kTile >= 8 ? 1 : 8 / kTile;

  template <std::size_t... kSum>
  static void run(const double* x, std::size_t rows, std::size_t width, std::size_t column,
                  std::size_t row, double* c, std::index_sequence<kSum...>) {
    Doubles s[kSets * kTile] = {((void)kSum, Doubles{})...};
    std::size_t i = 0;
    for (; i + kSets <= rows; i += kSets, x += kSets * width) {
      ((s[kSum] += x[kSum / kTile * width + column + kSum % kTile / kVectors] *
                   load(x + kSum / kTile * width + row + kSum % kVectors * kDoubles)),
       ...);
    }
    for (; i < rows; ++i, x += width) {
      ((kSum < kTile ? (void)(s[kSum] += x[column + kSum % kTile / kVectors] *
                                         load(x + row + kSum % kVectors * kDoubles))
                     : (void)0),
       ...);
    }
    (add(c + (column + kSum % kTile / kVectors) * width + row + kSum % kVectors * kDoubles,
         s[kSum]),
     ...);
  }
  static void add(double* c, Doubles sum) { store(c, load(c) + sum); }

  static void run(const double* x, std::size_t rows, std::size_t width, std::size_t column,
                  std::size_t row, double* c) {
    run(x, rows, width, column, row, c, std::make_index_sequence<kSets * kTile>());
  }
};

// kColumns columns, from the diagonal down to row `columns`.
template <std::size_t kColumns>
void syrk_columns(const double* x, std::size_t rows, std::size_t columns, std::size_t width,
                  std::size_t column, double* c) {
  std::size_t row = column / kDoubles * kDoubles;
  for (; row + kDoubles < columns; row += 2 * kDoubles) {
    SyrkTile<kColumns, 2>::run(x, rows, width, column, row, c);
  }
  if (row < columns) SyrkTile<kColumns, 1>::run(x, rows, width, column, row, c);
}

void syrk(const double* x, std::size_t rows, std::size_t columns, std::size_t width, double* c) {
  constexpr std::size_t kBlock = 128;
  constexpr std::size_t kColumns = WINDHOVER_VECTOR_BYTES == 64 ? 8 : 4;  // for 32 or 16 registers
  using Columns =
      void (*)(const double*, std::size_t, std::size_t, std::size_t, std::size_t, double*);
  static constexpr Columns kRest[] = {syrk_columns<1>, syrk_columns<2>, syrk_columns<3>,
                                      syrk_columns<4>, syrk_columns<5>, syrk_columns<6>,
                                      syrk_columns<7>};
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const double* block = x + first * width;
    const std::size_t count = first + kBlock < rows ? kBlock : rows - first;
    std::size_t column = 0;
    for (; column + kColumns <= columns; column += kColumns) {
      syrk_columns<kColumns>(block, count, columns, width, column, c);
    }
    if (column < columns) {
      kRest[columns - column - 1](block, count, columns, width, column, c);
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
