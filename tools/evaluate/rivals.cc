#include "windhover/tools/evaluate/rivals.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/logit_normal.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kWorst = -1'000;  // as the engine's own scores

// Standardised rows with a constant behind them; y, or its logarithm where the model is of that, in
// units of its own spread, where it is a number.
class Rows {
 public:
  Rows(const Dataset& data, Response response)
      : data_(data), response_(response), x_(static_cast<Index>(data.columns()) + 1) {
    if (!is_number(response)) return;
    const auto rows = static_cast<double>(data.rows());
    double squares = 0;
    for (std::size_t i = 0; i < data.rows(); ++i) mean_ += number(i) / rows;
    for (std::size_t i = 0; i < data.rows(); ++i) {
      squares += (number(i) - mean_) * (number(i) - mean_);
    }
    if (squares > 0) scale_ = std::sqrt(squares / rows);
  }

  const VectorXd& row(std::size_t i) {
    for (std::size_t j = 0; j < data_.columns(); ++j) {
      const double sd = data_.sd[j] > 0 ? data_.sd[j] : 1;
      x_[static_cast<Index>(j)] = (data_.row(i)[j] - data_.mean[j]) / sd;
    }
    x_[x_.size() - 1] = 1;
    return x_;
  }
  double target(std::size_t i) const { return (number(i) - mean_) / scale_; }
  // Of a density of target(i), to have y's.
  double log_jacobian(std::size_t i) const {
    return -std::log(scale_) - (response_ == Response::kLogNormal ? number(i) : 0.0);
  }
  Index dimension() const { return x_.size(); }

 private:
  double number(std::size_t i) const { return working_target(response_, data_.targets[i]); }

  const Dataset& data_;
  Response response_;
  VectorXd x_;
  double mean_ = 0;
  double scale_ = 1;
};

// The noise variance of a number, learned with the same memory.
class Noise {
 public:
  explicit Noise(double memory) : memory_(memory) {}
  double variance() const { return squares_ / rows_; }
  void add(double square) {
    rows_ = 1 + (1 - 1 / memory_) * rows_;
    squares_ = square + (1 - 1 / memory_) * squares_;
  }

 private:
  double memory_;
  double rows_ = 2;  // worth two rows of the whole spread
  double squares_ = 2;
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

  // Before the row that comes next is predicted, or learned from.
  void fade() {
    covariance_ /= keep_;
    // Directions in which no rows come would grow without bound.
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
  Noise noise_;
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
    const double step = rate_ / (1 + rate_ * x.squaredNorm());  // implicit: no rate is too long
    if (number_) noise_.add((y - eta) * (y - eta));
    theta_ += step * (y - (number_ ? eta : 1 / (1 + std::exp(-eta)))) * x;
  }

 private:
  Rows rows_;
  const bool number_;
  const double rate_;
  VectorXd theta_;
  Noise noise_;
};

// As the engine is scored: all rows of a chunk by what was known before it.
template <class Rival>
double mean_score(Rival rival, std::span<const StreamChunk> chunks) {
  double sum = 0;
  std::size_t scored = 0;
  for (const StreamChunk& chunk : chunks) {
    rival.fade();
    for (std::size_t i = chunk.scored_from; i < chunk.end; ++i) {
      sum += std::max(rival.log_score(i), kWorst);
    }
    scored += chunk.end - chunk.scored_from;
    for (std::size_t i = chunk.first; i < chunk.end; ++i) {
      if (i > chunk.first) rival.fade();
      rival.learn(i);
    }
  }
  return sum / static_cast<double>(scored);
}

}  // namespace

std::vector<RivalScore> rival_scores(const Dataset& data, Response response,
                                     std::span<const StreamChunk> chunks) {
  const bool number = is_number(response);
  if (!number && response != Response::kBernoulli) return {};
  RivalScore filter{number ? "Kalman filter" : "extended Kalman filter", "", -1e300};
  for (const double memory : {1e9, 30'000.0, 10'000.0, 3'000.0, 1'000.0, 300.0, 100.0}) {
    const double score = mean_score(Filter(data, response, memory), chunks);
    if (score > filter.log_score) {
      filter.log_score = score;
      filter.setting = memory > 1e8 ? "nothing forgotten" : fmt::format("memory {} rows", memory);
    }
  }
  RivalScore descent{"SGD", "", -1e300};
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
