// The tutorial's linear regression with two coefficients, chains on its minibatches, and their
// exact laws.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_

#include <functional>
#include <optional>

#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

// 100 rows of two standard normal features, coefficients (1, -0.5), noise N(0, 1), prior N(0, I),
// no intercept. The minibatch size counts in what samplers are told.
Problem recipe_regression(std::uint64_t seed, std::uint32_t minibatch_size);

// A chain that is told what holds at the mode and starts there, on minibatches drawn with
// replacement. Not to be moved.
class RegressionChain {
 public:
  RegressionChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed);
  RegressionChain(const RegressionChain&) = delete;

  // `sgld-cv`: its anchor from now on.
  void set_anchor(const Eigen::VectorXd& anchor);
  void step() { chain_.step(); }
  Eigen::Map<const Eigen::VectorXd> theta() const {
    return {chain_.theta().data(), static_cast<Eigen::Index>(chain_.theta().size())};
  }
  // Of the mean loss, at `theta`: on the minibatch of the last step.
  Eigen::VectorXd gradient(const Eigen::VectorXd& theta);

 private:
  KnownEstimates told_;
  OwnedModel model_;
  OwnedSampler sampler_;
  ChainRun chain_;
};

// The stationary covariance of a sampler with a law; with momentum, of `sghmc`, whose
// preconditioner is h A^-1.
Eigen::MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config);
// Of `sgld-cv` with its anchor at mode + offset: the noise is that of the rows' curvatures alone.
Eigen::MatrixXd anchored_covariance(const Problem& problem, double step,
                                    const Eigen::VectorXd& offset);
// How much too wide a covariance is: the mean over directions of variance / posterior variance - 1.
double excess(const Problem& problem, const Eigen::MatrixXd& covariance);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_REGRESSION_H_
