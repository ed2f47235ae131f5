#include "windhover/tools/reproduce/laws.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "windhover/platform/memory.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/fixed_covariance.h"
#include "windhover/tools/reproduce/library.h"

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

KnownEstimates::KnownEstimates(const Problem& problem)
    : n(problem.n()),
      minibatch_size(problem.minibatch_size),
      curvature(problem.posterior.curvature),
      noise(problem.posterior.noise) {}

Estimates KnownEstimates::view() const {
  Estimates estimates;
  estimates.dimension = static_cast<std::uint32_t>(curvature.rows());
  estimates.n = n;
  estimates.minibatch_size = minibatch_size;
  estimates.curvature = curvature.data();
  estimates.noise_covariance = noise.data();
  return estimates;
}

Law law_of(const SamplerConfig& config, const KnownEstimates& estimates) {
  const Index d = estimates.curvature.rows();
  const OwnedSampler sampler(config, static_cast<std::uint32_t>(d));
  if (!sampler.entry().has_law) {
    throw UserError(fmt::format("the sampler {} has no law", config.name));
  }
  if (!ok(sampler->refresh(estimates.view()))) {
    throw RunError(fmt::format("the sampler {} refuses these estimates", config.name));
  }
  Law law{MatrixXd(d, d), MatrixXd(d, d)};
  sampler->law(law.preconditioner.data(), law.injected.data());
  return law;
}

std::optional<MatrixXd> exact_covariance(const Law& law, const KnownEstimates& at_mode,
                                         const SpreadNoise& spread) {
  return fixed_covariance(at_mode.curvature.rows(), [&](const MatrixXd& sigma) {
    const MatrixXd noise = (at_mode.noise + spread(sigma)) / at_mode.minibatch_size;
    return stationary_covariance(law.preconditioner, at_mode.curvature, noise, law.injected);
  });
}

MatrixXd continuous_covariance(const Law& law, const KnownEstimates& at_mode) {
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

}  // namespace windhover::reproduce
