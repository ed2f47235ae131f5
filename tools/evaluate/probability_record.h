// What predicted probabilities of 0 or 1 were worth: calibration and coverage.
#ifndef WINDHOVER_TOOLS_EVALUATE_PROBABILITY_RECORD_H_
#define WINDHOVER_TOOLS_EVALUATE_PROBABILITY_RECORD_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace windhover {

class ProbabilityRecord {
 public:
  // `p`: the probability that was predicted for 1; `y`: the outcome, 0 or 1.
  void add(double p, double y) noexcept {
    const auto bin = static_cast<std::size_t>(std::clamp(p * kBins, 0.0, kBins - 1.0));
    said_[bin] += p;
    happened_[bin] += y;
    rows_ += 1;
    // The randomised PIT of the outcome is uniform on a step; this part of it is within the 90 %
    // interval.
    const double low = y > 0 ? 1 - p : 0;
    const double high = y > 0 ? 1 : 1 - p;
    const double inside = std::min(high, kUpper) - std::max(low, kLower);
    held_ += high > low ? std::max(inside, 0.0) / (high - low) : 0;
  }
  // The mean of |predicted - observed| over ten bins of the predicted probability, weighted by
  // rows.
  double calibration_error() const noexcept {
    double error = 0;
    for (std::size_t b = 0; b < kBins; ++b) error += std::abs(said_[b] - happened_[b]) / rows_;
    return error;
  }
  // Share of the outcomes within central intervals of 90 %.
  double held() const noexcept { return held_ / rows_; }

 private:
  static constexpr std::size_t kBins = 10;
  static constexpr double kLower = 0.05;
  static constexpr double kUpper = 0.95;

  std::array<double, kBins> said_{};
  std::array<double, kBins> happened_{};
  double held_ = 0;
  double rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_PROBABILITY_RECORD_H_
