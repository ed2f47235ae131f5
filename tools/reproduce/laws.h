// Exact stationary laws of samplers on a linear or logistic model; chains whose sampler is told the
// estimates at the mode; and moments of an engine's iterates.
#ifndef WINDHOVER_TOOLS_REPRODUCE_LAWS_H_
#define WINDHOVER_TOOLS_REPRODUCE_LAWS_H_

#include <Eigen/Core>
#include <functional>
#include <optional>

#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/plot.h"
#include "windhover/tools/reproduce/problem.h"
#include "windhover/tools/reproduce/runs.h"

namespace windhover::reproduce {

// Solves Sigma = a + L(Sigma) as the sum of L^k(a), where `map` gives a + L(Sigma), a is positive
// definite and L maps covariances to covariances. Nothing when the sum does not converge, when
// `map` gives nothing, or when Sigma is not found to 1e-9 of a.
std::optional<Eigen::MatrixXd> fixed_covariance(
    Eigen::Index dimension,
    const std::function<std::optional<Eigen::MatrixXd>(const Eigen::MatrixXd&)>& map);

// The growth of the minibatch gradients' noise with the spread of theta about the mode: exact for a
// linear model, to first order for a logistic one.
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

// Curvature and noise of the gradient at the mode.
Told told_at_mode(const Problem& problem);

// The law of a sampler by name. UserError when it refuses the configuration or has no law.
Law law_of(const SamplerConfig& config, const Told& told);

// The stationary covariance with minibatches drawn with replacement: the fixed point of
// Sigma = (I - HA) Sigma (I - HA)^T + H ((C + M(Sigma)) / S + E) H^T, as in fixed_covariance().
std::optional<Eigen::MatrixXd> exact_covariance(const Law& law, const Told& at_mode,
                                                const SpreadNoise& spread);

// The covariance of the Ornstein-Uhlenbeck limit: HA Sigma + Sigma (HA)^T = H (C / S + E) H^T.
Eigen::MatrixXd continuous_covariance(const Law& law, const Told& at_mode);

// Steps per effective draw of each parameter's mean, for a chain with stationary covariance
// `sigma`: the autocovariance at lag k is (I - HA)^k sigma, which sums to a geometric series.
Eigen::VectorXd autocorrelation_times(const Law& law, const Eigen::MatrixXd& curvature,
                                      const Eigen::MatrixXd& sigma);

// The largest modulus of an eigenvalue.
double spectral_radius(const Eigen::MatrixXd& matrix);

// Steps in which the slowest mode falls to 1/e; infinity when it does not.
double relaxation(const Law& law, const Eigen::MatrixXd& curvature);

// Root mean square of the eigenvalues of L^-1 (other - exact) L^-T, where L L^T = exact. These are
// the relative errors of the variance along D directions; the largest is at most sqrt(D) times as
// large.
double relative_covariance_error(const Eigen::MatrixXd& other, const Eigen::MatrixXd& exact);

// A chain of a sampler that is told the curvature and noise at the mode, on minibatches drawn with
// replacement.
class KnownChain {
 public:
  // Starts at the mode.
  KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed);
  KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed,
             const Eigen::VectorXd& start);

  // For `sgld-cv`: sets its anchor.
  void set_anchor(const Eigen::VectorXd& anchor);
  // False when theta is no longer finite.
  bool step();
  std::uint64_t steps() const { return step_; }
  Eigen::Map<const Eigen::VectorXd> theta() const {
    return {memory_.theta.data(), told_.curvature.rows()};
  }
  // The gradient of the mean loss at `theta`, on the minibatch of the last step.
  Eigen::VectorXd gradient(const Eigen::VectorXd& theta);

 private:
  Told told_;
  OwnedModel model_;
  OwnedSampler sampler_;
  ChainMemory memory_;
  std::vector<std::uint32_t> slots_;
  std::uint64_t seed_;
  std::uint64_t step_ = 0;
};

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

#endif  // WINDHOVER_TOOLS_REPRODUCE_LAWS_H_
