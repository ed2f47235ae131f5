// A probability whose log-odds are normal: the predictive of logistic regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_LOGIT_NORMAL_H_
#define WINDHOVER_RUNTIME_PREDICTION_LOGIT_NORMAL_H_

namespace windhover {

double sigmoid(double x) noexcept;
double log_sigmoid(double x) noexcept;
// The entropy of a coin of probability p, in nats.
double entropy(double p) noexcept;

// Expectations over p = sigmoid(eta), eta ~ N(m, s^2), to 1e-8.
struct LogitNormalMoments {
  double mean = 0;
  double other = 0;    // E[1 - p]: 1 - mean has no digits left once mean rounds to 1
  double product = 0;  // E[p (1 - p)]
  double entropy = 0;
};
LogitNormalMoments logit_normal_moments(double m, double s) noexcept;

// log E sigmoid(eta), also where the expectation itself would underflow.
double log_expected_sigmoid(double m, double s) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_LOGIT_NORMAL_H_
