// The chains of `iterate-averaging` and their laws: Mandt, Hoffman and Blei 2017, section 7.2.
#ifndef WINDHOVER_TOOLS_REPRODUCE_ITERATE_AVERAGING_CHAINS_H_
#define WINDHOVER_TOOLS_REPRODUCE_ITERATE_AVERAGING_CHAINS_H_

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "windhover/tools/reproduce/problem.h"

namespace windhover::reproduce {

constexpr std::uint32_t kIasgMinibatch = 10;
constexpr std::uint64_t kIasgStepsAPass = 1000;  // 10,000 rows
constexpr double kIasgRate = 0.003;

inline constexpr std::array kIasgMethods = {"IASG", "SGLD", "NUTS"};
inline constexpr std::array kIasgStarts = {"from the mode", "from the prior"};
// Passes whose draws are left out, the same for every method: none, and the paper's.
inline constexpr std::array kIasgBurnIns = {0.0, 10.0};

// Rows drawn from the model: features N(0, I), theta from the prior N(0, I), noise variance 1.
Problem iasg_problem(std::uint64_t seed);

SamplerConfig iasg_config(std::size_t method);

// One chain of kIasgMethods[method] from kIasgStarts[start]. Gives a list over kIasgBurnIns of
// "variances" (of each parameter) and "error" (relative_covariance_error() of the whole covariance)
// over the draws so far, at each of `passes`, and "covariance" at the last one. Null before there
// are two draws.
nlohmann::ordered_json iasg_chain(const Problem& problem, std::size_t method, std::size_t start,
                                  const std::vector<double>& passes, std::uint64_t seed);

// One chain at S = 1 and a rate of 0.005: the iterates of SGD, or their means over a pass. Ten
// parts of it, long beside the relaxation, give the standard error.
SamplerConfig iasg_single(bool averaged);
nlohmann::ordered_json iasg_single_chain(const Problem& problem, bool averaged,
                                         std::uint64_t passes, std::uint64_t seed);

// The variance of each parameter's mean over a pass, in stationarity of SGD at kIasgRate.
Eigen::VectorXd iasg_mean_variances(const Problem& problem);

// The mean square of SGLD's iterates about the mode, averaged over the steps after `burn_in`
// passes. In the eigenvectors of A, for Gaussian features,
//   v_i <- (1 - h_t a_i)^2 v_i + h_t^2 (c_i + a_i^2 v_i + a_i sum_j a_j v_j) / S + 2 h_t / N.
// Relaxation takes 1 / (h_t a_i) steps, so v follows h_t wherever that is short beside t.
struct SgldLaw {
  Eigen::VectorXd variances;           // of each parameter
  Eigen::VectorXd injected_alone;      // the same without minibatch noise
  double minibatch_over_injected = 0;  // h_t N / (2 S), averaged over the same steps
  double at_the_end = 0;               // the same at the last step
  double relaxation_passes = 0;        // 1 / (h_t a) at the last step, of the least a
};
SgldLaw sgld_law(const Problem& problem, double passes, double burn_in);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_ITERATE_AVERAGING_CHAINS_H_
