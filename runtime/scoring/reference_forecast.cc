#include "windhover/runtime/scoring/reference_forecast.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover {
namespace {

// log Gamma(x), x > 0.
double log_gamma_of(double x) noexcept {
  return x >= 1 ? log_gamma(x) : log_gamma(x + 1) - std::log(x);
}

}  // namespace

ReferenceForecast::ReferenceForecast(Arena& arena, const ModelConfig& model) noexcept
    : classes_(arena.allocate<double>(std::max<std::size_t>(2, model.classes))) {}

void ReferenceForecast::reset() noexcept {
  std::ranges::fill(classes_, 0.0);
  rows_ = mean_ = variance_ = exposure_ = squared_exposure_ = 0;
}

// Each class begins with half a row, so that one that was never seen is possible (Jeffreys).
double ReferenceForecast::class_probability(std::size_t label) const noexcept {
  const double beforehand = 0.5;
  const double all = rows_ + beforehand * static_cast<double>(classes_.size());
  return (rows_ * classes_[label] + beforehand) / all;
}

// A count has the mean mu = rate x exposure and the variance mu + mu^2 / size.
double ReferenceForecast::count_log_score(double y, double exposure) const noexcept {
  const double mean_of_all = std::max(mean_, 0.5 / rows_);
  const double rate = mean_of_all / exposure_;
  const double mean = rate * exposure;
  if (variance_ <= mean_of_all * (1 + 1e-9)) {
    return y * std::log(mean) - mean - log_gamma(y + 1);
  }
  const double size = rate * rate * squared_exposure_ / (variance_ - mean_of_all);
  return log_gamma_of(y + size) - log_gamma_of(size) - log_gamma(y + 1) +
         size * std::log(size / (size + mean)) + y * std::log(mean / (size + mean));
}

// Successes of n trials have the mean n p and the variance n p q (1 + (n - 1) rho). p begins with
// half a success and half a failure.
double ReferenceForecast::binomial_log_score(double y, double trials) const noexcept {
  constexpr double kMostCorrelated = 0.999;
  const double p = (rows_ * mean_ + 0.5) / (rows_ * exposure_ + 1);
  const double q = 1 - p;
  const double choices = log_gamma(trials + 1) - log_gamma(y + 1) - log_gamma(trials - y + 1);
  const double excess = variance_ - exposure_ * p * q;
  const double pairs = (squared_exposure_ - exposure_) * p * q;
  if (pairs <= 0 || excess <= 1e-9 * pairs)
    return choices + y * std::log(p) + (trials - y) * std::log(q);
  const double rho = std::min(excess / pairs, kMostCorrelated);
  const double size = (1 - rho) / rho;
  const auto log_beta = [](double a, double b) {
    return log_gamma_of(a) + log_gamma_of(b) - log_gamma_of(a + b);
  };
  return choices + log_beta(y + size * p, trials - y + size * q) - log_beta(size * p, size * q);
}

double ReferenceForecast::log_score(Response response, double y, double extra) const noexcept {
  if (has_classes(response)) {
    return std::log(class_probability(static_cast<std::size_t>(y)));
  }
  if (rows_ < 2) return 0;
  if (response == Response::kBinomial) return binomial_log_score(y, extra);
  if (is_count(response)) return count_log_score(y, std::exp(extra));
  const double number = working_target(response, y);
  const double jacobian = response == Response::kLogNormal ? -number : 0.0;
  return normal_log_density(number - extra - mean_, std::max(variance_, 1e-300)) + jacobian;
}

void ReferenceForecast::add(Response response, double y, double extra) noexcept {
  rows_ = std::min(rows_ + 1, kMemory);
  const double weight = 1 / rows_;
  if (has_classes(response)) {
    for (double& share : classes_) share -= weight * share;
    classes_[static_cast<std::size_t>(y)] += weight;
    return;
  }
  if (response == Response::kBinomial) return add_count(y, extra, weight);
  if (is_count(response)) return add_count(y, std::exp(extra), weight);
  const double number = working_target(response, y) - extra;
  const double off = number - mean_;
  mean_ += weight * off;
  variance_ += weight * (off * (number - mean_) - variance_);
}

void ReferenceForecast::add_count(double y, double exposure, double weight) noexcept {
  const double off = exposure_ > 0 ? y - mean_ / exposure_ * exposure : y;
  mean_ += weight * (y - mean_);
  exposure_ += weight * (exposure - exposure_);
  squared_exposure_ += weight * (exposure * exposure - squared_exposure_);
  variance_ += weight * (off * (y - mean_ / exposure_ * exposure) - variance_);
}

}  // namespace windhover
