// The stationary laws of samplers, exactly, on a linear or logistic model.
#ifndef WINDHOVER_TOOLS_REPRODUCE_LAWS_H_
#define WINDHOVER_TOOLS_REPRODUCE_LAWS_H_

#include <optional>

#include "windhover/samplers/estimates/estimates.h"
#include "windhover/tools/reproduce/problem.h"

namespace windhover::reproduce {

// How the noise of minibatch gradients grows with the spread of theta about the mode: of a linear
// model exactly, of a logistic one to first order.
class SpreadNoise {
 public:
  explicit SpreadNoise(const Problem& problem);
  // M(Sigma) = E[w^2 x x^T (x^T Sigma x)] - B Sigma B, B = E[w x x^T], w = 1 / noise variance or
  // p (1 - p).
  Eigen::MatrixXd operator()(const Eigen::MatrixXd& sigma) const;

 private:
  Eigen::MatrixXd x_;
  Eigen::VectorXd weight_;
  Eigen::MatrixXd second_moment_;
};

// theta <- theta - H (gradient + injected noise).
struct Law {
  Eigen::MatrixXd preconditioner;  // H
  Eigen::MatrixXd injected;        // covariance of the noise
};

// What a sampler is told: curvature and noise of the gradient at the mode, or given. Owns what the
// library borrows.
struct KnownEstimates {
  explicit KnownEstimates(const Problem& problem);
  Estimates view() const;

  double n = 0;
  double minibatch_size = 0;
  Eigen::MatrixXd curvature;
  Eigen::MatrixXd noise;
};

// Of a sampler by name. UserError when it refuses the configuration or has no law.
Law law_of(const SamplerConfig& config, const KnownEstimates& estimates);

// The stationary covariance with minibatches drawn with replacement: the fixed point of
// Sigma = (I - HA) Sigma (I - HA)^T + H ((C + M(Sigma)) / S + E) H^T, as in fixed_covariance.h.
std::optional<Eigen::MatrixXd> exact_covariance(const Law& law, const KnownEstimates& at_mode,
                                                const SpreadNoise& spread);

// Of the Ornstein-Uhlenbeck limit: HA Sigma + Sigma (HA)^T = H (C / S + E) H^T.
Eigen::MatrixXd continuous_covariance(const Law& law, const KnownEstimates& at_mode);

// Steps an effective draw of each parameter's mean, of a chain whose stationary covariance is
// `sigma`: its autocovariance at lag k is (I - HA)^k sigma, which sums to a geometric series.
Eigen::VectorXd autocorrelation_times(const Law& law, const Eigen::MatrixXd& curvature,
                                      const Eigen::MatrixXd& sigma);

// Steps in which the slowest mode falls to 1/e; infinity when it does not.
double relaxation(const Law& law, const Eigen::MatrixXd& curvature);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_LAWS_H_
