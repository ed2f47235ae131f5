#include "windhover/samplers/factor_analysis.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

namespace {

// Of a correlation's unit variance: keeps the fit positive definite where variables are collinear.
constexpr double kLeastUniqueness = 1e-6;
constexpr int kMaxIterations = 500;
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
      factor_(arena, rank) {}

// The first r columns of a Cholesky factor with pivots, shrunk: deterministic, and near enough.
void FactorAnalysis::begin(const double* correlations) noexcept {
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
  loadings *= std::sqrt(0.5);
  for (Index j = 0; j < d; ++j) {
    rest(j) = std::max(1.0 - loadings.row(j).squaredNorm(), 0.01);
  }
}

// One step of EM: the factors given the variables, then loadings and uniquenesses given those.
Status FactorAnalysis::improve(const double* correlations) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap source(correlations, d, d);
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
  for (Index k = 0; k < rank_; ++k) products.col(k).noalias() = source * weights.col(k);
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
  begin(matrix);
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
