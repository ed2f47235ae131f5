// The exact posterior of a small regression with any log-likelihood of one linear predictor: its
// mode by damped Newton steps, its moments by importance sampling.
#ifndef WINDHOVER_TESTS_RUNTIME_GLM_REFERENCE_H_
#define WINDHOVER_TESTS_RUNTIME_GLM_REFERENCE_H_

#include <functional>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

// -log p(y | eta) and its first two derivatives.
struct RowLoss {
  double value = 0, first = 0, second = 0;
};
using RowLossFunction = std::function<RowLoss(double eta, double y)>;
// The sum of -log p over all rows.
using LossSumFunction = std::function<double(const VectorXd& eta, const VectorXd& y)>;

RowLoss poisson_loss(double eta, double y);
RowLoss logistic_loss(double eta, double y);

RowLossFunction student_loss(double nu, double dispersion);

class GlmReference {
 public:
  // `start` is near enough to the mode. `loss_sum`: where it is much less work than `loss`, row by
  // row.
  GlmReference(const MatrixXd& design, const VectorXd& y, const ModelConfig& model,
               RowLossFunction loss, const VectorXd& start, LossSumFunction loss_sum = {});

  double log_posterior(const VectorXd& theta) const;
  const Gaussian& laplace() const { return laplace_; }

  // Moments by importance sampling from a t_5 around the mode, 1.3 times as wide as Laplace's.
  // `mean_error`: the Monte Carlo error of the mean, in posterior sds.
  struct Moments {
    Gaussian gaussian;
    double mean_error = 0;
  };
  Moments moments(int samples, std::uint64_t seed) const;

 private:
  void find_mode(const VectorXd& start);

  MatrixXd design_;
  VectorXd y_;
  VectorXd prior_;
  RowLossFunction loss_;
  LossSumFunction loss_sum_;
  Gaussian laplace_;
};

// The reference for logistic regression, found from 0.
GlmReference logistic_reference(const MatrixXd& design, const VectorXd& y,
                                const ModelConfig& model);

// Every mode that the engine serves is the reference's, to so many sd.
void expect_modes(TestEngine& engine, const GlmReference& reference, double tolerance = 1e-3);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_GLM_REFERENCE_H_
