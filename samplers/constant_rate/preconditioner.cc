#include "windhover/samplers/constant_rate/preconditioner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

using Eigen::Index;

DiagonalPreconditioner::DiagonalPreconditioner(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      step_size_(arena.allocate<double>(dimension).data()),
      noise_deviation_(arena.allocate<double>(dimension).data()),
      work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}

void DiagonalPreconditioner::finish(const double* curvature) noexcept {
  stabilize(curvature);
  relaxation_ = 1.0 / slowest_scaled_rate(step_size_, curvature, dimension_, work_);
  noisy_ = std::any_of(noise_deviation_, noise_deviation_ + dimension_,
                       [](double deviation) { return deviation > 0; });
}

void DiagonalPreconditioner::stabilize(const double* curvature) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap a(curvature, d, d);
  double bound = 0;  // of the eigenvalues of HA: the largest row sum
  for (Index j = 0; j < d; ++j) bound = std::max(bound, step_size_[j] * a.col(j).lpNorm<1>());
  if (bound < 2.0) return;
  const double* rates = step_size_;
  const double eigenvalue =
      largest_rate(curvature, d, work_, work_ + d, [rates](double* b, Index size) {
        for (Index k = 0; k < size; ++k) b[k] *= rates[k];
      });
  if (!(eigenvalue > kLargestRate)) return;
  VectorMap(step_size_, d) *= 1.0 / eigenvalue;
  VectorMap(noise_deviation_, d) *= std::sqrt(eigenvalue);
}

Status DiagonalPreconditioner::step(Chain& chain, GradientSource& gradient,
                                    Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = g + dimension_;
  gradient(chain.theta, g);
  if (noisy_) {
    rng.fill_normals({normals, dimension_});
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      g[j] += noise_deviation_[j] * normals[j];
    }
  }
  for (std::uint32_t j = 0; j < dimension_; ++j) chain.theta[j] -= step_size_[j] * g[j];
  return finite_or_diverged(chain.theta, dimension_);
}

void DiagonalPreconditioner::law(double* preconditioner, double* injected) const noexcept {
  const Index d = dimension_;
  MatrixMap h(preconditioner, d, d);
  MatrixMap e(injected, d, d);
  h.setZero();
  e.setZero();
  for (Index j = 0; j < d; ++j) {
    h(j, j) = step_size_[j];
    e(j, j) = noise_deviation_[j] * noise_deviation_[j];
  }
}

void DiagonalPreconditioner::apply_law(double* vector, double* noise, double*) const noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    vector[j] *= step_size_[j];
    noise[j] = noise_deviation_[j] * noise_deviation_[j] * vector[j];
  }
}

FullPreconditioner::FullPreconditioner(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      preconditioner_(
          arena.allocate<double>(static_cast<std::size_t>(dimension) * dimension).data()),
      noise_root_(arena.allocate<double>(static_cast<std::size_t>(dimension) * dimension).data()),
      scratch_(arena.allocate<double>(static_cast<std::size_t>(dimension) * dimension).data()),
      work_(arena.allocate<double>(6 * std::size_t{dimension}).data()),
      factor_(arena, dimension) {}

// The matrix may lie in the scratch: it is not read again once it is factorised.
Status FullPreconditioner::set_inverse(const double* matrix, double scale,
                                       Interlude* interlude) noexcept {
  const Status status = factor_.compute(matrix, interlude);
  if (!ok(status)) return status;
  factor_.inverse(scale, scratch_, interlude);
  std::swap(preconditioner_, scratch_);
  rooted_ = false;
  return Status::kOk;
}

Status FullPreconditioner::set_inverse_and_noise(const double* matrix, double scale,
                                                 double noise_scale,
                                                 Interlude* interlude) noexcept {
  const Status status = factor_.compute(matrix, interlude);
  if (!ok(status)) return status;
  factor_.inverse_root(scratch_, interlude);
  factor_.root(noise_scale, noise_root_, interlude);  // for law() alone
  std::swap(preconditioner_, scratch_);
  rooted_ = true;
  noisy_ = noise_scale != 0;
  scale_ = scale;
  noise_scale_ = noise_scale;
  return Status::kOk;
}

Status FullPreconditioner::set_noise(const double* matrix, double scale,
                                     Interlude* interlude) noexcept {
  if (scale == 0) {
    noisy_ = false;
    return Status::kOk;
  }
  const Status status = factor_.compute(matrix, interlude);
  if (!ok(status)) return status;
  factor_.root(scale, scratch_, interlude);
  std::swap(noise_root_, scratch_);
  noisy_ = true;
  return Status::kOk;
}

double FullPreconditioner::largest_ratio(const double* matrix) noexcept {
  return windhover::largest_ratio(matrix, factor_, work_);
}

double FullPreconditioner::relaxation(const double* curvature, Interlude* interlude) noexcept {
  const Index d = dimension_;
  double* room = work_ + 4 * d;  // products go to a vector of their own
  return 1.0 / slowest_rate(curvature, d, work_, interlude, [this, room](double* b, Index size) {
           std::fill_n(room, size, 0.0);
           if (rooted_) {
             double* inner = room + size;
             std::fill_n(inner, size, 0.0);
             kernels().triangular_product(preconditioner_, dimension_, b, inner);
             kernels().triangular_transposed_product(preconditioner_, dimension_, scale_, inner,
                                                     room);
           } else {
             kernels().symmetric_product(preconditioner_, dimension_, 1.0, b, room);
           }
           std::copy_n(room, size, b);
         });
}

void FullPreconditioner::displace(const Chain& chain, GradientSource& gradient, Rng& rng,
                                  double* target) const noexcept {
  const Index d = dimension_;
  double* g = chain.work;
  double* normals = g + d;
  gradient(chain.theta, g);
  if (rooted_) {
    double* whitened = normals;
    if (noisy_) {
      rng.fill_normals({whitened, dimension_});
      VectorMap(whitened, d) *= noise_scale_;
    } else {
      std::fill_n(whitened, d, 0.0);
    }
    kernels().triangular_product(preconditioner_, dimension_, g, whitened);
    kernels().triangular_transposed_product(preconditioner_, dimension_, -scale_, whitened, target);
    return;
  }
  if (noisy_) {
    rng.fill_normals({normals, dimension_});
    kernels().triangular_product(noise_root_, dimension_, normals, g);
  }
  kernels().symmetric_product(preconditioner_, dimension_, -1.0, g, target);
}

Status FullPreconditioner::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  displace(chain, gradient, rng, chain.theta);
  return finite_or_diverged(chain.theta, dimension_);
}

void FullPreconditioner::law(double* preconditioner, double* injected) const noexcept {
  const Index d = dimension_;
  if (rooted_) {
    const ConstMatrixMap root(preconditioner_, d, d);
    MatrixMap(preconditioner, d, d).noalias() = scale_ * root.transpose().lazyProduct(root);
  } else {
    std::copy_n(preconditioner_, d * d, preconditioner);
  }
  MatrixMap e(injected, d, d);
  e.setZero();
  if (!noisy_) return;
  const ConstMatrixMap root(noise_root_, d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index k = 0; k < d; ++k) e.col(j).noalias() += root(j, k) * root.col(k);
  }
}

// `noise` serves as scratch until it is written.
void FullPreconditioner::apply_law(double* vector, double* noise, double* room) const noexcept {
  const std::size_t d = dimension_;
  std::fill_n(room, d, 0.0);
  if (rooted_) {
    std::fill_n(noise, d, 0.0);
    kernels().triangular_product(preconditioner_, d, vector, noise);
    kernels().triangular_transposed_product(preconditioner_, d, scale_, noise, room);
  } else {
    kernels().symmetric_product(preconditioner_, d, 1.0, vector, room);
  }
  std::copy_n(room, d, vector);
  std::fill_n(noise, d, 0.0);
  if (!noisy_) return;
  std::fill_n(room, d, 0.0);
  kernels().triangular_transposed_product(noise_root_, d, 1.0, vector, room);
  kernels().triangular_product(noise_root_, d, room, noise);
}

}  // namespace windhover
