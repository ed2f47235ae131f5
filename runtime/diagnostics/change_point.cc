#include "windhover/runtime/diagnostics/change_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace windhover {

void ChangePoint::begin() noexcept {
  places_ = count_ = 0;
  width_ = 1;
  sum_ = 0;
}

void ChangePoint::add(double x) noexcept {
  sum_ += x;
  if (++count_ % width_ != 0) return;
  sums_[places_++] = sum_;
  if (places_ < kMost) return;
  places_ /= 2;
  width_ *= 2;
  for (std::size_t i = 0; i < places_; ++i) sums_[i] = sums_[2 * i + 1];
}

ChangePoint::Split ChangePoint::split() const noexcept {
  const auto n = static_cast<double>(count_);
  Split best;
  double largest = -1;
  for (std::uint64_t i = 0; i < places_; ++i) {
    const std::uint64_t before = (i + 1) * width_;
    if (before >= count_) break;
    const auto k = static_cast<double>(before);
    const double off = sums_[i] - k / n * sum_;
    const double likelihood = off * off / (k * (n - k));
    if (likelihood > largest) {
      largest = likelihood;
      best.before = before;
    }
  }
  if (best.before > 0 && largest > 0)
    best.contrast = std::sqrt(n * largest / variance(best.before));
  return best;
}

// Long-run variance of a number about the means before and after; infinity with fewer than three
// stretches.
double ChangePoint::variance(std::uint64_t before) const noexcept {
  constexpr std::uint64_t kStretches = 32;
  const std::uint64_t places = std::max<std::uint64_t>(1, places_ / kStretches);
  const double sum_before = sums_[before / width_ - 1];
  const double mean_before = sum_before / static_cast<double>(before);
  const double mean_after = (sum_ - sum_before) / static_cast<double>(count_ - before);
  double squares = 0, stretches = 0;
  for (std::uint64_t i = 0; i + places <= places_; i += places) {
    const std::uint64_t begin = i * width_, end = (i + places) * width_;
    if (begin < before && before < end) continue;
    const auto numbers = static_cast<double>(end - begin);
    const double sum = sums_[i + places - 1] - (i == 0 ? 0.0 : sums_[i - 1]);
    const double off = sum - numbers * (end <= before ? mean_before : mean_after);
    squares += off * off / numbers;
    stretches += 1;
  }
  if (stretches < 3) return std::numeric_limits<double>::infinity();
  return squares / (stretches - 2);
}

}  // namespace windhover
