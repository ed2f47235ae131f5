#include "windhover/samplers/fisher_scoring/low_rank_fisher_scoring.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/fisher_scoring/fisher_scoring.h"

namespace windhover {

using Eigen::Index;

Result<bool> LowRankFisherScoring::check(const SamplerConfig& config) noexcept {
  if (config.rank < 1) return Error{Status::kInvalidConfig, "rank must be at least 1", 0};
  if (config.step_size_max != 0) {
    return Error{Status::kInvalidConfig, "step_size_max is for sgfs, sgfs-d and sgfs-f: leave it 0",
                 config.step_size_max};
  }
  const Result<bool> full = check_noise_is_full(config);
  return full.ok() ? check_fisher_scoring(config) : full;
}

LowRankFisherScoring::LowRankFisherScoring(Arena& arena, const SamplerConfig& config,
                                           std::uint32_t dimension) noexcept
    : dimension_(dimension),
      rank_(std::min(config.rank, dimension)),
      noise_scale_(config.noise_scale),
      analysis_(arena, dimension, static_cast<std::uint32_t>(rank_)),
      factor_(arena, static_cast<std::uint32_t>(rank_)) {
  const std::size_t d = dimension;
  const auto r = static_cast<std::size_t>(rank_);
  scratch_ = arena.allocate<double>(d * d).data();
  diagonal_ = arena.allocate<double>(d).data();
  corrections_ = arena.allocate<double>(d * r).data();
  noise_deviation_ = arena.allocate<double>(d).data();
  noise_loadings_ = arena.allocate<double>(d * r).data();
  work_ = arena.allocate<double>(4 * d).data();
  normals_ = arena.allocate<double>(d + r).data();
}

void LowRankFisherScoring::apply(double* vector, double* room) const noexcept {
  const ConstMatrixMap corrections(corrections_, dimension_, rank_);
  VectorMap v(vector, dimension_);
  VectorMap inner(room, rank_);
  inner.noalias() = corrections.transpose() * v;
  v.array() *= ConstVectorMap(diagonal_, dimension_).array();
  v.noalias() -= corrections * inner;
}

Status LowRankFisherScoring::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const Index d = dimension_;
  MatrixMap metric(scratch_, d, d);
  metric = ConstMatrixMap(e.curvature, d, d);
  metric += (e.n / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
  if (const Status status = analysis_.fit(scratch_); !ok(status)) return status;
  const ConstVectorMap uniqueness(analysis_.uniqueness(), d);
  const ConstMatrixMap loadings(analysis_.loadings(), d, rank_);
  // F^-1 = U^-1 - U^-1 W K^-1 W^T U^-1 with K = I + W^T U^-1 W.
  MatrixMap inner(scratch_, rank_, rank_);  // the metric is no longer needed
  for (Index k = 0; k < rank_; ++k) {
    for (Index l = 0; l <= k; ++l) {
      inner(k, l) = (loadings.col(k).array() * loadings.col(l).array() / uniqueness.array()).sum();
    }
    inner(k, k) += 1.0;
  }
  if (const Status status = factor_.compute(scratch_); !ok(status)) return status;
  const double alpha2 = noise_scale_ * noise_scale_;
  const double scale = 2.0 / (1.0 + alpha2);
  VectorMap diagonal(diagonal_, d);
  MatrixMap corrections(corrections_, d, rank_);
  VectorMap row(normals_, rank_);
  diagonal = scale * uniqueness.cwiseInverse();
  for (Index j = 0; j < d; ++j) {
    row = loadings.row(j).transpose() / uniqueness(j);
    factor_.whiten(normals_);
    corrections.row(j) = std::sqrt(scale) * row.transpose();
  }
  // Where the fit leaves out so much that H is not stable, F is multiplied by this rate.
  const auto multiply = [this](double* b, Index) { apply(b, normals_ + dimension_); };
  double shortfall = largest_rate(e.curvature, d, work_, work_ + d, multiply);
  if (shortfall <= kLargestRate) shortfall = 1.0;
  diagonal *= 1.0 / shortfall;
  corrections *= 1.0 / std::sqrt(shortfall);
  const double noise = std::sqrt(alpha2 * shortfall / e.n);
  VectorMap(noise_deviation_, d) = noise * uniqueness.cwiseSqrt();
  MatrixMap(noise_loadings_, d, rank_) = noise * loadings;
  noisy_ = alpha2 > 0;
  relaxation_ = 1.0 / slowest_rate(e.curvature, d, work_, nullptr, multiply);
  return Status::kOk;
}

Status LowRankFisherScoring::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* normals = chain.work + dimension_;
  gradient(chain.theta, chain.work);
  VectorMap g(chain.work, dimension_);
  if (noisy_) {
    rng.fill_normals({normals, static_cast<std::size_t>(dimension_ + rank_)});
    g.array() += ConstVectorMap(noise_deviation_, dimension_).array() *
                 ConstVectorMap(normals, dimension_).array();
    g.noalias() += ConstMatrixMap(noise_loadings_, dimension_, rank_) *
                   ConstVectorMap(normals + dimension_, rank_);
  }
  apply(chain.work, normals);
  VectorMap(chain.theta, dimension_) -= g;
  return finite_or_diverged(chain.theta, static_cast<std::uint32_t>(dimension_));
}

void LowRankFisherScoring::apply_law(double* vector, double* noise, double* room) const noexcept {
  apply(vector, room);
  VectorMap covered(noise, dimension_);
  covered.setZero();
  if (!noisy_) return;
  const ConstVectorMap v(vector, dimension_);
  const ConstMatrixMap loadings(noise_loadings_, dimension_, rank_);
  VectorMap inner(room, rank_);
  inner.noalias() = loadings.transpose() * v;
  covered.array() = ConstVectorMap(noise_deviation_, dimension_).array().square() * v.array();
  covered.noalias() += loadings * inner;
}

void LowRankFisherScoring::law(double* h, double* injected) const noexcept {
  const Index d = dimension_;
  const ConstMatrixMap corrections(corrections_, d, rank_);
  const ConstMatrixMap loadings(noise_loadings_, d, rank_);
  MatrixMap preconditioner(h, d, d);
  MatrixMap covariance(injected, d, d);
  preconditioner.setZero();
  covariance.setZero();
  for (Index j = 0; j < d; ++j) {
    for (Index k = 0; k < rank_; ++k) {
      preconditioner.col(j) -= corrections(j, k) * corrections.col(k);
      if (noisy_) covariance.col(j) += loadings(j, k) * loadings.col(k);
    }
    preconditioner(j, j) += diagonal_[j];
    if (noisy_) covariance(j, j) += noise_deviation_[j] * noise_deviation_[j];
  }
}

}  // namespace windhover
