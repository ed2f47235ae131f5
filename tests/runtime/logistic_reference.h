// The exact posterior of a small logistic regression: its mode by Newton's method, its moments by
// importance sampling.
#ifndef WINDHOVER_TESTS_RUNTIME_LOGISTIC_REFERENCE_H_
#define WINDHOVER_TESTS_RUNTIME_LOGISTIC_REFERENCE_H_

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

class LogisticReference {
 public:
  LogisticReference(const MatrixXd& design, const VectorXd& y, const ModelConfig& model);

  double log_posterior(const VectorXd& theta) const;
  const Gaussian& laplace() const { return laplace_; }

  // Mean, covariance and the Monte Carlo error of the mean in posterior sds, from a t_5 around the
  // mode, 1.3 times as wide as Laplace's.
  struct Moments {
    Gaussian gaussian;
    double mean_error = 0;
    double effective = 0;
  };
  Moments moments(int samples, std::uint64_t seed) const;

 private:
  void find_mode();

  MatrixXd design_;
  VectorXd y_;
  VectorXd prior_;
  Gaussian laplace_;
};

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_LOGISTIC_REFERENCE_H_
