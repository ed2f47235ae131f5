#include "windhover/tests/runtime/logistic_reference.h"

#include <algorithm>
#include <cmath>

namespace windhover::test {

LogisticReference::LogisticReference(const MatrixXd& design, const VectorXd& y,
                                     const ModelConfig& model)
    : design_(design), y_(y), prior_(prior_precisions(design.cols(), model)) {
  find_mode();
}

double LogisticReference::log_posterior(const VectorXd& theta) const {
  const VectorXd eta = design_ * theta;
  double sum = -0.5 * theta.cwiseAbs2().dot(prior_);
  for (Index i = 0; i < eta.size(); ++i) {
    sum += y_[i] * eta[i] - std::max(eta[i], 0.0) - std::log1p(std::exp(-std::abs(eta[i])));
  }
  return sum;
}

LogisticReference::Moments LogisticReference::moments(int samples, std::uint64_t seed) const {
  const Index d = design_.cols();
  const MatrixXd root = 1.3 * MatrixXd(laplace_.covariance.llt().matrixL());
  const VectorXd z = normals(seed, samples * (d + 6));
  const double peak = log_posterior(laplace_.mean);
  Moments m{{VectorXd::Zero(d), MatrixXd::Zero(d, d)}, 0, 0};
  double total = 0;
  double squares = 0;
  for (int s = 0; s < samples; ++s) {
    const auto part = z.segment(static_cast<Index>(s) * (d + 6), d + 6);
    const VectorXd u = part.head(d) * std::sqrt(5 / part.segment(d, 5).squaredNorm());
    const VectorXd deviation = root * u;
    const double log_proposal =
        -0.5 * (5.0 + static_cast<double>(d)) * std::log1p(u.squaredNorm() / 5);
    const double w = std::exp(log_posterior(laplace_.mean + deviation) - peak - log_proposal);
    total += w;
    squares += w * w;
    m.gaussian.mean += w * deviation;
    m.gaussian.covariance += w * deviation * deviation.transpose();
  }
  m.gaussian.mean /= total;
  m.gaussian.covariance /= total;
  m.gaussian.covariance -= m.gaussian.mean * m.gaussian.mean.transpose();
  m.gaussian.mean += laplace_.mean;
  m.effective = total * total / squares;
  m.mean_error = 1 / std::sqrt(m.effective);
  return m;
}

void LogisticReference::find_mode() {
  const Index d = design_.cols();
  laplace_.mean = VectorXd::Zero(d);
  double value = log_posterior(laplace_.mean);
  for (int i = 0; i < 200; ++i) {
    const VectorXd eta = design_ * laplace_.mean;
    const VectorXd p = (1 + (-eta.array()).exp()).inverse();
    const VectorXd w = p.array() * (1 - p.array());
    MatrixXd hessian = design_.transpose() * w.asDiagonal() * design_;
    hessian += prior_.asDiagonal();
    const VectorXd gradient = design_.transpose() * (y_ - p) - prior_.cwiseProduct(laplace_.mean);
    laplace_.covariance = hessian.inverse();
    const VectorXd step = hessian.ldlt().solve(gradient);
    double scale = 1;
    while (scale > 1e-9 && log_posterior(laplace_.mean + scale * step) < value) scale /= 2;
    laplace_.mean += scale * step;
    value = log_posterior(laplace_.mean);
    if (step.dot(gradient) < 1e-20) break;
  }
}

}  // namespace windhover::test
