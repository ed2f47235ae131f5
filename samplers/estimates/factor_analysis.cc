#include "windhover/samplers/estimates/factor_analysis.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

using Eigen::Index;

namespace {

// The least uniqueness, as a share of a variable's variance: it keeps the fit positive definite
// where variables are collinear.
constexpr double kLeastUniqueness = 1e-6;
constexpr int kMaxIterations = 500;
constexpr double kLeastStart = 1e-3;
constexpr int kStartIterations = 10;
constexpr double kRidge = 1e-12;
constexpr double kSettled = 1e-9;  // mean change of log uniqueness; the loadings lag behind

}  // namespace

FactorAnalysis::FactorAnalysis(Arena& arena, std::uint32_t dimension, std::uint32_t rank) noexcept
    : dimension_(dimension),
      rank_(rank),
      deviation_(arena.allocate<double>(dimension).data()),
      uniqueness_(arena.allocate<double>(dimension).data()),
      loadings_(arena.allocate<double>(std::size_t{dimension} * rank).data()),
      weights_(arena.allocate<double>(std::size_t{dimension} * rank).data()),
      products_(arena.allocate<double>(std::size_t{dimension} * rank).data()),
      inner_(arena.allocate<double>(std::size_t{rank} * rank).data()),
      inverse_(arena.allocate<double>(std::size_t{rank} * rank).data()),
      factor_(arena, rank),
      correlations_(arena, dimension) {}

// The start decides which maximum EM finds. Joreskog's of 1967 finds the best one known on the
// wine, protein and skin data: each uniqueness is what the others do not say of a variable, and the
// loadings are the leading eigenvectors of the rest. These come from orthogonal iteration, here
// from the first columns of a pivoted Cholesky factor.
Status FactorAnalysis::begin(double* correlations) noexcept {
  const Index d = dimension_;
  MatrixMap source(correlations, d, d);
  MatrixMap loadings(loadings_, d, rank_);
  MatrixMap products(products_, d, rank_);
  VectorMap uniqueness(uniqueness_, d);
  pivoted_columns(correlations);
  source.diagonal().setConstant(1.0 + kLeastUniqueness);
  if (const Status status = correlations_.compute(correlations); !ok(status)) return status;
  for (Index first = 0; first < d; first += rank_) {
    const Index count = std::min(rank_, d - first);
    MatrixMap columns(products_, count, d);  // of L^-1, a row each
    columns.setZero();
    columns.block(0, first, count, count).setIdentity();
    correlations_.whiten(products_, static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      uniqueness(first + i) = std::max(1.0 / columns.row(i).squaredNorm(), kLeastStart);
    }
  }
  source.diagonal().array() = 1.0 - uniqueness.array();
  for (int iteration = 0; iteration < kStartIterations; ++iteration) {
    if (const Status status = orthogonalize(); !ok(status)) return status;
    multiply(correlations, loadings_, products_);
    loadings = products;
  }
  // Column k is now eigenvalue x eigenvector, nearly.
  for (Index k = 0; k < rank_; ++k) {
    loadings.col(k) *= 1.0 / std::sqrt(std::max(loadings.col(k).norm(), kLeastStart));
  }
  source.diagonal().setOnes();
  return Status::kOk;
}

// Puts the first r columns of the Cholesky factor with pivots into the loadings.
void FactorAnalysis::pivoted_columns(const double* correlations) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap source(correlations, d, d);
  MatrixMap loadings(loadings_, d, rank_);
  VectorMap rest(uniqueness_, d);
  rest.setOnes();
  for (Index k = 0; k < rank_; ++k) {
    Index pivot = 0;
    const double largest = rest.maxCoeff(&pivot);
    auto column = loadings.col(k);
    column = source.col(pivot);
    for (Index l = 0; l < k; ++l) column.noalias() -= loadings(pivot, l) * loadings.col(l);
    column *= 1.0 / std::sqrt(std::max(largest, kLeastUniqueness));
    rest.array() = (rest.array() - column.array().square()).max(0.0);
  }
}

// Makes the columns of the loadings orthonormal; a column that is all but zero stays small.
Status FactorAnalysis::orthogonalize() noexcept {
  MatrixMap loadings(loadings_, dimension_, rank_);
  MatrixMap inner(inner_, rank_, rank_);
  for (Index k = 0; k < rank_; ++k) {
    for (Index l = 0; l <= k; ++l) inner(k, l) = loadings.col(k).dot(loadings.col(l));
  }
  inner.diagonal().array() += kRidge * (1.0 + inner.trace());
  if (const Status status = factor_.compute(inner_); !ok(status)) return status;
  VectorMap row(inverse_, rank_);
  for (Index j = 0; j < dimension_; ++j) {
    row = loadings.row(j);
    factor_.whiten(inverse_);
    loadings.row(j) = row;
  }
  return Status::kOk;
}

// products <- matrix columns. A tile of the matrix is read once for all columns.
void FactorAnalysis::multiply(const double* matrix, const double* columns,
                              double* products) const noexcept {
  constexpr std::size_t kTile = 64;
  const auto d = static_cast<std::size_t>(dimension_);
  const auto r = static_cast<std::size_t>(rank_);
  std::fill_n(products, d * r, 0.0);
  for (std::size_t j = 0; j < d; j += kTile) {
    for (std::size_t i = 0; i < d; i += kTile) {
      kernels().multiply_add(columns + j, d, 1, matrix + j * d + i, d, products + i, d, r,
                             std::min(kTile, d - i), std::min(kTile, d - j));
    }
  }
}

// One step of EM: the factors given the variables, then loadings and uniquenesses given the
// factors.
Status FactorAnalysis::improve(const double* correlations) noexcept {
  const Index d = dimension_;
  MatrixMap loadings(loadings_, d, rank_);
  MatrixMap weights(weights_, d, rank_);
  MatrixMap products(products_, d, rank_);
  MatrixMap inner(inner_, rank_, rank_);
  const MatrixMap inverse(inverse_, rank_, rank_);
  VectorMap uniqueness(uniqueness_, d);
  for (Index k = 0; k < rank_; ++k) {
    products.col(k) = loadings.col(k).cwiseQuotient(uniqueness);
    for (Index l = 0; l <= k; ++l) {
      inner(k, l) = products.col(k).dot(loadings.col(l)) + (k == l ? 1.0 : 0.0);
    }
  }
  if (const Status status = factor_.compute(inner_); !ok(status)) return status;
  factor_.inverse(1.0, inverse_);
  for (Index k = 0; k < rank_; ++k) weights.col(k).noalias() = products * inverse.col(k);
  multiply(correlations, weights_, products_);
  for (Index k = 0; k < rank_; ++k) {
    for (Index l = 0; l <= k; ++l)
      inner(k, l) = inverse(k, l) + weights.col(k).dot(products.col(l));
  }
  if (const Status status = factor_.compute(inner_); !ok(status)) return status;
  factor_.inverse(1.0, inverse_);
  for (Index k = 0; k < rank_; ++k) loadings.col(k).noalias() = products * inverse.col(k);
  for (Index j = 0; j < d; ++j) {
    uniqueness(j) = std::max(1.0 - loadings.row(j).dot(products.row(j)), kLeastUniqueness);
  }
  return Status::kOk;
}

Status FactorAnalysis::fit(double* matrix) noexcept {
  const Index d = dimension_;
  MatrixMap source(matrix, d, d);
  for (Index j = 0; j < d; ++j) {
    if (!(source(j, j) > 0) || !std::isfinite(source(j, j))) return Status::kNotPositiveDefinite;
    deviation_[j] = std::sqrt(source(j, j));
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) source(i, j) /= deviation_[i] * deviation_[j];
  }
  if (const Status status = begin(matrix); !ok(status)) return status;
  double before = 0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    if (const Status status = improve(matrix); !ok(status)) return status;
    const double logs = ConstVectorMap(uniqueness_, d).array().log().sum();
    if (std::abs(logs - before) < kSettled * static_cast<double>(d)) break;
    before = logs;
  }
  const VectorMap deviation(deviation_, d);
  VectorMap(uniqueness_, d).array() *= deviation.array().square();
  MatrixMap(loadings_, d, rank_).array().colwise() *= deviation.array();
  return Status::kOk;
}

}  // namespace windhover
