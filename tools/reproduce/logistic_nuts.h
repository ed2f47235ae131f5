// A logistic posterior for HMC and NUTS, on the kernels that the library's models run on.
#ifndef WINDHOVER_TOOLS_REPRODUCE_LOGISTIC_NUTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_LOGISTIC_NUTS_H_

#include <vector>

#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"
#include "windhover/samplers/rows.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/processor.h"

namespace windhover::reproduce {

// Without an intercept; prior N(0, 1). Value and gradient in one pass over the rows: one dot
// product, one sigmoid and one addition of a row each, and a logarithm for 16 of them. One thread.
class LogisticDensity {
 public:
  explicit LogisticDensity(const Dataset& data);
  double operator()(const std::vector<double>& theta, std::vector<double>& gradient);

 private:
  static constexpr std::size_t kChunk = 1024;
  RowLayout layout_;
  std::vector<double> rows_;
  std::vector<std::uint32_t> slots_;
  std::vector<double> sign_;  // 1 or -1: which side of 0 the predictor should be on
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

Summary summarize(const Draws& chains);

// The relative standard error of each parameter's sd: sqrt((m4 - m2^2) / n) / (2 m2) with the
// effective draws n of squared deviations, whose autocorrelations are not those of the draws.
std::vector<double> spread_errors(const Draws& chains, const Summary& summary);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_LOGISTIC_NUTS_H_
