// Cholesky factors and what is made of them, a block of columns at a time. Nearly all work is in
// products of blocks by the kernels, which read each number a few times from the caches.
#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

constexpr Index kBlock = 32;
// How many rows of a product are taken at a time: what these read stays in the second cache up to a
// thousand terms.
constexpr Index kTile = 64;
// c -= a b, laid out as for multiply_add(). Its rows are the columns of our matrices, which are
// contiguous.
void subtract_product(const double* a, Index a_row, Index a_term, const double* b, Index b_stride,
                      double* c, Index c_stride, Index rows, Index columns, Index terms) noexcept {
  const auto negate = [&] {
    for (Index j = 0; j < rows; ++j) {
      for (Index i = 0; i < columns; ++i) c[j * c_stride + i] = -c[j * c_stride + i];
    }
  };
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  negate();
  kernels().multiply_add(a, size(a_row), size(a_term), b, size(b_stride), c, size(c_stride),
                         size(rows), size(columns), size(terms));
  negate();
}

// Substitutes with the d x d triangle that starts at `lower` in a matrix of the given stride.
void solve_lower_strided(const double* lower, Index stride, Index d, double* b) noexcept {
  for (Index j = 0; j < d; ++j) {
    const double* column = lower + j * stride;
    b[j] /= column[j];
    VectorMap(b + j + 1, d - j - 1).noalias() -= b[j] * ConstVectorMap(column + j + 1, d - j - 1);
  }
}

void solve_transposed_strided(const double* lower, Index stride, Index d, double* b) noexcept {
  for (Index j = d - 1; j >= 0; --j) {
    const double* column = lower + j * stride;
    const Index below = d - j - 1;
    b[j] -= ConstVectorMap(column + j + 1, below).dot(ConstVectorMap(b + j + 1, below));
    b[j] /= column[j];
  }
}

double product_of(Index a, Index b, Index c = 1) noexcept {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

// Factorizes columns [first, first + width), from which the columns before have been subtracted.
Status factorize_block(double* lower, Index d, Index first, Index width) noexcept {
  MatrixMap factor(lower, d, d);
  for (Index j = first; j < first + width; ++j) {
    auto column = factor.col(j).tail(d - j);
    if (j > first) {
      column.noalias() -= factor.block(j, first, d - j, j - first) *
                          factor.row(j).segment(first, j - first).transpose();
    }
    const double pivot = column(0);
    if (!(pivot > 0) || !std::isfinite(pivot)) return Status::kNotPositiveDefinite;
    column /= std::sqrt(pivot);
    factor.col(j).head(j).setZero();
  }
  return Status::kOk;
}

}  // namespace

Status cholesky(const double* matrix, Index d, double* lower, Interlude* interlude) noexcept {
  for (Index first = 0; first < d; first += kBlock) {
    const Index width = std::min(kBlock, d - first);
    double* block = lower + first * d;
    for (Index j = first; j < first + width; ++j) {
      if (matrix != lower)
        std::copy(matrix + j * d + first, matrix + (j + 1) * d, lower + j * d + first);
    }
    for (Index i = first; first > 0 && i < d; i += kTile) {
      subtract_product(lower + first, 1, d, lower + i, d, block + i, d, width,
                       std::min(kTile, d - i), first);
    }
    if (const Status status = factorize_block(lower, d, first, width); !ok(status)) return status;
    advance(interlude, product_of(d - first, width, first + width));
  }
  return Status::kOk;
}

void solve_lower(const double* lower, Index d, double* b) noexcept {
  solve_lower_strided(lower, d, d, b);
}

void solve_lower_transposed(const double* lower, Index d, double* b) noexcept {
  solve_transposed_strided(lower, d, d, b);
}

Factor::Factor(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      lower_(arena.allocate<double>(static_cast<std::size_t>(dimension) * dimension).data()),
      scale_(arena.allocate<double>(dimension).data()) {}

Status Factor::compute(const double* matrix, Interlude* interlude) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap source(matrix, d, d);
  MatrixMap scaled(lower_, d, d);
  for (Index j = 0; j < d; ++j) {
    const double diagonal = source(j, j);
    if (!(diagonal > 0) || !std::isfinite(diagonal)) {
      return Status::kNotPositiveDefinite;
    }
    scale_[j] = std::sqrt(diagonal);
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      scaled(i, j) = source(i, j) / (scale_[i] * scale_[j]);
    }
    advance(interlude, kProductsANumber * product_of(d - j, 1));
  }
  return cholesky(lower_, d, lower_, interlude);
}

void Factor::solve(double* b) const noexcept {
  whiten(b);
  solve_root(b);
}

void Factor::solve_root(double* b) const noexcept {
  solve_lower_transposed(lower_, dimension_, b);
  VectorMap(b, dimension_).array() /= ConstVectorMap(scale_, dimension_).array();
}

void Factor::colour(double* b) const noexcept {
  VectorMap(b, dimension_).array() *= ConstVectorMap(scale_, dimension_).array();
  for (Index j = 0; j < dimension_; ++j) {
    const Index rows = dimension_ - j;
    b[j] = ConstVectorMap(lower_ + j * dimension_ + j, rows).dot(ConstVectorMap(b + j, rows));
  }
}

// Goes block by block from the top. A row of the result needs the rows of b from its own on, so it
// can replace its own row.
void Factor::colour(double* rows, std::size_t columns, Interlude* interlude) const noexcept {
  const auto n = static_cast<Index>(columns);
  MatrixMap b(rows, n, dimension_);  // a column of it is one of our rows
  for (Index i = 0; i < dimension_; ++i) b.col(i) *= scale_[i];
  for (Index top = 0; top < dimension_; top += kBlock) {
    const Index end = std::min(top + kBlock, dimension_);
    for (Index i = top; i < end; ++i) {
      const double* column = lower_ + i * dimension_;
      b.col(i) *= column[i];
      for (Index k = i + 1; k < end; ++k) b.col(i) += column[k] * b.col(k);
    }
    kernels().multiply_add(lower_ + top * dimension_ + end, static_cast<std::size_t>(dimension_), 1,
                           rows + end * n, columns, rows + top * n, columns,
                           static_cast<std::size_t>(end - top), columns,
                           static_cast<std::size_t>(dimension_ - end));
    advance(interlude, product_of(end - top, n, dimension_ - top));
  }
}

// Works block by block from the bottom.
void Factor::solve_root(double* rows, std::size_t columns, Interlude* interlude) const noexcept {
  const auto n = static_cast<Index>(columns);
  MatrixMap b(rows, n, dimension_);
  for (Index end = dimension_; end > 0;) {
    const Index top = (end - 1) / kBlock * kBlock;
    subtract_product(lower_ + top * dimension_ + end, dimension_, 1, rows + end * n, n,
                     rows + top * n, n, end - top, n, dimension_ - end);
    for (Index i = end - 1; i >= top; --i) {
      const double* column = lower_ + i * dimension_;
      for (Index k = i + 1; k < end; ++k) b.col(i) -= column[k] * b.col(k);
      b.col(i) /= column[i];
    }
    advance(interlude, product_of(end - top, n, dimension_ - top));
    end = top;
  }
  for (Index i = 0; i < dimension_; ++i) b.col(i) /= scale_[i];
}

void Factor::whiten(double* b) const noexcept {
  VectorMap(b, dimension_).array() /= ConstVectorMap(scale_, dimension_).array();
  solve_lower(lower_, dimension_, b);
}

// Goes block by block from the top. The result of a block is subtracted from all rows below it.
void Factor::whiten(double* rows, std::size_t columns) const noexcept {
  const auto n = static_cast<Index>(columns);
  MatrixMap b(rows, n, dimension_);
  for (Index i = 0; i < dimension_; ++i) b.col(i) /= scale_[i];
  for (Index top = 0; top < dimension_; top += kBlock) {
    const Index end = std::min(top + kBlock, dimension_);
    for (Index k = top; k < end; ++k) {
      const double* column = lower_ + k * dimension_;
      b.col(k) /= column[k];
      for (Index i = k + 1; i < end; ++i) b.col(i) -= column[i] * b.col(k);
    }
    subtract_product(lower_ + top * dimension_ + end, 1, dimension_, rows + top * n, n,
                     rows + end * n, n, dimension_ - end, n, end - top);
  }
}

void Factor::root(double scale, double* root, Interlude* interlude) const noexcept {
  const ConstMatrixMap factor(lower_, dimension_, dimension_);
  MatrixMap result(root, dimension_, dimension_);
  for (Index j = 0; j < dimension_; ++j) {
    for (Index i = 0; i < dimension_; ++i) {
      result(i, j) = i < j ? 0.0 : scale * scale_[i] * factor(i, j);
    }
    advance(interlude, kProductsANumber * product_of(dimension_, 1));
  }
}

void Factor::copy_from(const Factor& other, Interlude* interlude) noexcept {
  for (Index j = 0; j < dimension_; ++j) {
    std::copy_n(other.lower_ + j * dimension_, dimension_, lower_ + j * dimension_);
    advance(interlude, kProductsANumber * product_of(dimension_, 1));
  }
  std::copy_n(other.scale_, dimension_, scale_);
}

void combine(double a, const double* x, double b, const double* y, Index dimension, double* out,
             Interlude* interlude) noexcept {
  for (Index j = 0; j < dimension; ++j) {
    const ConstVectorMap first(x + j * dimension, dimension);
    const ConstVectorMap second(y + j * dimension, dimension);
    VectorMap(out + j * dimension, dimension) = a * first + b * second;
    advance(interlude, kProductsANumber * product_of(dimension, 1));
  }
}

void Factor::inverse_root(double* inverse, Interlude* interlude) const noexcept {
  inverse_root_rows(inverse, interlude);
  // Read by columns this is R^T, 0 below the diagonal.
  MatrixMap root(inverse, dimension_, dimension_);
  for (Index first = 0; first < dimension_; first += kBlock) {
    const Index width = std::min(kBlock, dimension_ - first);
    const Index rest = dimension_ - first - width;
    root.block(first, first, width, width).transposeInPlace();
    auto right = root.block(first, first + width, width, rest);
    root.block(first + width, first, rest, width) = right.transpose();
    right.setZero();
    advance(interlude, kScatteredNumber * product_of(width, rest));
  }
}

}  // namespace windhover
