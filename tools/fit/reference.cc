#include "windhover/tools/fit/reference.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numeric>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The standardised rows with their intercept, a block at a time, so that a file much larger than a
// cache is walked in matrix-matrix products without a second copy of it.
class Design {
 public:
  Design(const Dataset& data, const ReferenceModel& model, const std::vector<double>& shift,
         const std::vector<double>& scale)
      : data_(data),
        intercept_(model.intercept),
        shift_(shift),
        inverse_(scale),
        target_shift_(model.target_shift),
        target_scale_(model.target_scale),
        logarithm_(model.logarithm) {
    for (double& s : inverse_) s = s > 0 ? 1.0 / s : 1.0;
  }

  Index dimension() const { return static_cast<Index>(data_.columns()) + (intercept_ ? 1 : 0); }
  Index rows() const { return static_cast<Index>(data_.rows()); }

  // The sum of the weights.
  double weight() const {
    return data_.weights.empty() ? static_cast<double>(data_.rows())
                                 : std::accumulate(data_.weights.begin(), data_.weights.end(), 0.0);
  }

  // Calls visit(X, y, o, w) for consecutive blocks; o are the offsets, w the weights. For binomial
  // rows y is the share of successes and w includes the trials: the sums for the log-odds are the
  // same.
  void for_each_block(const auto& visit) const {
    constexpr Index kBlock = 2048;
    MatrixXd x(kBlock, dimension());
    VectorXd y(kBlock);
    VectorXd offset = VectorXd::Zero(kBlock);
    VectorXd weight = VectorXd::Ones(kBlock);
    for (Index begin = 0; begin < rows(); begin += kBlock) {
      const Index count = std::min(kBlock, rows() - begin);
      for (Index i = 0; i < count; ++i) {
        const double* row = data_.row(static_cast<std::size_t>(begin + i));
        for (std::size_t j = 0; j < data_.columns(); ++j) {
          x(i, static_cast<Index>(j)) = (row[j] - shift_[j]) * inverse_[j];
        }
        if (intercept_) x(i, dimension() - 1) = 1.0;
      }
      const Eigen::Map<const Eigen::ArrayXd> targets(data_.targets.data() + begin, count);
      y.head(count) = targets;
      if (logarithm_) y.head(count) = targets.log();
      y.head(count) = (y.head(count).array() - target_shift_) / target_scale_;
      if (!data_.offsets.empty()) {
        offset.head(count) =
            Eigen::Map<const VectorXd>(data_.offsets.data() + begin, count) / target_scale_;
      }
      if (!data_.weights.empty()) {
        weight.head(count) = Eigen::Map<const VectorXd>(data_.weights.data() + begin, count);
      }
      if (!data_.trials.empty()) {
        const Eigen::Map<const VectorXd> trials(data_.trials.data() + begin, count);
        if (data_.weights.empty()) weight.setOnes();
        weight.head(count) = weight.head(count).cwiseProduct(trials);
        y.head(count) = y.head(count).cwiseQuotient(trials);
      }
      visit(x.topRows(count), y.head(count), offset.head(count), weight.head(count));
    }
  }

 private:
  const Dataset& data_;
  bool intercept_;
  const std::vector<double>& shift_;
  std::vector<double> inverse_;
  double target_shift_;
  double target_scale_;
  bool logarithm_;
};

VectorXd prior_precisions(const ReferenceModel& model, Index dimension) {
  VectorXd precisions = VectorXd::Constant(dimension, model.prior_precision);
  for (std::size_t j = 0; j < model.prior_precisions.size(); ++j) {
    precisions[static_cast<Index>(j)] = model.prior_precisions[j];
  }
  if (model.intercept) precisions[dimension - 1] = model.intercept_precision;
  return precisions;
}

MatrixXd inverse_of(const MatrixXd& matrix) {
  const Eigen::LLT<MatrixXd> factor(matrix);
  if (factor.info() != Eigen::Success) {
    throw UserError(
        "the posterior of this file is not proper: its precision matrix is not positive definite "
        "(give a prior precision greater than 0)");
  }
  return factor.solve(MatrixXd::Identity(matrix.rows(), matrix.cols()));
}

// Fills A, C and the covariance from sums over the rows of unit-dispersion Hessians, g and g g^T.
void finish(const MatrixXd& hessian, const VectorXd& gradient, const MatrixXd& outer,
            const VectorXd& prior, double dispersion, ReferencePosterior& reference) {
  const double n = reference.rows;
  reference.curvature = hessian / (n * dispersion);
  reference.curvature.diagonal() += prior / n;
  const VectorXd mean = gradient / n;
  reference.noise = (outer / n - mean * mean.transpose()) / (dispersion * dispersion);
  reference.covariance = inverse_of(reference.curvature) / n;
}

ReferencePosterior linear_posterior(const Design& design, const ReferenceModel& model) {
  const Index d = design.dimension();
  MatrixXd gram = MatrixXd::Zero(d, d);
  VectorXd moment = VectorXd::Zero(d);
  double squares = 0;
  // y less its offset is linear in theta.
  design.for_each_block([&](const auto& x, const auto& y, const auto& o, const auto& w) {
    gram.noalias() += x.transpose() * w.asDiagonal() * x;
    moment.noalias() += x.transpose() * w.cwiseProduct(y - o);
    squares += w.dot((y - o).cwiseAbs2());
  });
  const VectorXd prior = prior_precisions(model, d);
  ReferencePosterior reference;
  reference.rows = static_cast<double>(design.rows());

  const auto solve_at = [&](double variance) {
    MatrixXd precision = gram / variance;
    precision.diagonal() += prior;
    reference.covariance = inverse_of(precision);
    reference.mode = reference.covariance * moment / variance;
  };
  const auto residual_squares = [&] {
    double sum = 0;
    design.for_each_block([&](const auto& x, const auto& y, const auto& o, const auto& w) {
      sum += w.dot((y - o - x * reference.mode).cwiseAbs2());
    });
    return sum;
  };
  const double unit = model.target_scale * model.target_scale;
  double variance = model.noise_variance.value_or(0.0) / unit;
  if (!model.noise_variance) {
    variance = std::max(squares / design.weight(), 1e-300);
    for (int iteration = 0; iteration < 200; ++iteration) {
      solve_at(variance);
      const double next =
          (residual_squares() + (gram * reference.covariance).trace()) / design.weight();
      const bool settled = std::abs(next - variance) <= 1e-13 * variance;
      variance = std::max(next, 1e-300);
      if (settled) break;
    }
  }
  solve_at(variance);
  reference.noise_variance = variance * unit;
  VectorXd gradient = VectorXd::Zero(d);
  MatrixXd outer = MatrixXd::Zero(d, d);
  design.for_each_block([&](const auto& x, const auto& y, const auto& o, const auto& w) {
    const VectorXd residual = w.cwiseProduct(x * reference.mode + o - y);
    gradient.noalias() += x.transpose() * residual;
    outer.noalias() += x.transpose() * residual.cwiseAbs2().asDiagonal() * x;
  });
  finish(gram, gradient, outer, prior, variance, reference);
  return reference;
}

struct LogisticSums {
  double loss = 0;
  VectorXd gradient;
  MatrixXd hessian;
  MatrixXd outer;
};

LogisticSums logistic_sums(const Design& design, const VectorXd& theta, bool matrices) {
  const Index d = design.dimension();
  LogisticSums sums{0, VectorXd::Zero(d), MatrixXd::Zero(d, d), MatrixXd::Zero(d, d)};
  design.for_each_block([&](const auto& x, const auto& y, const auto& o, const auto& w) {
    const Eigen::ArrayXd eta = (x * theta + o).array();
    const Eigen::ArrayXd p = 1.0 / (1.0 + (-eta).exp());
    // log(1 + e^eta) - y eta, without overflow.
    sums.loss += (w.array() * (eta.max(0.0) + (-eta.abs()).exp().log1p() - y.array() * eta)).sum();
    const VectorXd residual = (w.array() * (p - y.array())).matrix();
    sums.gradient.noalias() += x.transpose() * residual;
    if (!matrices) return;
    sums.hessian.noalias() += x.transpose() * (w.array() * p * (1.0 - p)).matrix().asDiagonal() * x;
    sums.outer.noalias() += x.transpose() * residual.cwiseAbs2().asDiagonal() * x;
  });
  return sums;
}

ReferencePosterior logistic_posterior(const Design& design, const ReferenceModel& model) {
  const Index d = design.dimension();
  const VectorXd prior = prior_precisions(model, d);
  VectorXd theta = VectorXd::Zero(d);
  const auto objective = [&](const LogisticSums& sums, const VectorXd& at) {
    return sums.loss + 0.5 * at.dot(prior.cwiseProduct(at));
  };
  ReferencePosterior reference;
  reference.rows = static_cast<double>(design.rows());
  LogisticSums sums = logistic_sums(design, theta, true);
  for (int iteration = 0; iteration < 100; ++iteration) {
    const VectorXd gradient = sums.gradient + prior.cwiseProduct(theta);
    MatrixXd hessian = sums.hessian;
    hessian.diagonal() += prior;
    const VectorXd step = Eigen::LDLT<MatrixXd>(hessian).solve(gradient);
    const double before = objective(sums, theta);
    // The decrement is twice the loss still to be gained; below this, only rounding moves theta.
    const double decrement = gradient.dot(step);
    double length = 1.0;
    LogisticSums next = logistic_sums(design, theta - step, true);
    while (decrement > 1e-9 && objective(next, theta - length * step) > before && length > 1e-8) {
      length /= 2;
      next = logistic_sums(design, theta - length * step, true);
    }
    theta -= length * step;
    sums = std::move(next);
    if (decrement < 1e-20) break;
  }
  reference.mode = theta;
  finish(sums.hessian, sums.gradient, sums.outer, prior, 1.0, reference);
  return reference;
}

}  // namespace

ReferencePosterior exact_posterior(const Dataset& data, const ReferenceModel& model,
                                   const std::vector<double>& shift,
                                   const std::vector<double>& scale) {
  const Design design(data, model, shift, scale);
  ReferencePosterior reference =
      model.logistic ? logistic_posterior(design, model) : linear_posterior(design, model);
  reference.feature_shift = shift;
  reference.feature_scale = scale;
  return reference;
}

double gaussian_kl(const VectorXd& mean_q, const MatrixXd& covariance_q, const VectorXd& mean_p,
                   const MatrixXd& covariance_p) {
  if (!covariance_q.allFinite() || !covariance_p.allFinite() || !mean_q.allFinite()) {
    return kInfinity;
  }
  const Eigen::LLT<MatrixXd> q(covariance_q);
  const Eigen::LLT<MatrixXd> p(covariance_p);
  if (q.info() != Eigen::Success || p.info() != Eigen::Success) return kInfinity;
  // With L_p^-1 L_q = G: trace = |G|^2, log determinant = 2 sum log G_ii. Row by row, so that the
  // terms, each near 1, cancel before they are summed.
  const MatrixXd g = p.matrixL().solve(MatrixXd(q.matrixL()));
  const VectorXd shift = p.matrixL().solve(mean_q - mean_p);
  double sum = shift.squaredNorm();
  for (Index i = 0; i < g.rows(); ++i) {
    sum += g.row(i).squaredNorm() - 1.0 - 2.0 * std::log(g(i, i));
  }
  return 0.5 * sum;
}

std::optional<MatrixXd> stationary_covariance(const MatrixXd& preconditioner,
                                              const MatrixXd& curvature,
                                              const MatrixXd& noise_per_step,
                                              const MatrixXd& injected) {
  const Index d = curvature.rows();
  // After k rounds: sigma holds the first 2^k terms of the sum of M^i Q M^i^T, power M^(2^k).
  MatrixXd power = MatrixXd::Identity(d, d) - preconditioner * curvature;
  MatrixXd sigma = preconditioner * (noise_per_step + injected) * preconditioner.transpose();
  for (int round = 0; round < 60; ++round) {
    const MatrixXd added = power * sigma * power.transpose();
    sigma += added;
    const double size = sigma.norm();
    if (!std::isfinite(size)) return std::nullopt;
    if (added.norm() <= 1e-18 * size) {
      return MatrixXd(0.5 * (sigma + sigma.transpose()));
    }
    power = power * power;
  }
  return std::nullopt;
}

double stationary_kl(const ReferencePosterior& reference, const MatrixXd& preconditioner,
                     double minibatch_size, const MatrixXd& injected) {
  const std::optional<MatrixXd> sigma = stationary_covariance(
      preconditioner, reference.curvature, reference.noise / minibatch_size, injected);
  if (!sigma) return kInfinity;
  return gaussian_kl(reference.mode, *sigma, reference.mode, reference.covariance);
}

}  // namespace windhover
