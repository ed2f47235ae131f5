#include "windhover/tools/evaluate/rivals.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/tools/evaluate/rival_parts.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Standardised rows with a constant behind them, and their targets.
class Rows {
 public:
  Rows(const Dataset& data, Response response)
      : data_(data), targets_(data, response), x_(static_cast<Index>(data.columns()) + 1) {}

  const VectorXd& row(std::size_t i) {
    for (std::size_t j = 0; j < data_.columns(); ++j) {
      const double sd = data_.sd[j] > 0 ? data_.sd[j] : 1;
      x_[static_cast<Index>(j)] = (data_.row(i)[j] - data_.mean[j]) / sd;
    }
    x_[x_.size() - 1] = 1;
    return x_;
  }
  double target(std::size_t i) const { return targets_.at(i); }
  double log_jacobian(std::size_t i) const { return targets_.log_jacobian(i); }
  Index dimension() const { return x_.size(); }

 private:
  const Dataset& data_;
  RivalTargets targets_;
  VectorXd x_;
};

// The Kalman filter of constant coefficients; of 0 and 1 the extended one.
class Filter {
 public:
  Filter(const Dataset& data, Response response, double memory)
      : rows_(data, response),
        number_(is_number(response)),
        keep_(1 - 1 / memory),
        covariance_(MatrixXd::Identity(rows_.dimension(), rows_.dimension()) * kMostVariance),
        mean_(VectorXd::Zero(rows_.dimension())),
        noise_(memory) {}

  // Forgets by one row, before the next row is predicted or learned from.
  void fade() {
    covariance_ /= keep_;
    // Variances of directions in which no rows come would grow without bound.
    for (Index j = 0; j < covariance_.rows(); ++j) {
      if (covariance_(j, j) > kMostVariance) {
        const double shrink = std::sqrt(kMostVariance / covariance_(j, j));
        covariance_.row(j) *= shrink;
        covariance_.col(j) *= shrink;
      }
    }
  }

  double log_score(std::size_t i) {
    const VectorXd& x = rows_.row(i);
    const double y = rows_.target(i);
    const double eta = mean_.dot(x);
    const double spread = std::max(x.dot(covariance_ * x), 0.0);
    if (number_) {
      return normal_log_density(y - eta, noise_.variance() * (1 + spread)) + rows_.log_jacobian(i);
    }
    const LogitNormalMoments moments = logit_normal_moments(eta, std::sqrt(spread));
    return std::log(y == 1 ? moments.mean : moments.other);
  }

  void learn(std::size_t i) {
    const VectorXd& x = rows_.row(i);
    const VectorXd px = covariance_ * x;
    const double eta = mean_.dot(x);
    const double spread = std::max(px.dot(x), 0.0);
    double curvature = 1;
    double residual = rows_.target(i) - eta;
    if (number_) {
      noise_.add(residual * residual / (1 + spread));
    } else {
      const double probability = 1 / (1 + std::exp(-eta));
      curvature = std::max(probability * (1 - probability), 1e-6);
      residual = rows_.target(i) - probability;
    }
    const double gain = 1 / (1 + curvature * spread);
    mean_ += px * (gain * residual);
    covariance_.noalias() -= (curvature * gain) * px * px.transpose();
  }

 private:
  static constexpr double kMostVariance = 6.25;

  Rows rows_;
  const bool number_;
  const double keep_;
  MatrixXd covariance_;
  VectorXd mean_;
  RivalNoise noise_;
};

// SGD at a constant rate: a point and no posterior.
class Descent {
 public:
  Descent(const Dataset& data, Response response, double rate)
      : rows_(data, response),
        number_(is_number(response)),
        rate_(rate),
        theta_(VectorXd::Zero(rows_.dimension())),
        noise_(10'000) {}

  void fade() {}

  double log_score(std::size_t i) {
    const double eta = theta_.dot(rows_.row(i));
    const double y = rows_.target(i);
    if (!number_) return -std::log1p(std::exp(y == 1 ? -eta : eta));
    return normal_log_density(y - eta, noise_.variance()) + rows_.log_jacobian(i);
  }

  void learn(std::size_t i) {
    const VectorXd& x = rows_.row(i);
    const double y = rows_.target(i);
    const double eta = theta_.dot(x);
    const double step = rate_ / (1 + rate_ * x.squaredNorm());  // implicit: stable at any rate
    if (number_) noise_.add((y - eta) * (y - eta));
    theta_ += step * (y - (number_ ? eta : 1 / (1 + std::exp(-eta)))) * x;
  }

 private:
  Rows rows_;
  const bool number_;
  const double rate_;
  VectorXd theta_;
  RivalNoise noise_;
};

template <class Rival>
double mean_score(Rival rival, std::span<const StreamChunk> chunks) {
  return mean_rival_score(rival, chunks, [&] { rival.fade(); });
}

}  // namespace

std::vector<RivalScore> rival_scores(const Dataset& data, Response response,
                                     std::span<const StreamChunk> chunks) {
  const bool number = is_number(response);
  if (!number && response != Response::kBernoulli) return {};
  RivalScore filter{.name = number ? "Kalman filter" : "extended Kalman filter",
                    .log_score = -1e300};
  for (const double memory : {1e9, 30'000.0, 10'000.0, 3'000.0, 1'000.0, 300.0, 100.0}) {
    const double score = mean_score(Filter(data, response, memory), chunks);
    if (score > filter.log_score) {
      filter.log_score = score;
      filter.setting = memory > 1e8 ? "nothing forgotten" : fmt::format("memory {} rows", memory);
    }
  }
  RivalScore descent{.name = "SGD", .log_score = -1e300};
  for (const double rate : {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0}) {
    const double score = mean_score(Descent(data, response, rate), chunks);
    if (score > descent.log_score) {
      descent.log_score = score;
      descent.setting = fmt::format("rate {}", rate);
    }
  }
  return {filter, descent};
}

}  // namespace windhover
