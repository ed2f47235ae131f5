// Reference posteriors of linear and logistic models by the library's HMC, in coordinates in which
// Laplace's Gaussian is standard; and a density for the library's NUTS.
#ifndef WINDHOVER_TOOLS_REPRODUCE_HMC_H_
#define WINDHOVER_TOOLS_REPRODUCE_HMC_H_

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"
#include "windhover/samplers/rows.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/processor.h"
#include "windhover/tools/reproduce/problem.h"
#include "windhover/tools/reproduce/runs.h"

namespace windhover::reproduce {

// Log posterior of a logistic or linear model and its gradient, on all rows. One thread at a time.
class LogPosterior {
 public:
  explicit LogPosterior(const Problem& problem);
  double operator()(const Eigen::VectorXd& theta, Eigen::VectorXd& gradient);
  // The density as the library's samplers take it. It refers to this object.
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
  RunMoments plain;  // of the draws
  // With Stein's identity as control variate: in whitened coordinates z with potential gradient g,
  // E[g] = 0 and E[z g^T] = I, so E[z] = E[z - g] and E[z z^T] = I + E[z (z - g)^T], whose terms
  // are small where the posterior is nearly Gaussian (Mira, Solgi and Imparato 2013). No bias.
  RunMoments corrected;
  double divergences = 0;
  double seconds = 0;  // of processor time
};
// Runs `chains` chains, each a part "KEY-CHAIN" (context.h).
std::vector<Truth> hmc_truths(const Context& context, const Problem& problem,
                              const std::string& key, std::size_t chains, std::size_t draws,
                              const Stage& stage = {});

// Logistic regression without an intercept; prior N(0, 1). Value and gradient in one pass over the
// rows. Each row costs one dot product, one sigmoid and one addition; 16 rows share a logarithm.
// One thread.
class LogisticDensity {
 public:
  explicit LogisticDensity(const Dataset& data);
  double operator()(const std::vector<double>& theta, std::vector<double>& gradient);

 private:
  static constexpr std::size_t kChunk = 1024;
  RowLayout layout_;
  std::vector<double> rows_;
  std::vector<std::uint32_t> slots_;
  std::vector<double> sign_;  // 1 or -1: the sign that the predictor should have
  std::vector<double> coefficients_;
  std::vector<double> sum_;
  std::vector<double> predictors_;
  std::vector<double> targets_;
  std::vector<double> probabilities_;
};

struct Summary {
  std::vector<double> mean;
  std::vector<double> sd;
  std::vector<double> bulk;  // effective draws

  double least_effective() const;
};

using Draws = std::vector<std::vector<std::vector<double>>>;  // chain, draw, parameter

// The draws of one parameter, by chain and draw.
std::vector<std::vector<double>> column(const Draws& chains, std::size_t parameter);

Summary summarize(const Draws& chains);

// The relative standard error of each parameter's sd: sqrt((m4 - m2^2) / n) / (2 m2), where n
// counts effective draws of squared deviations; their autocorrelations differ from those of the
// draws.
std::vector<double> spread_errors(const Draws& chains, const Summary& summary);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_HMC_H_
