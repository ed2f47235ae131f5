// Cholesky factors and what is made of them, a block of columns at a time: nearly all of the work
// is products of blocks by the kernels, which read each number a few times from the caches.
#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/samplers/kernels.h"
#include "windhover/samplers/linear_algebra.h"

namespace windhover {

using Eigen::Index;

namespace {

constexpr Index kBlock = 32;
// Rows of a product: with a thousand terms what they read stays in the second cache.
constexpr Index kTile = 64;

// A block of a column-major matrix as multiply_add() takes it: rows of the product are columns of
// the matrix, whose numbers are contiguous. c += a b, entry (j, t) of a at a[j * a_row + t *
// a_term].
void add_product(const double* a, Index a_row, Index a_term, const double* b, Index b_stride,
                 double* c, Index c_stride, Index rows, Index columns, Index terms) noexcept {
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  kernels().multiply_add(a, size(a_row), size(a_term), b, size(b_stride), c, size(c_stride),
                         size(rows), size(columns), size(terms));
}

void subtract_product(const double* a, Index a_row, Index a_term, const double* b, Index b_stride,
                      double* c, Index c_stride, Index rows, Index columns, Index terms) noexcept {
  const auto negate = [&] {
    for (Index j = 0; j < rows; ++j) {
      for (Index i = 0; i < columns; ++i) c[j * c_stride + i] = -c[j * c_stride + i];
    }
  };
  negate();
  add_product(a, a_row, a_term, b, b_stride, c, c_stride, rows, columns, terms);
  negate();
}

// Substitution with the d x d triangle that starts at `lower` in a matrix of the given stride.
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

// Columns `first` to `first + width` of the factor, from which the columns before are subtracted
// already.
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

Status cholesky(const double* matrix, Index d, double* lower) noexcept {
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

Status Factor::compute(const double* matrix) noexcept {
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
  }
  return cholesky(lower_, d, lower_);
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

void Factor::whiten(double* b) const noexcept {
  VectorMap(b, dimension_).array() /= ConstVectorMap(scale_, dimension_).array();
  solve_lower(lower_, dimension_, b);
}

void Factor::root(double scale, double* root) const noexcept {
  const ConstMatrixMap factor(lower_, dimension_, dimension_);
  MatrixMap result(root, dimension_, dimension_);
  for (Index j = 0; j < dimension_; ++j) {
    for (Index i = 0; i < dimension_; ++i) {
      result(i, j) = i < j ? 0.0 : scale * scale_[i] * factor(i, j);
    }
  }
}

void Factor::copy_from(const Factor& other) noexcept {
  std::copy_n(other.lower_, dimension_ * dimension_, lower_);
  std::copy_n(other.scale_, dimension_, scale_);
}

// X = (S L)^-1, a block of columns at a time: L_II X_I = S^-1 E_I - sum over K < I of L_IK X_K.
void Factor::inverse_root(double* inverse) const noexcept {
  const Index d = dimension_;
  for (Index first = 0; first < d; first += kBlock) {
    const Index width = std::min(kBlock, d - first);
    double* block = inverse + first * d;
    std::fill_n(block, width * d, 0.0);
    for (Index j = 0; j < width; ++j) block[j * d + first + j] = 1.0 / scale_[first + j];
    for (Index j = 0; j < width; ++j) {
      const Index at = first + j;
      solve_lower_strided(lower_ + at * d + at, d, width - j, block + j * d + at);
    }
    for (Index i = first + width; i < d; i += kBlock) {
      const Index rows = std::min(kBlock, d - i);
      subtract_product(block + first, d, 1, lower_ + first * d + i, d, block + i, d, width, rows,
                       i - first);
      for (Index j = 0; j < width; ++j) {
        solve_lower_strided(lower_ + i * d + i, d, rows, block + j * d + i);
      }
    }
  }
}

// X^T X with X = (S L)^-1. The upper triangle holds X^T meanwhile, so that both factors of a
// product can be read along columns; the products go below the diagonal.
void Factor::inverse(double scale, double* inverse) const noexcept {
  const Index d = dimension_;
  inverse_root(inverse);
  symmetrize(inverse, d);
  std::array<double, kBlock * kBlock> diagonal;  // X_II^T
  for (Index i = 0; i < d; i += kBlock) {
    const Index height = std::min(kBlock, d - i);
    for (Index t = 0; t < height; ++t) {
      for (Index k = 0; k < height; ++k) {
        diagonal[static_cast<std::size_t>(t * kBlock + k)] =
            k <= t ? inverse[(i + t) * d + i + k] : 0.0;
      }
    }
    const Index below = i + height;
    for (Index j = 0; j <= i; j += kBlock) {
      const Index width = std::min(kBlock, d - j);
      double* product = inverse + j * d + i;
      for (Index k = 0; k < width; ++k) std::fill_n(product + k * d, height, 0.0);
      if (j < i) {
        add_product(inverse + i * d + j, 1, d, diagonal.data(), kBlock, product, d, width, height,
                    height);
      } else {
        add_product(diagonal.data(), 1, kBlock, diagonal.data(), kBlock, product, d, width, height,
                    height);
      }
      add_product(inverse + below * d + j, 1, d, inverse + below * d + i, d, product, d, width,
                  height, d - below);
    }
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) inverse[j * d + i] *= scale;
  }
  symmetrize(inverse, d);
}

}  // namespace windhover
