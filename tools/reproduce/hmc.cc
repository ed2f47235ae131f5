#include "windhover/tools/reproduce/hmc.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

LogPosterior::LogPosterior(const Problem& problem)
    : logistic_(problem.model.name == "logistic"),
      inverse_variance_(logistic_ ? 1.0 : 1.0 / problem.model.noise_variance),
      x_(design_matrix(problem)),
      y_(Eigen::Map<const VectorXd>(problem.data.targets.data(), x_.rows())),
      prior_(problem.prior_precision()),
      predictor_(x_.rows()),
      residual_(x_.rows()) {}

double LogPosterior::operator()(const VectorXd& theta, VectorXd& gradient) {
  predictor_.noalias() = x_ * theta;
  double loss = 0.5 * theta.dot(prior_.cwiseProduct(theta));
  if (logistic_) {
    const auto eta = predictor_.array();
    const Eigen::ArrayXd e = (-eta.abs()).exp();  // no overflow
    // log(1 + e^eta) - y eta, and the sigmoid from the same exponential.
    loss += (eta.max(0.0) + e.log1p() - y_.array() * eta).sum();
    residual_ = ((eta >= 0).select(1.0 / (1.0 + e), e / (1.0 + e)) - y_.array()).matrix();
  } else {
    residual_ = (predictor_ - y_) * inverse_variance_;
    loss += 0.5 * (predictor_ - y_).dot(residual_);
  }
  gradient.noalias() = -(x_.transpose() * residual_);
  gradient -= prior_.cwiseProduct(theta);
  return -loss;
}

reference::LogDensity LogPosterior::density() {
  return [this, theta = VectorXd(prior_.size()), g = VectorXd(prior_.size())](
             const std::vector<double>& at, std::vector<double>& gradient) mutable {
    theta = Eigen::Map<const VectorXd>(at.data(), theta.size());
    const double value = (*this)(theta, g);
    std::copy_n(g.data(), g.size(), gradient.begin());
    return value;
  };
}

ordered_json hmc_truth(const Problem& problem, std::size_t draws, std::uint64_t seed,
                       std::uint16_t chain) {
  LogPosterior posterior(problem);
  const Index d = problem.dimension();
  const MatrixXd root = problem.posterior.covariance.llt().matrixL();
  VectorXd theta(d), gradient(d);
  const auto whitened = [&](const std::vector<double>& z, std::vector<double>& g) {
    theta = problem.posterior.mode +
            root.triangularView<Eigen::Lower>() * Eigen::Map<const VectorXd>(z.data(), d);
    const double value = posterior(theta, gradient);
    Eigen::Map<VectorXd>(g.data(), d).noalias() =
        root.transpose().triangularView<Eigen::Upper>() * gradient;
    return value;
  };
  const reference::Run run = reference::hamiltonian_monte_carlo(
      whitened, std::vector<double>(static_cast<std::size_t>(d), 0.0),
      {.warm_up = 300, .draws = draws, .seed = seed, .chain = chain});

  VectorXd mean = VectorXd::Zero(d), corrected_mean = VectorXd::Zero(d);
  MatrixXd second = MatrixXd::Zero(d, d), cross = MatrixXd::Zero(d, d);
  std::vector<double> g(static_cast<std::size_t>(d));
  for (const std::vector<double>& draw : run.draws) {
    const Eigen::Map<const VectorXd> z(draw.data(), d);
    whitened(draw, g);
    // g is the gradient of the log density: minus that of the potential.
    const VectorXd rest = z + Eigen::Map<const VectorXd>(g.data(), d);
    mean += z;
    corrected_mean += rest;
    second.noalias() += z * z.transpose();
    cross.noalias() += z * rest.transpose();
  }
  const auto n = static_cast<double>(run.draws.size());
  mean /= n;
  corrected_mean /= n;
  second /= n;
  cross /= n;
  const auto in_theta = [&](const VectorXd& m, const MatrixXd& moment) -> ordered_json {
    const MatrixXd covariance = moment - m * m.transpose();
    return {{"count", n},
            {"mean", to_json(MatrixXd(problem.posterior.mode + root * m))},
            {"covariance", to_json(MatrixXd(root * covariance * root.transpose()))}};
  };
  const MatrixXd corrected = MatrixXd::Identity(d, d) + 0.5 * (cross + cross.transpose());
  return {{"plain", in_theta(mean, second)},
          {"corrected", in_theta(corrected_mean, corrected)},
          {"acceptance", run.acceptance},
          {"divergences", run.divergences},
          {"gradients", run.gradients}};
}

Truth truth_from(const ordered_json& json) {
  return {moments_from(json.at("plain")), moments_from(json.at("corrected")),
          json.at("acceptance").get<double>(), json.at("divergences").get<double>(),
          json.at("gradients").get<double>()};
}

}  // namespace windhover::reproduce
