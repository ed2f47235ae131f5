#include "windhover/tools/reproduce/recipe_regression.h"

#include <Eigen/LU>

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

MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config) {
  const Told told = told_at_mode(problem);
  const SpreadNoise spread(problem);
  const Law law = law_of(config, told);
  const double momentum = OwnedSampler(config, told)->momentum();
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
  const auto sigma = fixed_covariance(problem.dimension(), [&](const MatrixXd& s) {
    const MatrixXd noise = (told.noise + spread(s)) / told.minibatch_size + law.injected;
    return std::optional(MatrixXd(response * inverse * noise * inverse));
  });
  if (!sigma) throw RunError("there is no stationary covariance");
  return *sigma;
}

MatrixXd anchored_covariance(const Problem& problem, double step, const VectorXd& offset) {
  Told told = told_at_mode(problem);
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

nlohmann::ordered_json run_excess(KnownChain& chain, const Problem& problem, std::uint64_t left_out,
                                  std::uint64_t moves) {
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  const VectorXd& mode = problem.posterior.mode;
  for (std::uint64_t i = 0; i < left_out; ++i) chain.step();
  double sum = 0;
  for (std::uint64_t i = 0; i < moves; ++i) {
    chain.step();
    const Eigen::Vector2d off = chain.theta() - mode;
    sum += off.dot(precision * off) / 2 - 1;
  }
  return {{"excess", sum / static_cast<double>(moves)}};
}

}  // namespace windhover::reproduce
