#include "windhover/tools/reproduce/recipe_regression.h"

#include <Eigen/LU>
#include <numeric>

#include "windhover/platform/random.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/fixed_covariance.h"

namespace windhover::reproduce {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Problem recipe_regression(std::uint64_t seed, std::uint32_t minibatch_size) {
  constexpr std::size_t kRows = 100;
  Problem problem{.name = "regression",
                  .model = {.name = "linear",
                            .features = 2,
                            .intercept = false,
                            .prior_precision = 1,
                            .noise_variance = 1},
                  .data = {},
                  .minibatch_size = minibatch_size};
  problem.data.names = {"x1", "x2"};
  problem.data.features.resize(2 * kRows);
  problem.data.targets.resize(kRows);
  fill_normals(seed, {.step = 1}, problem.data.features);
  fill_normals(seed, {.step = 2}, problem.data.targets);
  for (std::size_t i = 0; i < kRows; ++i) {
    problem.data.targets[i] += problem.data.row(i)[0] - 0.5 * problem.data.row(i)[1];
  }
  find_posterior(problem);
  return problem;
}

RegressionChain::RegressionChain(const Problem& problem, const SamplerConfig& config,
                                 std::uint64_t seed)
    : told_(problem),
      model_(problem.model, problem.data),
      sampler_(config, model_.dimension()),
      chain_(model_, sampler_, config, problem.minibatch_size, seed, 0) {
  if (!ok(sampler_->refresh(told_.view()))) throw RunError("the sampler refuses its estimates");
  const VectorXd& mode = problem.posterior.mode;
  chain_.start({mode.data(), mode.data() + mode.size()});
}

VectorXd RegressionChain::gradient(const VectorXd& theta) {
  VectorXd g(theta.size());
  model_.gradient()(theta.data(), g.data());
  return g;
}

void RegressionChain::set_anchor(const VectorXd& anchor) {
  std::vector<std::uint32_t> all(model_.row_count());
  std::iota(all.begin(), all.end(), 0U);
  model_.gradient().set_minibatch(model_.batch(all));
  const VectorXd g = gradient(anchor);
  Estimates estimates = told_.view();
  estimates.anchor = anchor.data();
  estimates.anchor_gradient = g.data();
  if (!ok(sampler_->refresh(estimates))) throw RunError("the sampler refuses its estimates");
}

MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config) {
  const KnownEstimates told(problem);
  const SpreadNoise spread(problem);
  const Law law = law_of(config, told);
  const auto d = static_cast<std::uint32_t>(problem.dimension());
  const OwnedSampler sampler(config, d);
  if (!ok(sampler->refresh(told.view()))) throw RunError("the sampler refuses its estimates");
  const double momentum = sampler->momentum();
  if (momentum == 0) {
    const auto sigma = exact_covariance(law, told, spread);
    if (!sigma) throw RunError("there is no stationary covariance");
    return *sigma;
  }
  // In coordinates in which A is I all directions obey one recursion, whose response to noise of
  // covariance W is h / (2a) / (1 - h / (2 (2 - a))) W.
  const double a = 1 - momentum;
  const double h = (law.preconditioner * told.curvature)(0, 0);
  const double response = h / (2 * a) / (1 - h / (2 * (2 - a)));
  const MatrixXd inverse = told.curvature.inverse();
  const auto sigma = fixed_covariance(d, [&](const MatrixXd& s) {
    const MatrixXd noise = (told.noise + spread(s)) / told.minibatch_size + law.injected;
    return std::optional(MatrixXd(response * inverse * noise * inverse));
  });
  if (!sigma) throw RunError("there is no stationary covariance");
  return *sigma;
}

MatrixXd anchored_covariance(const Problem& problem, double step, const VectorXd& offset) {
  KnownEstimates told(problem);
  const SpreadNoise spread(problem);
  const Law law = law_of({.name = "sgld", .step_size = step}, told);
  told.noise = spread(offset * offset.transpose());
  const auto sigma = exact_covariance(law, told, spread);
  if (!sigma) throw RunError("there is no stationary covariance");
  return *sigma;
}

double excess(const Problem& problem, const MatrixXd& covariance) {
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  return (precision * covariance).trace() / static_cast<double>(problem.dimension()) - 1;
}

}  // namespace windhover::reproduce
