// The kernels that multiply matrices; the same rules as in kernels_impl.h, which includes it.
#ifndef WINDHOVER_SAMPLERS_KERNELS_KERNELS_MATRIX_IMPL_H_
#define WINDHOVER_SAMPLERS_KERNELS_KERNELS_MATRIX_IMPL_H_

#include <cstddef>

#include "windhover/samplers/kernels/kernels_vector_impl.h"

namespace windhover {
namespace {

// Computes four columns by one vector of rows of the result, summed over all observations.
inline void outer_tile(const double* rows, const double* scaled, std::size_t width,
                       std::size_t count, std::size_t column, std::size_t row, double* matrix) {
  Vector c0{}, c1{}, c2{}, c3{};
  for (std::size_t i = 0; i < count; ++i) {
    const Vector x = load(rows + i * width + row);
    const double* s = scaled + i * width + column;
    c0 += x * broadcast(s[0]);
    c1 += x * broadcast(s[1]);
    c2 += x * broadcast(s[2]);
    c3 += x * broadcast(s[3]);
  }
  double* out = matrix + column * width + row;
  store(out, load(out) + c0);
  store(out + width, load(out + width) + c1);
  store(out + 2 * width, load(out + 2 * width) + c2);
  store(out + 3 * width, load(out + 3 * width) + c3);
}

void weighted_outer(const double* rows, std::size_t width, std::size_t count, const double* weights,
                    double* scaled, double* matrix) {
  for (std::size_t i = 0; i < count; ++i) {
    const Vector w = broadcast(weights[i]);
    for (std::size_t j = 0; j < width; j += kLanes) {
      store(scaled + i * width + j, w * load(rows + i * width + j));
    }
  }
  for (std::size_t column = 0; column < width; column += 4) {
    for (std::size_t row = column; row < width; row += kLanes) {
      outer_tile(rows, scaled, width, count, column, row, matrix);
    }
  }
}

// y += L x, four columns of L at a time, each from the diagonal down.
void triangular_product(const double* lower, std::size_t d, const double* x, double* y) {
  std::size_t j = 0;
  for (; j + 4 <= d; j += 4) {
    const double* c0 = lower + j * d;
    const double* c1 = c0 + d;
    const double* c2 = c1 + d;
    const double* c3 = c2 + d;
    // Above the diagonal there are zeros.
    const Wide x0 = broadcast_wide(x[j]);
    const Wide x1 = broadcast_wide(x[j + 1]);
    const Wide x2 = broadcast_wide(x[j + 2]);
    const Wide x3 = broadcast_wide(x[j + 3]);
    std::size_t i = j;
    for (; i + kWideLanes <= d; i += kWideLanes) {
      store_wide(y + i, (load_wide(y + i) + x0 * load_wide(c0 + i) + x1 * load_wide(c1 + i)) +
                            (x2 * load_wide(c2 + i) + x3 * load_wide(c3 + i)));
    }
    for (; i < d; ++i) {
      y[i] += (x[j] * c0[i] + x[j + 1] * c1[i]) + (x[j + 2] * c2[i] + x[j + 3] * c3[i]);
    }
  }
  for (; j < d; ++j) {
    for (std::size_t i = j; i < d; ++i) y[i] += x[j] * lower[j * d + i];
  }
}

// y += scale L^T x.
void triangular_transposed_product(const double* lower, std::size_t d, double scale,
                                   const double* x, double* y) {
  std::size_t j = 0;
  for (; j + 4 <= d; j += 4) {
    const double* c0 = lower + j * d;
    const double* c1 = c0 + d;
    const double* c2 = c1 + d;
    const double* c3 = c2 + d;
    Wide w0{}, w1{}, w2{}, w3{};
    std::size_t i = j;
    for (; i + kWideLanes <= d; i += kWideLanes) {
      const Wide v = load_wide(x + i);
      w0 += v * load_wide(c0 + i);
      w1 += v * load_wide(c1 + i);
      w2 += v * load_wide(c2 + i);
      w3 += v * load_wide(c3 + i);
    }
    Vector s = transpose_sum(fold(w0), fold(w1), fold(w2), fold(w3));
    for (; i < d; ++i) s += broadcast(x[i]) * Vector{c0[i], c1[i], c2[i], c3[i]};
    store(y + j, load(y + j) + broadcast(scale) * s);
  }
  for (; j < d; ++j) {
    double s = 0;
    for (std::size_t i = j; i < d; ++i) s += x[i] * lower[j * d + i];
    y[j] += scale * s;
  }
}

// y += scale M x. Numbers below the diagonal are read once and used for both triangles.
void symmetric_product(const double* matrix, std::size_t d, double scale, const double* x,
                       double* y) {
  std::size_t j = 0;
  for (; j + 4 <= d; j += 4) {
    const double* c0 = matrix + j * d;
    const double* c1 = c0 + d;
    const double* c2 = c1 + d;
    const double* c3 = c2 + d;
    const Vector xj = load(x + j) * broadcast(scale);
    // This is the block on the diagonal.
    Vector s = broadcast(xj[0]) * load(c0 + j) + broadcast(xj[1]) * load(c1 + j);
    s += broadcast(xj[2]) * load(c2 + j) + broadcast(xj[3]) * load(c3 + j);
    const Wide x0 = broadcast_wide(xj[0]);
    const Wide x1 = broadcast_wide(xj[1]);
    const Wide x2 = broadcast_wide(xj[2]);
    const Wide x3 = broadcast_wide(xj[3]);
    Wide w0{}, w1{}, w2{}, w3{};
    std::size_t i = j + 4;
    for (; i + kWideLanes <= d; i += kWideLanes) {
      const Wide v = load_wide(x + i);
      const Wide m0 = load_wide(c0 + i);
      const Wide m1 = load_wide(c1 + i);
      const Wide m2 = load_wide(c2 + i);
      const Wide m3 = load_wide(c3 + i);
      store_wide(y + i, (load_wide(y + i) + x0 * m0 + x1 * m1) + (x2 * m2 + x3 * m3));
      w0 += v * m0;
      w1 += v * m1;
      w2 += v * m2;
      w3 += v * m3;
    }
    Vector below = transpose_sum(fold(w0), fold(w1), fold(w2), fold(w3));
    for (; i < d; ++i) {
      y[i] += (xj[0] * c0[i] + xj[1] * c1[i]) + (xj[2] * c2[i] + xj[3] * c3[i]);
      below += broadcast(x[i]) * Vector{c0[i], c1[i], c2[i], c3[i]};
    }
    store(y + j, load(y + j) + s + broadcast(scale) * below);
  }
  for (std::size_t column = j; column < d; ++column) {
    for (std::size_t i = j; i < d; ++i) y[i] += scale * x[column] * matrix[column * d + i];
  }
}

// Computes kRows rows by kVectors vectors of the result, summed over all terms.
template <class V, std::size_t kRows, std::size_t kVectors>
inline void product_tile(const double* a, std::size_t a_row, std::size_t a_term, const double* b,
                         std::size_t b_stride, double* c, std::size_t c_stride, std::size_t terms) {
  constexpr std::size_t kWidth = lanes<V>();
  V sums[kRows][kVectors] = {};
  for (std::size_t t = 0; t < terms; ++t) {
    V x[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) x[v] = load_as<V>(b + t * b_stride + v * kWidth);
    for (std::size_t i = 0; i < kRows; ++i) {
      const V w = broadcast_as<V>(a[i * a_row + t * a_term]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[i][v] += w * x[v];
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      double* out = c + i * c_stride + v * kWidth;
      store_as(out, load_as<V>(out) + sums[i][v]);
    }
  }
}

// Multiplies all rows of a by some columns of b, which stay in the first cache.
template <class V, std::size_t kVectors>
void product_columns(const double* a, std::size_t a_row, std::size_t a_term, const double* b,
                     std::size_t b_stride, double* c, std::size_t c_stride, std::size_t rows,
                     std::size_t terms) {
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    product_tile<V, 4, kVectors>(a + i * a_row, a_row, a_term, b, b_stride, c + i * c_stride,
                                 c_stride, terms);
  }
  a += i * a_row;
  c += i * c_stride;
  switch (rows - i) {
    case 3:
      return product_tile<V, 3, kVectors>(a, a_row, a_term, b, b_stride, c, c_stride, terms);
    case 2:
      return product_tile<V, 2, kVectors>(a, a_row, a_term, b, b_stride, c, c_stride, terms);
    case 1:
      return product_tile<V, 1, kVectors>(a, a_row, a_term, b, b_stride, c, c_stride, terms);
    default:
      break;
  }
}

// Each result is one sum in the order of the terms, whatever tile it is in. So the bits of a row do
// not depend on the rows beside it.
void multiply_add(const double* a, std::size_t a_row, std::size_t a_term, const double* b,
                  std::size_t b_stride, double* c, std::size_t c_stride, std::size_t rows,
                  std::size_t columns, std::size_t terms) {
  // How many vectors are taken at a time: enough sums to hide the latency of an addition, few
  // enough for the registers, and no vector left over to wait for alone.
  const std::size_t most = kWideLanes > kLanes ? 6 : rows == 1 ? 4 : 2;
  std::size_t j = 0;
  for (std::size_t left = columns / kWideLanes; left > 0;) {
    const std::size_t now = left <= most ? left : most < 4 ? most : 4;
    switch (now) {
      case 6:
        product_columns<Wide, 6>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
        break;
      case 5:
        product_columns<Wide, 5>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
        break;
      case 4:
        product_columns<Wide, 4>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
        break;
      case 3:
        product_columns<Wide, 3>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
        break;
      case 2:
        product_columns<Wide, 2>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
        break;
      default:
        product_columns<Wide, 1>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
    }
    j += now * kWideLanes;
    left -= now;
  }
  for (; j + kLanes <= columns; j += kLanes) {
    product_columns<Vector, 1>(a, a_row, a_term, b + j, b_stride, c + j, c_stride, rows, terms);
  }
  for (; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      double total = 0;
      for (std::size_t t = 0; t < terms; ++t)
        total += a[i * a_row + t * a_term] * b[t * b_stride + j];
      c[i * c_stride + j] += total;
    }
  }
}

}  // namespace
}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_KERNELS_KERNELS_MATRIX_IMPL_H_
