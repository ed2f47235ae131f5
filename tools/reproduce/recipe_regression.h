// The tutorial's linear regression with two coefficients, chains on its minibatches, and their
// exact laws.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_

#include "windhover/tools/reproduce/laws.h"

namespace windhover::reproduce {

// 100 rows of two standard normal features, coefficients (1, -0.5), noise N(0, 1), prior N(0, I),
// no intercept. The minibatch size counts in what samplers are told.
Problem recipe_regression(std::uint64_t seed, std::uint32_t minibatch_size);

// The stationary covariance of a sampler with a law; with momentum, of `sghmc`, whose
// preconditioner is h A^-1.
Eigen::MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config);
// Of `sgld-cv` with its anchor at mode + offset: the noise is that of the rows' curvatures alone.
Eigen::MatrixXd anchored_covariance(const Problem& problem, double step,
                                    const Eigen::VectorXd& offset);
// How much too wide a covariance is: the mean over directions of variance / posterior variance - 1.
double excess(const Problem& problem, const Eigen::MatrixXd& covariance);
// {"excess": that of the iterates of a chain}, about the posterior mean, after `left_out` moves.
nlohmann::ordered_json run_excess(KnownChain& chain, const Problem& problem, std::uint64_t left_out,
                                  std::uint64_t moves);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_
