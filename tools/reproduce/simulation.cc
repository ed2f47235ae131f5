#include "windhover/tools/reproduce/simulation.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

nlohmann::ordered_json simulate(const Problem& problem, const SamplerConfig& sampler,
                                std::uint64_t steps, std::uint64_t seed) {
  EngineConfig config;
  config.model = problem.model;
  config.sampler = sampler;
  config.seed = seed;
  EngineRun run(config, problem.data);
  run.settle();
  run.run(steps / 10);
  Moments moments(problem.posterior.mode);
  run.run(steps, [&](std::uint16_t, const double* theta) { moments.add(theta); });
  return to_json(moments);
}

Estimate short_run_kl(const Context& context, const Problem& problem, const SamplerConfig& sampler,
                      const Eigen::VectorXd& start, std::uint64_t steps, std::size_t chains) {
  const ReferencePosterior& posterior = problem.posterior;
  std::vector<double> kl(chains);
  context.parallel(chains, [&](std::size_t c) {
    KnownChain chain(problem, sampler, context.seed() * 1000 + c, start);
    Moments moments(posterior.mode);
    for (std::uint64_t t = 0; t < steps; ++t) {
      if (!chain.step()) throw RunError("a short run has diverged");
      moments.add(chain.theta().data());
    }
    kl[c] = gaussian_kl(moments.mean(), moments.covariance(), posterior.mode, posterior.covariance);
  });
  return mean_of(kl);
}

Series ellipse(const std::string& label, Style style, int colour, const Eigen::Vector2d& mean,
               const Eigen::Matrix2d& covariance, double deviations, int points) {
  Series series{.label = label, .x = {}, .y = {}, .style = style, .colour = colour};
  const Eigen::Matrix2d root = covariance.llt().matrixL();
  for (int i = 0; i <= points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    const Eigen::Vector2d at =
        mean + deviations * root * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    series.add(at[0], at[1]);
  }
  return series;
}

}  // namespace windhover::reproduce
