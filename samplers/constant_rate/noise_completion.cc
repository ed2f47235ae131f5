#include "windhover/samplers/constant_rate/noise_completion.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

Result<bool> NoiseCompletion::check(const SamplerConfig& config) noexcept {
  if (!(config.step_size >= 0) || !std::isfinite(config.step_size)) {
    return Error{Status::kInvalidConfig,
                 "step_size must be a finite number of at least 0 (0: chosen)", config.step_size};
  }
  return check_noise_is_full(config);
}

NoiseCompletion::NoiseCompletion(Arena& arena, const SamplerConfig& config,
                                 std::uint32_t dimension) noexcept
    : dimension_(dimension),
      given_step_size_(config.step_size),
      shape_(arena.allocate<double>(dimension).data()),
      step_size_(arena.allocate<double>(dimension).data()),
      scratch_(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      noise_root_(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      work_(arena.allocate<double>(4 * std::size_t{dimension}).data()),
      factor_(arena, dimension) {}

Status NoiseCompletion::complete(const Estimates& e) noexcept {
  const Index d = dimension_;
  MatrixMap metric(scratch_, d, d);  // A + (n/S) C
  metric = ConstMatrixMap(e.curvature, d, d);
  metric += (e.n / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
  double scale = given_step_size_;
  if (scale == 0) {
    // The largest rate gives H (A + (n/S) C) the eigenvalue 2. Power iteration finds it from below,
    // and noise that is nearly singular in a direction is no safeguard, hence the margin.
    constexpr double kMargin = 0.9;
    const double* shape = shape_;
    scale =
        kMargin * 2.0 / largest_rate(scratch_, d, work_, work_ + d, [shape](double* b, Index size) {
          for (Index j = 0; j < size; ++j) b[j] *= shape[j];
        });
  }
  metric *= -1.0 / e.n;
  for (Index j = 0; j < d; ++j) metric(j, j) += 2.0 / (e.n * scale * shape_[j]);
  const Status status = factor_.compute(scratch_);
  if (!ok(status)) return status;
  factor_.root(1.0, noise_root_);
  for (Index j = 0; j < d; ++j) step_size_[j] = scale * shape_[j];
  relaxation_ = 1.0 / slowest_scaled_rate(step_size_, e.curvature, d, work_);
  return Status::kOk;
}

Status NoiseCompletion::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = g + dimension_;
  gradient(chain.theta, g);
  rng.fill_normals({normals, dimension_});
  VectorMap(g, dimension_).noalias() +=
      ConstMatrixMap(noise_root_, dimension_, dimension_) * ConstVectorMap(normals, dimension_);
  for (std::uint32_t j = 0; j < dimension_; ++j) chain.theta[j] -= step_size_[j] * g[j];
  return finite_or_diverged(chain.theta, dimension_);
}

void NoiseCompletion::law(double* h, double* injected) const noexcept {
  const Index d = dimension_;
  MatrixMap(h, d, d) = ConstVectorMap(step_size_, d).asDiagonal();
  const ConstMatrixMap root(noise_root_, d, d);
  MatrixMap e(injected, d, d);
  e.setZero();
  for (Index j = 0; j < d; ++j) {
    for (Index k = 0; k < d; ++k) e.col(j).noalias() += root(j, k) * root.col(k);
  }
}

void NoiseCompletion::apply_law(double* vector, double* noise, double* room) const noexcept {
  const Index d = dimension_;
  VectorMap v(vector, d);
  v.array() *= ConstVectorMap(step_size_, d).array();
  const ConstMatrixMap root(noise_root_, d, d);
  VectorMap inner(room, d);
  inner.noalias() = root.transpose() * v;
  VectorMap(noise, d).noalias() = root * inner;
}

Status ScalarNoiseCompletion::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  std::fill_n(shape(), e.dimension, 1.0);
  return complete(e);
}

Status DiagonalNoiseCompletion::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  for (std::size_t j = 0; j < e.dimension; ++j) {
    shape()[j] = 2.0 / (e.curvature_of(j) + e.n / e.minibatch_size * e.noise_variance_of(j));
  }
  return complete(e);
}

}  // namespace windhover
