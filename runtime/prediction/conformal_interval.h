// Intervals whose ends were learned from outcomes (scoring/conformal.h), in place of the model's
// own.
#ifndef WINDHOVER_RUNTIME_PREDICTION_CONFORMAL_INTERVAL_H_
#define WINDHOVER_RUNTIME_PREDICTION_CONFORMAL_INTERVAL_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// Both ends as normal scores of the predictive distribution: an end at score z is its quantile of
// probability Phi(z). NaN: predictions are not scored, and there is no such interval.
struct ConformalBounds {
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();

  bool known() const noexcept { return !std::isnan(upper); }
  // 1 less the probability that the model gives the interval (Gibbs and Candes 2021: alpha_t).
  double alpha() const noexcept { return normal_cdf(lower) + normal_cdf(-upper); }
};

// One tail of a predictive distribution beyond the score +-kLast, where probabilities have no
// digits left and no model can be relied on: a straight line through its quantiles at the scores
// kLast - 1 and kLast.
struct ConformalTail {
  static constexpr double kLast = 6;
  static constexpr double kBefore = kLast - 1;

  double last;  // quantile at the score kLast, or -kLast
  double step;  // for each further unit of the score; above 0

  // `before`: the quantile one unit of the score further in.
  static ConformalTail through(double before, double last) noexcept {
    const double step = std::abs(last - before);
    return {last, step > 0 ? step : std::max(1.0, 1e-9 * std::abs(last))};
  }
  double at(double z) const noexcept {
    return last + std::copysign(step * (std::abs(z) - kLast), z);
  }
  // The score of an outcome beyond `last`, in an upper or a lower tail.
  double score_above(double y) const noexcept { return kLast + std::max(0.0, (y - last) / step); }
  double score_below(double y) const noexcept { return -kLast - std::max(0.0, (last - y) / step); }
};

// The value of y at one end of an interval; quantile(NormalLevel) is the distribution's.
template <class Quantile>
double conformal_end(const NormalLevel& end, Quantile&& quantile) noexcept {
  if (std::abs(end.z) <= ConformalTail::kLast) return quantile(end);
  const NormalLevel last = NormalLevel::at(std::copysign(ConformalTail::kLast, end.z));
  const NormalLevel before = NormalLevel::at(std::copysign(ConformalTail::kBefore, end.z));
  return ConformalTail::through(quantile(before), quantile(last)).at(end.z);
}

// The probabilities of a prediction's classes, also of two, for which the summary has only that of
// class 1.
class ClassShares {
 public:
  explicit ClassShares(const PredictiveSummary& s) noexcept
      : two_{1 - s.epred_mean, s.epred_mean},
        shares_(s.classes > 0 ? std::span(s.probs).first(s.classes) : std::span(two_)) {}
  ClassShares(const ClassShares&) = delete;
  ClassShares& operator=(const ClassShares&) = delete;

  // The log of class c's share after all shares have been raised to the same power and normalised;
  // shares below 1e-150 count as that.
  template <class Power>
  double tempered(std::size_t c, Power&& power) const noexcept {
    constexpr double kLeast = 1e-150;
    double sum = 0;
    for (const double share : shares_) sum += power(std::max(share, kLeast));
    return std::log(power(std::max(shares_[c], kLeast)) / sum);
  }

  // The probability of all classes that are more probable than class c.
  double before(std::size_t c) const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      if (shares_[k] > shares_[c] || (shares_[k] == shares_[c] && k < c)) sum += shares_[k];
    }
    return sum;
  }

  // before(c) as a normal score, 0 for the most probable class. The set of classes up to a score
  // grows with that score (Romano, Sesia, Candes 2020: adaptive prediction sets).
  double score(std::size_t c) const noexcept {
    // A tail of 1e-9 is the least that means anything, as ConformalTail::kLast.
    return normal_quantile(0.5 * (1 + std::clamp(before(c), 0.0, 1 - 2e-9)));
  }

  // The set up to the score `upper`: bit c is set where class c belongs to it, as the most probable
  // class always does.
  std::uint64_t set(double upper) const noexcept {
    std::uint64_t set = 0;
    for (std::size_t c = 0; c < shares_.size(); ++c) {
      if (score(c) <= std::max(0.0, upper)) set |= std::uint64_t{1} << c;
    }
    return set;
  }

  // The probability of a set of classes.
  double mass(std::uint64_t set) const noexcept {
    double sum = 0;
    for (std::size_t c = 0; c < shares_.size(); ++c) {
      if ((set >> c & 1) != 0) sum += shares_[c];
    }
    return sum;
  }

 private:
  std::array<double, 2> two_;
  std::span<const double> shares_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_CONFORMAL_INTERVAL_H_
