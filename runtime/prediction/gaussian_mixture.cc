#include "windhover/runtime/prediction/gaussian_mixture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace windhover {

namespace {

// Below this spread of the noise variance one Gaussian is within 0.001 sd of the mixture at the
// 99.9 % quantile (the excess kurtosis is 3 relative_sd^2).
constexpr double kSmallestSpread = 0.02;
// Above this spread midpoints of equal probability are off by more than 3 % at the 95 % quantile.
constexpr double kLargeSpread = 1.0;

double normal_density(double z) noexcept {
  return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
}

}  // namespace

double normal_cdf(double z) noexcept { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_log_density(double off, double variance) noexcept {
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + off * off / variance);
}

double normal_quantile(double p) noexcept {
  // The logistic approximation gives a rough start for Newton steps on log-tails: the cdf is smooth
  // and monotone, and from this start at most a handful are needed.
  const double tail = std::min(p, 1 - p);
  double z = tail > 0.02 ? (std::log(p / (1 - p)) / 1.702) : 0.0;
  if (tail <= 0.02) {
    const double t = std::sqrt(-2 * std::log(tail));
    z = t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t);  // A&S 26.2.22
    if (p < 0.5) z = -z;
  }
  constexpr int kMaxSteps = 60;
  for (int i = 0; i < kMaxSteps; ++i) {
    // Work on the smaller tail, where the cdf keeps its relative precision.
    const double error = p < 0.5 ? normal_cdf(z) - p : (1 - p) - normal_cdf(-z);
    const double u = error / normal_density(z);
    const double step = u / (1 + 0.5 * z * u);  // Halley
    z -= step;
    if (std::abs(step) < 1e-14 * (1 + std::abs(z))) break;
  }
  return z;
}

StudentScale::StudentScale(double nu, double relative_sd) noexcept {
  // log p(v) of v = log(chi^2_nu / nu), up to a constant: nu/2 (v - e^v + 1), 0 at its mode v = 0.
  const auto log_density = [nu](double v) { return 0.5 * nu * (v - std::expm1(v)); };
  // The edges are where it has fallen by e^-40 on each side; the left one may be far away.
  constexpr double kFall = 40;
  const auto edge = [&](double outside) {
    double inside = 0;
    for (int i = 0; i < 50; ++i) {
      const double middle = 0.5 * (inside + outside);
      (log_density(middle) > -kFall ? inside : outside) = middle;
    }
    return outside;
  };
  const double low = edge(-2 * kFall) - 8 * relative_sd;
  const double high = edge(kFall) + 8 * relative_sd;
  const double spacing = (high - low) / (kNodes - 1);
  constexpr int kSpread = 12;  // nodes each side over the spread of the scale
  double total = 0;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double v = high - spacing * static_cast<double>(i);
    double density = 0;
    const int reach = relative_sd > kSmallestSpread ? kSpread : 0;
    for (int k = -reach; k <= reach; ++k) {
      const double z = 0.5 * k;
      density += std::exp(-0.5 * z * z + log_density(v + relative_sd * z));
    }
    factor[i] = std::exp(-v - 0.5 * relative_sd * relative_sd);
    weight[i] = density;
    total += density;
  }
  for (double& w : weight) w /= total;
}

GaussianMixture::GaussianMixture(double mean, double epistemic, double dispersion,
                                 double relative_sd) noexcept
    : mean_(mean), components_(relative_sd > kSmallestSpread ? kComponents : 1) {
  if (relative_sd > kLargeSpread) {
    spread_wide(epistemic, dispersion, relative_sd);
    return;
  }
  std::fill_n(weight_.begin(), components_, 1.0 / static_cast<double>(components_));
  if (components_ == 1) {
    sd_[0] = std::sqrt(epistemic + dispersion);
    return;
  }
  // Midpoints of equal probability: normal quantiles at (i + 1/2) / 9.
  static constexpr std::array<double, kComponents> kNodes = {
      -1.5932188180231, -0.9674215661017, -0.5894557978497, -0.2822161471230, 0.0,
      0.2822161471230,  0.5894557978497,  0.9674215661017,  1.5932188180231};
  double total = 0;
  for (std::size_t i = 0; i < components_; ++i) {
    sd_[i] = std::exp(relative_sd * kNodes[i]);
    total += sd_[i];
  }
  const double scale = dispersion * static_cast<double>(components_) / total;
  for (std::size_t i = 0; i < components_; ++i) sd_[i] = std::sqrt(epistemic + scale * sd_[i]);
}

// Uses a trapezoidal rule over log noise: midpoints of equal probability do not reach the tails.
void GaussianMixture::spread_wide(double epistemic, double dispersion,
                                  double relative_sd) noexcept {
  constexpr double kReach = 5;
  components_ = kWideComponents;
  double total = 0;
  for (std::size_t i = 0; i < components_; ++i) {
    const double z = kReach * (2.0 * static_cast<double>(i) / (kWideComponents - 1) - 1);
    sd_[i] = std::sqrt(epistemic +
                       dispersion * std::exp(relative_sd * z - 0.5 * relative_sd * relative_sd));
    weight_[i] = std::exp(-0.5 * z * z);
    total += weight_[i];
  }
  for (std::size_t i = 0; i < components_; ++i) weight_[i] /= total;
}

GaussianMixture::GaussianMixture(double mean, double epistemic, double dispersion,
                                 const StudentScale& scale) noexcept
    : mean_(mean), components_(StudentScale::kNodes), weight_(scale.weight) {
  for (std::size_t i = 0; i < components_; ++i) {
    sd_[i] = std::sqrt(epistemic + dispersion * scale.factor[i]);
  }
}

GaussianMixture::GaussianMixture(double mean, double epistemic, const NoiseMixture& noise) noexcept
    : mean_(mean), components_(noise.components) {
  for (std::size_t i = 0; i < components_; ++i) {
    sd_[i] = std::sqrt(epistemic + noise.variance[i]);
    weight_[i] = noise.weight[i];
  }
}

double GaussianMixture::cdf(double y) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < components_; ++i) {
    sum += weight_[i] * normal_cdf((y - mean_) / sd_[i]);
  }
  return sum;
}

double GaussianMixture::density(double y) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < components_; ++i) {
    sum += weight_[i] * normal_density((y - mean_) / sd_[i]) / sd_[i];
  }
  return sum;
}

double GaussianMixture::log_density(double y) const noexcept {
  std::array<double, kMaxComponents> terms;
  double largest = -1e300;
  for (std::size_t i = 0; i < components_; ++i) {
    const double z = (y - mean_) / sd_[i];
    terms[i] = -0.5 * z * z - std::log(sd_[i]);
    terms[i] += weight_[i] > 0 ? std::log(weight_[i]) : -HUGE_VAL;
    largest = std::max(largest, terms[i]);
  }
  double sum = 0;
  for (std::size_t i = 0; i < components_; ++i) sum += std::exp(terms[i] - largest);
  return largest + std::log(sum) - 0.5 * std::log(2 * std::numbers::pi);
}

double GaussianMixture::quantile(const NormalLevel& level) const noexcept {
  const double p = level.p;
  const double z = level.z;
  if (components_ == 1) return mean_ + z * sd_[0];
  // The components are ordered, so their own quantiles bracket the mixture's.
  double low = mean_ + z * (z < 0 ? sd_[components_ - 1] : sd_[0]);
  double high = mean_ + z * (z < 0 ? sd_[0] : sd_[components_ - 1]);
  double y = mean_ + z * sd_[components_ / 2];
  constexpr int kMaxSteps = 100;
  for (int i = 0; i < kMaxSteps && high - low > 1e-12 * sd_[0]; ++i) {
    const double error = cdf(y) - p;
    (error > 0 ? high : low) = y;
    const double newton = y - error / density(y);
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - y) < 1e-13 * sd_[0]) return next;
    y = next;
  }
  return y;
}

double GaussianMixture::crps(double y) const noexcept {
  // CRPS = E|Y - y| - E|Y - Y'| / 2, with E|N(m, s^2)| in closed form.
  double to_outcome = 0;
  double between = 0;
  for (std::size_t i = 0; i < components_; ++i) {
    const double z = (y - mean_) / sd_[i];
    to_outcome += weight_[i] * sd_[i] * (z * (2 * normal_cdf(z) - 1) + 2 * normal_density(z));
    for (std::size_t j = 0; j < components_; ++j) {
      between += weight_[i] * weight_[j] * std::sqrt(sd_[i] * sd_[i] + sd_[j] * sd_[j]);
    }
  }
  return to_outcome - between * normal_density(0);
}

}  // namespace windhover
