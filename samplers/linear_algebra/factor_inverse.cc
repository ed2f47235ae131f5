// The inverse of a matrix from its Cholesky factor, some rows at a time.
#include <algorithm>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

// How many rows of a triangular matrix are computed together, and how many columns at a time keep
// these in the first cache.
constexpr std::size_t kRootRows = 16;
constexpr std::size_t kRootColumns = 64;

}  // namespace

// Row i of the result needs the rows of R from i on, so it can replace row i.
void square_root_rows(double scale, Index dimension, double* rows, Interlude* interlude) noexcept {
  const auto d = static_cast<std::size_t>(dimension);
  for (std::size_t top = 0; top < d; top += kRootRows) {
    const std::size_t end = std::min(top + kRootRows, d);
    for (std::size_t i = top; i < end; ++i) {
      double* row = rows + i * d;
      const double pivot = row[i];
      for (std::size_t j = 0; j <= i; ++j) row[j] *= pivot;
      for (std::size_t k = i + 1; k < end; ++k) {
        const double* below = rows + k * d;
        const double r = below[i];
        for (std::size_t j = 0; j <= i; ++j) row[j] += r * below[j];
      }
    }
    // What this writes above the diagonal is not read before it is overwritten below.
    kernels().multiply_add(rows + end * d + top, 1, d, rows + end * d, d, rows + top * d, d,
                           end - top, end, d - end);
    advance(interlude, static_cast<double>((end - top) * end * (d - top)));
  }
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) rows[j * d + i] = rows[i * d + j] *= scale;
    advance(interlude, kScatteredNumber * static_cast<double>(i));
  }
}

void Factor::inverse(double scale, double* inverse, Interlude* interlude) const noexcept {
  inverse_root_rows(inverse, interlude);
  square_root_rows(scale, dimension_, inverse, interlude);
}

// Solves L R = S^-1 by blocks of rows from the top: the rows above contribute a product of
// matrices, and within the block the rest is a substitution.
void Factor::inverse_root_rows(double* rows, Interlude* interlude) const noexcept {
  const auto d = static_cast<std::size_t>(dimension_);
  for (std::size_t top = 0; top < d; top += kRootRows) {
    const std::size_t end = std::min(top + kRootRows, d);
    std::fill_n(rows + top * d, (end - top) * d, 0.0);
    for (std::size_t column = 0; column < top; column += kRootColumns) {
      kernels().multiply_add(lower_ + column * d + top, 1, d, rows + column * d + column, d,
                             rows + top * d + column, d, end - top,
                             std::min(kRootColumns, top - column), top - column);
    }
    for (std::size_t i = top; i < end; ++i) {
      double* row = rows + i * d;
      for (std::size_t k = top; k < i; ++k) {
        const double l = lower_[k * d + i];
        const double* above = rows + k * d;
        for (std::size_t j = 0; j <= k; ++j) row[j] += l * above[j];
      }
      const double pivot = lower_[i * d + i];
      for (std::size_t j = 0; j < i; ++j) row[j] /= -pivot;
      row[i] = 1.0 / (scale_[i] * pivot);
    }
    advance(interlude, 0.5 * static_cast<double>((end - top) * (end * end + 2 * d)));
  }
}

}  // namespace windhover
