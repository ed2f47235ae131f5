#include "windhover/samplers/langevin/riemannian_sgld.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Result<bool> RiemannianSgld::check(const SamplerConfig& c) noexcept {
  if (c.metric != nullptr && c.step_size == 0) {
    return Error{Status::kInvalidConfig,
                 "sampler.step_size must be positive with a metric of the host's: none can be "
                 "computed for it",
                 c.step_size};
  }
  return check_langevin(c);
}

RiemannianSgld::RiemannianSgld(Arena& arena, const SamplerConfig& config,
                               std::uint32_t dimension) noexcept
    : dimension_(dimension),
      metric_(config.metric),
      given_step_(config.step_size),
      temperature_(config),
      root_(arena.allocate<double>(std::size_t{dimension} * dimension).data()),
      divergence_(arena.allocate<double>(dimension).data()),
      work_(arena.allocate<double>(2 * std::size_t{dimension}).data()),
      factor_(arena, dimension) {}

Status RiemannianSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  if (metric_ == nullptr) {
    const Status status = factor_.compute(e.curvature);
    if (!ok(status)) return status;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      double* column = root_ + std::size_t{j} * dimension_;
      std::fill_n(column, dimension_, 0.0);
      column[j] = 1.0;
      factor_.solve_root(column);
    }
    std::fill_n(divergence_, dimension_, 0.0);
  }
  const double noise = metric_ != nullptr ? 0.0
                                          : e.n / e.minibatch_size *
                                                largest_ratio(e.noise_covariance, factor_, work_);
  inverse_n_ = 1.0 / e.n;
  step_size_ = given_step_ > 0 ? given_step_ : langevin_step(1.0, noise, temperature_.for_steps());
  return Status::kOk;
}

Status RiemannianSgld::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  const Index d = dimension_;
  if (metric_ != nullptr) metric_->evaluate(chain.theta, root_, divergence_);
  gradient(chain.theta, chain.work);
  rng.fill_normals({chain.work + d, dimension_});
  // Gradient and noise are added in the root's coordinates: R (deviation xi + h R^T gradient).
  const double variance = 2.0 * step_size_ * temperature_.last() * inverse_n_;
  const ConstMatrixMap root(root_, d, d);
  VectorMap normals(chain.work + d, d);
  normals *= std::sqrt(variance);
  VectorMap g(chain.work, d);
  g *= step_size_;
  normals.noalias() += root.transpose() * g;
  VectorMap theta(chain.theta, d);
  theta.noalias() -= root * normals;
  theta += (0.5 * variance) * ConstVectorMap(divergence_, d);
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
