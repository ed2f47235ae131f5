#include "windhover/tests/runtime/glm_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover::test {

RowLoss poisson_loss(double eta, double y) {
  const double rate = std::exp(eta);
  return {rate - y * eta, rate - y, rate};
}

RowLoss logistic_loss(double eta, double y) {
  const double p = 1 / (1 + std::exp(-eta));
  return {std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta))) - y * eta, p - y, p * (1 - p)};
}

namespace {

// Takes one logarithm for some hundred rows, whose factors are between 1 and 2.
double logistic_loss_sum(const VectorXd& eta, const VectorXd& y) {
  constexpr Index kFactors = 512;
  double sum = 0;
  for (Index first = 0; first < eta.size(); first += kFactors) {
    double product = 1;
    for (Index i = first; i < std::min(first + kFactors, eta.size()); ++i) {
      product *= 1 + std::exp(-std::abs(eta[i]));
      sum += std::max(eta[i], 0.0) - y[i] * eta[i];
    }
    sum += std::log(product);
  }
  return sum;
}

}  // namespace

RowLossFunction student_loss(double nu, double dispersion) {
  return [=](double eta, double y) -> RowLoss {
    const double r = eta - y;
    const double s = nu * dispersion + r * r;
    return {0.5 * (nu + 1) * std::log1p(r * r / (nu * dispersion)), (nu + 1) * r / s,
            (nu + 1) * (nu * dispersion - r * r) / (s * s)};
  };
}

GlmReference::GlmReference(const MatrixXd& design, const VectorXd& y, const ModelConfig& model,
                           RowLossFunction loss, const VectorXd& start, LossSumFunction loss_sum)
    : design_(design),
      y_(y),
      prior_(prior_precisions(design.cols(), model)),
      loss_(std::move(loss)),
      loss_sum_(std::move(loss_sum)) {
  find_mode(start);
}

double GlmReference::log_posterior(const VectorXd& theta) const {
  const VectorXd eta = design_ * theta;
  double sum = -0.5 * theta.cwiseAbs2().dot(prior_);
  if (loss_sum_) return sum - loss_sum_(eta, y_);
  for (Index i = 0; i < eta.size(); ++i) sum -= loss_(eta[i], y_[i]).value;
  return sum;
}

GlmReference::Moments GlmReference::moments(int samples, std::uint64_t seed) const {
  const Index d = design_.cols();
  const MatrixXd root = 1.3 * MatrixXd(laplace_.covariance.llt().matrixL());
  const VectorXd z = normals(seed, samples * (d + 5));
  const double peak = log_posterior(laplace_.mean);
  Gaussian m{VectorXd::Zero(d), MatrixXd::Zero(d, d)};
  double total = 0;
  double squares = 0;
  for (int s = 0; s < samples; ++s) {
    const auto part = z.segment(static_cast<Index>(s) * (d + 5), d + 5);
    const VectorXd u = part.head(d) * std::sqrt(5 / part.tail(5).squaredNorm());
    const VectorXd deviation = root * u;
    const double log_proposal =
        -0.5 * (5.0 + static_cast<double>(d)) * std::log1p(u.squaredNorm() / 5);
    const double w = std::exp(log_posterior(laplace_.mean + deviation) - peak - log_proposal);
    total += w;
    squares += w * w;
    m.mean += w * deviation;
    m.covariance += w * deviation * deviation.transpose();
  }
  m.mean /= total;
  m.covariance /= total;
  m.covariance -= m.mean * m.mean.transpose();
  m.mean += laplace_.mean;
  return {m, std::sqrt(squares) / total};
}

// Ends where the next step is shorter than rounding of the sum lets one see: 3e-7 posterior sd.
void GlmReference::find_mode(const VectorXd& start) {
  constexpr double kNear = 1e-13;
  laplace_.mean = start;
  double value = log_posterior(start);
  for (int i = 0; i < 500; ++i) {
    const VectorXd eta = design_ * laplace_.mean;
    MatrixXd hessian = prior_.asDiagonal();
    VectorXd gradient = -prior_.cwiseProduct(laplace_.mean);
    for (Index k = 0; k < eta.size(); ++k) {
      const RowLoss row = loss_(eta[k], y_[k]);
      gradient -= row.first * design_.row(k).transpose();
      hessian += row.second * design_.row(k).transpose() * design_.row(k);
    }
    laplace_.covariance = hessian.inverse();
    const VectorXd step = laplace_.covariance * gradient;
    double scale = 1;
    while (scale > 1e-9 && log_posterior(laplace_.mean + scale * step) < value) scale /= 2;
    laplace_.mean += scale * step;
    value = log_posterior(laplace_.mean);
    if (std::abs(step.dot(gradient)) < kNear) break;
  }
}

GlmReference logistic_reference(const MatrixXd& design, const VectorXd& y,
                                const ModelConfig& model) {
  return {design, y, model, logistic_loss, VectorXd::Zero(design.cols()), logistic_loss_sum};
}

void expect_modes(TestEngine& engine, const GlmReference& reference, double tolerance) {
  const auto parameters = engine.parameters();
  const Gaussian& laplace = reference.laplace();
  ASSERT_EQ(parameters.size(), static_cast<std::size_t>(laplace.mean.size()));
  for (Index j = 0; j < laplace.mean.size(); ++j) {
    const double sd = std::sqrt(laplace.covariance(j, j));
    EXPECT_NEAR(parameters[static_cast<std::size_t>(j)].mode, laplace.mean[j], tolerance * sd) << j;
  }
}

}  // namespace windhover::test
