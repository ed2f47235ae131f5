// Black-box variational inference with reparametrization gradients, a baseline of the papers:
// Kucukelbir, Ranganath, Gelman and Blei 2015.
#ifndef WINDHOVER_TOOLS_REPRODUCE_BBVI_H_
#define WINDHOVER_TOOLS_REPRODUCE_BBVI_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

struct BbviOptions {
  bool full = false;  // a Cholesky factor; otherwise one sd a parameter (mean-field)
  std::uint32_t minibatch_size = 100;
  std::uint64_t steps = 100'000;
  double rate = 0.02;  // of Adam, falls linearly to 0
  std::uint64_t seed = 1;
  // Called after each step with the mean and, for mean-field, the variances; may change the prior
  // of the model.
  std::function<void(std::uint64_t step, const Eigen::VectorXd& mean,
                     const Eigen::VectorXd& variances)>
      after_step = {};
};

struct Gaussian {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

struct VariationalFit {
  Eigen::VectorXd mean;
  Eigen::MatrixXd factor;  // L; mean-field: one column, the standard deviations

  Eigen::MatrixXd covariance() const;
};

// theta = m + L z, one draw and one minibatch a step; maximises E[log p(theta)] + log|L| by Adam
// (Kingma and Ba 2015) from m = `start` and sd 1 / sqrt(n). The average over the last quarter of
// the steps. O(S D) a step, and O(D^2) when
// full.
VariationalFit bbvi(OwnedModel& model, const Eigen::VectorXd& start, const BbviOptions& options);

// Where mean-field ends when the posterior is this Gaussian: its mean, and the variances of its
// conditionals.
Gaussian mean_field_optimum(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_BBVI_H_
