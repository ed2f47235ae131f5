#include "windhover/tools/reproduce/laws.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/fixed_covariance.h"

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

SpreadNoise::SpreadNoise(const Problem& problem) : x_(design_matrix(problem)), weight_(x_.rows()) {
  if (problem.model.name == "logistic") {
    const Eigen::ArrayXd p = 1.0 / (1.0 + (-(x_ * problem.posterior.mode).array()).exp());
    weight_ = (p * (1.0 - p)).matrix();
  } else {
    weight_.setConstant(1.0 / problem.model.noise_variance);
  }
  second_moment_ = x_.transpose() * weight_.asDiagonal() * x_ / static_cast<double>(x_.rows());
}

MatrixXd SpreadNoise::operator()(const MatrixXd& sigma) const {
  const VectorXd leverage = (x_ * sigma).cwiseProduct(x_).rowwise().sum();
  const VectorXd factor = leverage.cwiseProduct(weight_.cwiseAbs2());
  return x_.transpose() * factor.asDiagonal() * x_ / static_cast<double>(x_.rows()) -
         second_moment_ * sigma * second_moment_;
}

Told told_at_mode(const Problem& problem) {
  return {problem.posterior.curvature, problem.posterior.noise, problem.n(),
          static_cast<double>(problem.minibatch_size)};
}

Law law_of(const SamplerConfig& config, const Told& told) {
  const OwnedSampler sampler(config, told);
  if (!sampler.entry().has_law) {
    throw UserError(fmt::format("the sampler {} has no law", config.name));
  }
  const Index d = told.curvature.rows();
  Law law{MatrixXd(d, d), MatrixXd(d, d)};
  sampler->law(law.preconditioner.data(), law.injected.data());
  return law;
}

std::optional<MatrixXd> exact_covariance(const Law& law, const Told& at_mode,
                                         const SpreadNoise& spread) {
  return fixed_covariance(at_mode.curvature.rows(), [&](const MatrixXd& sigma) {
    const MatrixXd noise = (at_mode.noise + spread(sigma)) / at_mode.minibatch_size;
    return stationary_covariance(law.preconditioner, at_mode.curvature, noise, law.injected);
  });
}

MatrixXd continuous_covariance(const Law& law, const Told& at_mode) {
  const Index d = at_mode.curvature.rows();
  const MatrixXd drift = law.preconditioner * at_mode.curvature;
  const MatrixXd q = law.preconditioner * (at_mode.noise / at_mode.minibatch_size + law.injected) *
                     law.preconditioner.transpose();
  MatrixXd system = MatrixXd::Zero(d * d, d * d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      system.block(i * d, j * d, d, d).diagonal().array() += drift(i, j);
      if (i == j) system.block(i * d, j * d, d, d) += drift;
    }
  }
  const VectorXd solution =
      system.partialPivLu().solve(Eigen::Map<const VectorXd>(q.data(), d * d));
  const MatrixXd sigma = Eigen::Map<const MatrixXd>(solution.data(), d, d);
  return 0.5 * (sigma + sigma.transpose());
}

VectorXd autocorrelation_times(const Law& law, const MatrixXd& curvature, const MatrixXd& sigma) {
  const MatrixXd drift = law.preconditioner * curvature;
  const VectorXd sum = drift.partialPivLu().solve(sigma).diagonal();
  return (2.0 * sum.cwiseQuotient(sigma.diagonal())).array() - 1.0;
}

double relaxation(const Law& law, const MatrixXd& curvature) {
  const MatrixXd transition =
      MatrixXd::Identity(curvature.rows(), curvature.cols()) - law.preconditioner * curvature;
  const double radius = transition.eigenvalues().cwiseAbs().maxCoeff();
  return radius < 1 ? -1.0 / std::log(radius) : std::numeric_limits<double>::infinity();
}

double relative_covariance_error(const MatrixXd& other, const MatrixXd& exact) {
  const Eigen::LLT<MatrixXd> factor(exact);
  const MatrixXd half = factor.matrixL().solve(other - exact);
  const MatrixXd whole = factor.matrixL().solve(half.transpose());
  return whole.norm() / std::sqrt(static_cast<double>(exact.rows()));
}

KnownChain::KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed)
    : KnownChain(problem, config, seed, problem.posterior.mode) {}

KnownChain::KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed,
                       const VectorXd& start)
    : told_(told_at_mode(problem)),
      model_(problem.model, problem.data),
      sampler_(config, told_),
      memory_(sampler_, config, model_.dimension()),
      slots_(problem.minibatch_size),
      seed_(seed) {
  std::ranges::copy(start, memory_.theta.begin());
  Rng rng(seed_, {.purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

bool KnownChain::step() {
  model_.draw(seed_, {.step = step_, .purpose = Purpose::kMinibatch}, slots_);
  Rng rng(seed_, {.step = step_, .purpose = Purpose::kInjectedNoise});
  ++step_;
  return ok(sampler_->step(memory_.chain, model_.gradient(), rng));
}

VectorXd KnownChain::gradient(const VectorXd& theta) {
  VectorXd g(theta.size());
  model_.gradient()(theta.data(), g.data());
  return g;
}

void KnownChain::set_anchor(const VectorXd& anchor) {
  std::vector<std::uint32_t> all(model_.row_count());
  std::iota(all.begin(), all.end(), 0U);
  model_.gradient().set_minibatch(model_.batch(all));
  const VectorXd g = gradient(anchor);
  Estimates estimates = told_.view();
  estimates.anchor = anchor.data();
  estimates.anchor_gradient = g.data();
  sampler_.tell(estimates);
}

}  // namespace windhover::reproduce
