// The posterior that a sampler is measured against, and the exact laws of constant-rate SGD.
#ifndef WINDHOVER_TOOLS_FIT_REFERENCE_H_
#define WINDHOVER_TOOLS_FIT_REFERENCE_H_

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover {

// The posterior near the mode of the mean loss L(theta) = (1/N) sum of -log p(y_n | x_n, theta) +
// (1/2N) theta^T Lambda theta.
struct ReferencePosterior {
  double rows = 0;                    // N
  Eigen::VectorXd mode;               // of the posterior; linear: its mean too
  Eigen::MatrixXd covariance;         // (N A)^-1: exact for a linear model, Laplace otherwise
  Eigen::MatrixXd curvature;          // A, the Hessian of L at the mode, prior included
  Eigen::MatrixXd noise;              // C, covariance over rows of the gradient at the mode
  double noise_variance = 0;          // linear: of y given x; otherwise 0
  std::vector<double> feature_shift;  // how the features were standardised: (x - shift) / scale
  std::vector<double> feature_scale;

  Eigen::Index dimension() const { return mode.size(); }
};

// Reads the JSON form: keys N, map, A, C, posterior_cov, noise_variance_sigma2, feature_shift,
// feature_scale. UserError names the file and the key that is missing or of a wrong size.
ReferencePosterior read_reference(const std::string& path);

struct ReferenceModel {
  bool logistic = false;   // or binomial; otherwise linear
  bool logarithm = false;  // linear: the model and its units are of log y
  bool intercept = true;   // a constant 1, the last coefficient
  double prior_precision = 1.0;
  std::vector<double> prior_precisions = {};  // of each feature; empty: the one above for all
  double intercept_precision = 1.0;
  // Linear: the variance of y given x. None: learned as the average squared residual over the
  // posterior, the fixed point sigma^2 = E[RSS(theta)] / N.
  std::optional<double> noise_variance = std::nullopt;
  // Linear: the posterior is that of (y - shift) / scale; noise variances stay those of y.
  double target_shift = 0;
  double target_scale = 1;
};

// The posterior of a file, by the normal equations or by Newton's method. Features enter as (x -
// shift) / scale; a scale of 0 (a constant column) is taken as 1. O(N D^2) an iteration.
ReferencePosterior exact_posterior(const Dataset& data, const ReferenceModel& model,
                                   const std::vector<double>& shift,
                                   const std::vector<double>& scale);

// KL(q || p) of two Gaussians, by Cholesky; infinity when a covariance is not positive definite, or
// a covariance or the mean of q is not finite.
double gaussian_kl(const Eigen::VectorXd& mean_q, const Eigen::MatrixXd& covariance_q,
                   const Eigen::VectorXd& mean_p, const Eigen::MatrixXd& covariance_p);

// The stationary covariance of theta <- theta - H (g + e), g the gradient on a minibatch whose
// noise has covariance `noise_per_step` (C / S), e injected with covariance `injected`:
// Sigma = (I - H A) Sigma (I - H A)^T + H (C/S + E) H^T, by doubling. None when the recursion does
// not converge.
std::optional<Eigen::MatrixXd> stationary_covariance(const Eigen::MatrixXd& preconditioner,
                                                     const Eigen::MatrixXd& curvature,
                                                     const Eigen::MatrixXd& noise_per_step,
                                                     const Eigen::MatrixXd& injected);

// KL of that law, centred on the mode, from the posterior; infinity when there is none.
double stationary_kl(const ReferencePosterior& reference, const Eigen::MatrixXd& preconditioner,
                     double minibatch_size, const Eigen::MatrixXd& injected);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_REFERENCE_H_
