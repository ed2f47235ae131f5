#include "windhover/tools/reproduce/simulation.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

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

Series ellipse(const std::string& label, const Eigen::Vector2d& mean,
               const Eigen::Matrix2d& covariance, double deviations) {
  Series series{.label = label, .x = {}, .y = {}, .style = Style::kLine};
  const Eigen::Matrix2d root = covariance.llt().matrixL();
  constexpr int kPoints = 120;
  for (int i = 0; i <= kPoints; ++i) {
    const double angle = 2 * std::numbers::pi * i / kPoints;
    const Eigen::Vector2d at =
        mean + deviations * root * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    series.x.push_back(at[0]);
    series.y.push_back(at[1]);
  }
  return series;
}

}  // namespace windhover::reproduce
