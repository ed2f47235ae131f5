// Simulations that experiments share: moments of an engine's iterates, and how far they are from a
// posterior.
#ifndef WINDHOVER_TOOLS_REPRODUCE_SIMULATION_H_
#define WINDHOVER_TOOLS_REPRODUCE_SIMULATION_H_

#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/plot.h"
#include "windhover/tools/reproduce/problem.h"

namespace windhover::reproduce {

// Mean and covariance of `steps` iterates of an engine, all chains together, after its cold start
// and steps / 10 more.
nlohmann::ordered_json simulate(const Problem& problem, const SamplerConfig& sampler,
                                std::uint64_t steps, std::uint64_t seed);

// KL from the posterior of the Gaussian that is fitted to all iterates of one such chain, told what
// holds at the mode: the mean of so many chains.
Estimate short_run_kl(const Context& context, const Problem& problem, const SamplerConfig& sampler,
                      const Eigen::VectorXd& start, std::uint64_t steps, std::size_t chains);

// The ellipse on which two coordinates lie `deviations` standard deviations from their mean.
Series ellipse(const std::string& label, Style style, int colour, const Eigen::Vector2d& mean,
               const Eigen::Matrix2d& covariance, double deviations, int points = 120);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_SIMULATION_H_
