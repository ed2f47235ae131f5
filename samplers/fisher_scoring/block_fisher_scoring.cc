#include "windhover/samplers/fisher_scoring/block_fisher_scoring.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/fisher_scoring/fisher_scoring.h"

namespace windhover {

using Eigen::Index;

Result<bool> BlockFisherScoring::check(const SamplerConfig& config) noexcept {
  if (config.block_size < 1) {
    return Error{Status::kInvalidConfig, "block_size must be at least 1", 0};
  }
  if (config.step_size_max != 0) {
    return Error{Status::kInvalidConfig, "step_size_max is for sgfs, sgfs-d and sgfs-f: leave it 0",
                 config.step_size_max};
  }
  const Result<bool> full = check_noise_is_full(config);
  return full.ok() ? check_fisher_scoring(config) : full;
}

BlockFisherScoring::BlockFisherScoring(Arena& arena, const SamplerConfig& config,
                                       std::uint32_t dimension) noexcept
    : dimension_(dimension),
      block_size_(std::min(config.block_size, dimension)),
      blocks_((dimension_ + block_size_ - 1) / block_size_),
      noise_scale_(config.noise_scale),
      factor_(arena, static_cast<std::uint32_t>(block_size_)) {
  const auto square = static_cast<std::size_t>(block_size_ * block_size_);
  inverses_ = arena.allocate<double>(square * static_cast<std::size_t>(blocks_)).data();
  roots_ = arena.allocate<double>(square * static_cast<std::size_t>(blocks_)).data();
  scratch_ = arena.allocate<double>(square).data();
  work_ = arena.allocate<double>(4 * std::size_t{dimension}).data();
}

Index BlockFisherScoring::width(Index block) const noexcept {
  return std::min(block_size_, dimension_ - first(block));
}

// Factorizes the block of C; where H = scale C^-1 is not stable, A's block is added. A short last
// block is padded by ones on the diagonal, which nothing reads.
Status BlockFisherScoring::factorize(const Estimates& e, Index block, double scale) noexcept {
  const Index begin = first(block);
  const Index size = width(block);
  const auto noise =
      ConstMatrixMap(e.noise_covariance, dimension_, dimension_).block(begin, begin, size, size);
  const auto curvature =
      ConstMatrixMap(e.curvature, dimension_, dimension_).block(begin, begin, size, size);
  MatrixMap metric(scratch_, block_size_, block_size_);
  metric.setIdentity();
  metric.topLeftCorner(size, size) = noise - (0.5 * scale) * curvature;
  const bool stable = ok(factor_.compute(scratch_));
  metric.topLeftCorner(size, size) = noise;
  if (!stable) metric.topLeftCorner(size, size) += (e.minibatch_size / e.n) * curvature;
  return factor_.compute(scratch_);
}

void BlockFisherScoring::apply(double* vector, double* room) const noexcept {
  for (Index block = 0; block < blocks_; ++block) {
    const Index size = width(block);
    const ConstMatrixMap h(inverse(block), block_size_, block_size_);
    VectorMap part(vector + first(block), size);
    VectorMap product(room, size);
    product.noalias() = h.topLeftCorner(size, size) * part;
    part = product;
  }
}

Status BlockFisherScoring::refresh(const Estimates& e) noexcept {
  const double alpha2 = noise_scale_ * noise_scale_;
  const double gamma = (e.minibatch_size + e.n) / e.minibatch_size;
  const double scale = 2.0 / ((1.0 + alpha2) * gamma);
  // All blocks are replaced, or none.
  for (Index block = 0; block < blocks_; ++block) {
    if (const Status status = factorize(e, block, scale); !ok(status)) return status;
  }
  for (Index block = 0; block < blocks_; ++block) {
    if (const Status status = factorize(e, block, scale); !ok(status)) return status;
    factor_.inverse(scale, inverse(block));
    factor_.root(std::sqrt(alpha2 * gamma / e.n), root(block));
  }
  noisy_ = alpha2 > 0;
  const auto multiply = [this](double* b, Index) { apply(b, scratch_); };
  const double rate = largest_rate(e.curvature, dimension_, work_, work_ + dimension_, multiply);
  if (rate > kLargestRate) {
    // H^-1 grows by this factor, and so does the covariance of the noise.
    VectorMap(inverses_, blocks_ * block_size_ * block_size_) *= 1.0 / rate;
    VectorMap(roots_, blocks_ * block_size_ * block_size_) *= std::sqrt(rate);
  }
  relaxation_ = 1.0 / slowest_rate(e.curvature, dimension_, work_, nullptr, multiply);
  return Status::kOk;
}

Status BlockFisherScoring::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = g + dimension_;
  gradient(chain.theta, g);
  if (noisy_) {
    rng.fill_normals({normals, static_cast<std::size_t>(dimension_)});
    for (Index block = 0; block < blocks_; ++block) {
      const Index size = width(block);
      const ConstMatrixMap lower(root(block), block_size_, block_size_);
      VectorMap(g + first(block), size).noalias() +=
          lower.topLeftCorner(size, size) * ConstVectorMap(normals + first(block), size);
    }
  }
  apply(g, normals + dimension_);
  VectorMap(chain.theta, dimension_) -= ConstVectorMap(g, dimension_);
  return finite_or_diverged(chain.theta, static_cast<std::uint32_t>(dimension_));
}

void BlockFisherScoring::apply_law(double* vector, double* noise, double* room) const noexcept {
  apply(vector, room);
  VectorMap(noise, dimension_).setZero();
  if (!noisy_) return;
  for (Index block = 0; block < blocks_; ++block) {
    const Index begin = first(block);
    const Index size = width(block);
    const auto lower =
        ConstMatrixMap(root(block), block_size_, block_size_).topLeftCorner(size, size);
    VectorMap inner(room, size);
    inner.noalias() = lower.transpose() * ConstVectorMap(vector + begin, size);
    VectorMap(noise + begin, size).noalias() = lower * inner;
  }
}

void BlockFisherScoring::law(double* h, double* injected) const noexcept {
  MatrixMap preconditioner(h, dimension_, dimension_);
  MatrixMap covariance(injected, dimension_, dimension_);
  preconditioner.setZero();
  covariance.setZero();
  for (Index block = 0; block < blocks_; ++block) {
    const Index begin = first(block);
    const Index size = width(block);
    preconditioner.block(begin, begin, size, size) =
        ConstMatrixMap(inverse(block), block_size_, block_size_).topLeftCorner(size, size);
    if (!noisy_) continue;
    const ConstMatrixMap lower(root(block), block_size_, block_size_);
    for (Index j = 0; j < size; ++j) {
      for (Index k = 0; k < size; ++k) {
        covariance.col(begin + j).segment(begin, size) += lower(j, k) * lower.col(k).head(size);
      }
    }
  }
}

}  // namespace windhover
