// A data set with a model and its posterior, exact or by Laplace, against which samplers are
// measured.
#ifndef WINDHOVER_TOOLS_REPRODUCE_PROBLEM_H_
#define WINDHOVER_TOOLS_REPRODUCE_PROBLEM_H_

#include <string>
#include <vector>

#include "windhover/samplers/config.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/fit/reference.h"
#include "windhover/tools/reproduce/context.h"

namespace windhover::reproduce {

struct Problem {
  std::string name;
  ModelConfig model;  // noise_variance filled in
  Dataset data;       // features as the model sees them, without the intercept
  std::uint32_t minibatch_size = 100;
  ReferencePosterior posterior = {};  // exact for a linear model, Laplace otherwise

  Eigen::Index dimension() const { return posterior.dimension(); }
  double n() const { return static_cast<double>(data.rows()); }
  // Lambda: the prior precision of each parameter.
  Eigen::VectorXd prior_precision() const;
};

// How the features of Mandt et al. 2017 are scaled. The paper does not define its "unit length"; of
// the readings tried only the second comes near its figures on Wine.
enum class Scaling {
  kStandardized,  // mean 0, sd 1, with an intercept; noise variance estimated by least squares
  kUnitMaximum,   // divided by the largest absolute value; no intercept, noise variance 1
};
const char* to_string(Scaling scaling);

// Names: "wine", "protein" and "skin", with minibatches of 100, 100 and 10,000 and prior precision
// 1 as in the paper; and "wine-logistic", whose target is whether a wine's quality is 7 or more.
Problem load_problem(const Context& context, const std::string& name, Scaling scaling);

// A linear model without an intercept, prior N(0, I), noise N(0, 1); rows are still to come.
Problem regression(std::string name, std::uint32_t features, std::uint32_t minibatch_size);

// Fills in the posterior of a linear or logistic model from the other fields.
void find_posterior(Problem& problem);

// One row per row of data: features and the intercept's 1, which multiply theta.
Eigen::MatrixXd design_matrix(const Problem& problem);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_PROBLEM_H_
