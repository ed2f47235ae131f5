#include "windhover/runtime/consistency.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover {

using Eigen::Index;

Consistency::Consistency(Arena& arena, std::uint32_t dimension, bool checked) noexcept
    : dimension_(dimension), checked_(checked) {
  if (!checked_) return;
  const std::size_t square = std::size_t{dimension} * dimension;
  newer_.sum = arena.allocate<double>(size()).data();
  older_.sum = arena.allocate<double>(size()).data();
  deviation_ = arena.allocate<double>(dimension).data();
  if (!dense()) return;
  predicted_ = arena.allocate<double>(square).data();
  preconditioner_ = arena.allocate<double>(square).data();
  noise_ = arena.allocate<double>(square).data();
  work_ = arena.allocate<double>(4 * square).data();
}

void Consistency::reset(double now) noexcept {
  for (int part = 0; part < 2; ++part) start_part(now);
}

// What was the newer part is the older one from here on.
void Consistency::start_part(double now) noexcept {
  std::swap(newer_, older_);
  if (checked_) std::fill_n(newer_.sum, size(), 0.0);
  newer_.weight = 0;
  newer_.since = now;
}

void Consistency::add(const double* theta, const double* centre, double n, const Factor& curvature,
                      const double* covariance, double now) noexcept {
  if (!checked_) return;
  const bool full = now - newer_.since >= kSpan && newer_.weight >= least();
  if (full || newer_.weight >= kMostPart) start_part(now);
  const Index d = dimension_;
  for (Index j = 0; j < d; ++j) deviation_[j] = theta[j] - centre[j];
  if (dense()) {
    VectorMap(deviation_, d) *= std::sqrt(n);
    curvature.colour(deviation_);
  } else {
    for (Index j = 0; j < d; ++j) deviation_[j] /= std::sqrt(covariance[j * (d + 1)]);
  }
  newer_.weight += 1;
  if (!dense()) {
    for (Index j = 0; j < d; ++j) newer_.sum[j] += deviation_[j] * deviation_[j];
    return;
  }
  MatrixMap sum(newer_.sum, d, d);
  const ConstVectorMap deviation(deviation_, d);
  for (Index j = 0; j < d; ++j) sum.col(j).noalias() += deviation_[j] * deviation;
}

Consistency::Ratio Consistency::diagonal_ratio(double temperature) const noexcept {
  Ratio ratio{0, 1e300};
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double r =
        (newer_.sum[j] + older_.sum[j]) / (newer_.weight + older_.weight) / temperature;
    ratio.largest = std::max(ratio.largest, r);
    ratio.smallest = std::min(ratio.smallest, r);
  }
  return ratio;
}

Status Consistency::predict(const double* curvature, const double* noise_covariance,
                            double minibatch_size) noexcept {
  const Index d = dimension_;
  MatrixMap noise(noise_, d, d);
  noise += ConstMatrixMap(noise_covariance, d, d) / minibatch_size;
  return stationary_covariance(preconditioner_, curvature, noise_, d, predicted_, work_);
}

Consistency::Ratio Consistency::dense_ratio(const Factor& factor, double n,
                                            double temperature) noexcept {
  const Index d = dimension_;
  // The prediction in the units of the deviations; then W = L^-1 observed L^-T with predicted =
  // L L^T.
  MatrixMap predicted(predicted_, d, d);
  predicted *= n;
  for (int side = 0; side < 2; ++side) {
    for (Index j = 0; j < d; ++j) factor.colour(predicted_ + j * d);
    predicted.transposeInPlace();
  }
  symmetrize(predicted_, d);
  Ratio ratio;
  extremes(predicted_, ratio.law_smallest, ratio.law_largest);
  ratio.law_smallest /= temperature;
  ratio.law_largest /= temperature;
  if (!ok(cholesky(predicted_, d, predicted_))) return no_law();
  MatrixMap whitened(work_, d, d);
  whitened = (ConstMatrixMap(newer_.sum, d, d) + ConstMatrixMap(older_.sum, d, d)) /
             (newer_.weight + older_.weight);
  for (int side = 0; side < 2; ++side) {
    for (Index j = 0; j < d; ++j) solve_lower(predicted_, d, work_ + j * d);
    whitened.transposeInPlace();
  }
  extremes(work_, ratio.smallest, ratio.largest);
  return ratio;
}

// The smallest and the largest eigenvalue, the former by shifting the spectrum. `matrix` may be
// work_; its second half is used.
void Consistency::extremes(const double* matrix, double& smallest, double& largest) noexcept {
  const Index d = dimension_;
  double* scratch = work_ + 2 * d * d;
  largest = largest_eigenvalue(matrix, d, scratch);
  MatrixMap shifted(work_, d, d);
  shifted = -ConstMatrixMap(matrix, d, d);
  shifted.diagonal().array() += largest;
  smallest = largest - largest_eigenvalue(work_, d, scratch);
}

}  // namespace windhover
