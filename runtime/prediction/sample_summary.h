// Summaries of a few draws of one number.
#ifndef WINDHOVER_RUNTIME_PREDICTION_SAMPLE_SUMMARY_H_
#define WINDHOVER_RUNTIME_PREDICTION_SAMPLE_SUMMARY_H_

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace windhover {

struct SampleMoments {
  double mean = 0;
  double variance = 0;  // divided by count - 1
};

// REQUIRES, here and below: count >= 2.
inline SampleMoments sample_moments(const double* values, std::size_t count) noexcept {
  SampleMoments m;
  for (std::size_t i = 0; i < count; ++i) m.mean += values[i];
  m.mean /= static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    m.variance += (values[i] - m.mean) * (values[i] - m.mean);
  }
  m.variance /= static_cast<double>(count - 1);
  return m;
}

// The quantile by linear interpolation between neighbours of sorted values.
inline double sample_quantile(const double* sorted, std::size_t count, double p) noexcept {
  const double position = p * static_cast<double>(count - 1);
  const auto low = std::min(static_cast<std::size_t>(position), count - 2);
  return sorted[low] + (position - static_cast<double>(low)) * (sorted[low + 1] - sorted[low]);
}

// The log of the mean of numbers whose logs are added one by one.
class LogMeanExp {
 public:
  void add(double log_value) noexcept {
    if (log_value > peak_) {
      sum_ = 1 + sum_ * std::exp(peak_ - log_value);
      peak_ = log_value;
    } else {
      sum_ += std::exp(log_value - peak_);
    }
    ++count_;
  }
  double value() const noexcept { return peak_ + std::log(sum_ / count_); }

 private:
  double peak_ = -1e300;
  double sum_ = 0;
  double count_ = 0;
};

// p log p, 0 at 0.
inline double plogp(double p) noexcept { return p > 0 ? p * std::log(p) : 0.0; }

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_SAMPLE_SUMMARY_H_
