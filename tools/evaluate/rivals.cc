#include "windhover/tools/evaluate/rivals.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/logit_normal.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kWorst = -1'000;  // as the engine's own scores

// Standardised rows with a constant behind them; y in units of its own spread, where it is a
// number.
class Rows {
 public:
  Rows(const Dataset& data, bool number) : data_(data), x_(static_cast<Index>(data.columns()) + 1) {
    if (!number) return;
    double squares = 0;
    for (const double y : data.targets) mean_ += y / static_cast<double>(data.rows());
    for (const double y : data.targets) squares += (y - mean_) * (y - mean_);
    if (squares > 0) scale_ = std::sqrt(squares / static_cast<double>(data.rows()));
  }

  const VectorXd& row(std::size_t i) {
    for (std::size_t j = 0; j < data_.columns(); ++j) {
      const double sd = data_.sd[j] > 0 ? data_.sd[j] : 1;
      x_[static_cast<Index>(j)] = (data_.row(i)[j] - data_.mean[j]) / sd;
    }
    x_[x_.size() - 1] = 1;
    return x_;
  }
  double target(std::size_t i) const { return (data_.targets[i] - mean_) / scale_; }
  double scale() const { return scale_; }
  Index dimension() const { return x_.size(); }

 private:
  const Dataset& data_;
  VectorXd x_;
  double mean_ = 0;
  double scale_ = 1;
};

double normal_log_density(double off, double variance) {
  return -0.5 * (off * off / variance + std::log(2 * std::numbers::pi * variance));
}

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

double recursive_score(const Dataset& data, bool number, double memory) {
  Rows rows(data, number);
  const double keep = 1 - 1 / memory;
  MatrixXd p = MatrixXd::Identity(rows.dimension(), rows.dimension()) * 6.25;
  VectorXd mean = VectorXd::Zero(rows.dimension());
  Noise noise(memory);
  double sum = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const VectorXd& x = rows.row(i);
    const double y = rows.target(i);
    p /= keep;
    // Directions in which no rows come would grow without bound.
    for (Index j = 0; j < p.rows(); ++j) {
      if (p(j, j) > 6.25) {
        const double shrink = std::sqrt(6.25 / p(j, j));
        p.row(j) *= shrink;
        p.col(j) *= shrink;
      }
    }
    const VectorXd px = p * x;
    const double eta = mean.dot(x);
    const double spread = std::max(px.dot(x), 0.0);
    double curvature = 1;
    double residual = y - eta;
    if (number) {
      const double variance = noise.variance();
      sum += std::max(
          normal_log_density(residual, variance * (1 + spread)) - std::log(rows.scale()), kWorst);
      noise.add(residual * residual / (1 + spread));
    } else {
      const LogitNormalMoments moments = logit_normal_moments(eta, std::sqrt(spread));
      sum += std::max(std::log(y == 1 ? moments.mean : moments.other), kWorst);
      const double probability = 1 / (1 + std::exp(-eta));
      curvature = std::max(probability * (1 - probability), 1e-6);
      residual = y - probability;
    }
    const double gain = 1 / (1 + curvature * spread);
    mean += px * (gain * residual);
    p.noalias() -= (curvature * gain) * px * px.transpose();
  }
  return sum / static_cast<double>(data.rows());
}

double gradient_descent_score(const Dataset& data, bool number, double rate) {
  Rows rows(data, number);
  VectorXd theta = VectorXd::Zero(rows.dimension());
  Noise noise(10'000);
  double sum = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const VectorXd& x = rows.row(i);
    const double y = rows.target(i);
    const double eta = theta.dot(x);
    const double step = rate / (1 + rate * x.squaredNorm());  // implicit: no rate is too long
    if (number) {
      sum +=
          std::max(normal_log_density(y - eta, noise.variance()) - std::log(rows.scale()), kWorst);
      noise.add((y - eta) * (y - eta));
      theta += step * (y - eta) * x;
    } else {
      sum += std::max(-std::log1p(std::exp(y == 1 ? -eta : eta)), kWorst);
      theta += step * (y - 1 / (1 + std::exp(-eta))) * x;
    }
  }
  return sum / static_cast<double>(data.rows());
}

}  // namespace

std::vector<RivalScore> rival_scores(const Dataset& data, Response response) {
  const bool number = has_dispersion(response);
  if (!number && response != Response::kBernoulli) return {};
  RivalScore filter{number ? "Kalman filter" : "extended Kalman filter", "", -1e300};
  for (const double memory : {1e9, 30'000.0, 10'000.0, 3'000.0, 1'000.0, 300.0, 100.0}) {
    const double score = recursive_score(data, number, memory);
    if (score > filter.log_score) {
      filter.log_score = score;
      filter.setting = memory > 1e8 ? "nothing forgotten" : fmt::format("memory {} rows", memory);
    }
  }
  RivalScore descent{"SGD", "", -1e300};
  for (const double rate : {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0}) {
    const double score = gradient_descent_score(data, number, rate);
    if (score > descent.log_score) {
      descent.log_score = score;
      descent.setting = fmt::format("rate {}", rate);
    }
  }
  return {filter, descent};
}

}  // namespace windhover
