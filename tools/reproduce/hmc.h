// Ground truth of logistic regressions by the library's HMC, in coordinates in which Laplace's
// Gaussian is standard.
#ifndef WINDHOVER_TOOLS_REPRODUCE_HMC_H_
#define WINDHOVER_TOOLS_REPRODUCE_HMC_H_

#include <Eigen/Core>
#include <cstdint>

#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/problem.h"

namespace windhover::reproduce {

// Log posterior of a logistic or linear model and its gradient, on all rows. One thread at a time.
class LogPosterior {
 public:
  explicit LogPosterior(const Problem& problem);
  double operator()(const Eigen::VectorXd& theta, Eigen::VectorXd& gradient);
  // For the library's samplers; refers to this.
  reference::LogDensity density();

 private:
  bool logistic_;
  double inverse_variance_;
  Eigen::MatrixXd x_;
  Eigen::VectorXd y_;
  Eigen::VectorXd prior_;
  Eigen::VectorXd predictor_;
  Eigen::VectorXd residual_;
};

// Posterior moments of one HMC chain.
struct Truth {
  RunMoments plain;  // of its draws
  // With Stein's identity as control variate: in whitened coordinates z with potential gradient g,
  // E[g] = 0 and E[z g^T] = I, so E[z] = E[z - g] and E[z z^T] = I + E[z (z - g)^T], whose terms
  // are small where the posterior is nearly Gaussian (Mira, Solgi and Imparato 2013). No bias.
  RunMoments corrected;
  double acceptance = 0;
  double divergences = 0;
  double gradients = 0;
};
nlohmann::ordered_json hmc_truth(const Problem& problem, std::size_t draws, std::uint64_t seed,
                                 std::uint16_t chain);
Truth truth_from(const nlohmann::ordered_json& json);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_HMC_H_
