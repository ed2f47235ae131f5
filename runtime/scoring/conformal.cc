#include "windhover/runtime/scoring/conformal.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover {
namespace {

double expected_score(double probability) noexcept {
  return normal_quantile(0.5 * (1 + probability));
}

const std::array<double, Conformal::kIntervals>& expected_scores() noexcept {
  static const std::array<double, Conformal::kIntervals> scores = [] {
    std::array<double, Conformal::kIntervals> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = expected_score(Conformal::kFollowed[i]);
    return all;
  }();
  return scores;
}

}  // namespace

Conformal::Conformal(Ends ends) noexcept : ends_(ends) {
  const std::array<double, kIntervals>& expected = expected_scores();
  for (std::size_t i = 0; i < kIntervals; ++i) {
    lower_[i].store(-expected[i], std::memory_order_relaxed);
    upper_[i].store(expected[i], std::memory_order_relaxed);
  }
}

double Conformal::moved(double end, double rate, double outside, double share,
                        double outwards) noexcept {
  const double step = rate * std::max(1.0, std::abs(end) / kUsual) * (outside - share);
  return std::clamp(end + outwards * step, -kFarthest, kFarthest);
}

void Conformal::add(const NormalScore& y) noexcept {
  rate_of_take_ += std::max(kLeastRate, kFirstRows / (kFirstRows + rows_ + rows_in_take_));
  ++rows_in_take_;
  for (std::size_t i = 0; i < kIntervals; ++i) {
    const double upper = upper_[i].load(std::memory_order_relaxed);
    if (ends_ == Ends::kApart) {
      below_[i] += y.low < lower_[i].load(std::memory_order_relaxed) ? 1.0 : 0.0;
      above_[i] += y.high > upper ? 1.0 : 0.0;
    } else {
      const double end = std::max(0.0, upper);
      above_[i] += y.low < -end || y.high > end ? 1.0 : 0.0;
    }
  }
}

void Conformal::end_take() noexcept {
  if (rows_in_take_ == 0) return;
  const double rate = std::min(rate_of_take_, kMostATake);
  for (std::size_t i = 0; i < kIntervals; ++i) {
    const double share = 1 - kFollowed[i];  // that may lie outside
    const double below = std::exchange(below_[i], 0.0) / rows_in_take_;
    const double above = std::exchange(above_[i], 0.0) / rows_in_take_;
    const double lower = lower_[i].load(std::memory_order_relaxed);
    const double upper = upper_[i].load(std::memory_order_relaxed);
    double next = 0;  // of the upper end
    if (ends_ == Ends::kApart) {
      lower_[i].store(moved(lower, rate, below, share / 2, -1), std::memory_order_relaxed);
      next = moved(upper, rate, above, share / 2, 1);
    } else {
      next = std::max(-kBeyondMiddle, moved(upper, rate, above, share, 1));
    }
    upper_[i].store(next, std::memory_order_relaxed);
  }
  rows_ += rows_in_take_;
  rows_in_take_ = rate_of_take_ = 0;
}

Conformal::Bounds Conformal::bounds() const noexcept {
  Bounds all;
  for (std::size_t i = 0; i < kIntervals; ++i) {
    const double lower = lower_[i].load(std::memory_order_relaxed);
    const double upper = upper_[i].load(std::memory_order_relaxed);
    if (ends_ == Ends::kApart) {  // ends may pass each other where y hardly varies
      all[i] = {std::min(lower, upper), std::max(lower, upper)};
    } else {
      all[i].upper = std::max(upper, 0.0);
      all[i].lower = -all[i].upper;
    }
    if (i == 0) continue;
    all[i].lower = std::min(all[i].lower, all[i - 1].lower);
    all[i].upper = std::max(all[i].upper, all[i - 1].upper);
  }
  return all;
}

void Conformal::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("conformal intervals");
  const auto visit = [&](End& end) {
    double score = end.load(std::memory_order_relaxed);
    visitor.value(score);
    if (visitor.restores()) end.store(score, std::memory_order_relaxed);
  };
  visitor.value(rows_);
  for (End& end : lower_) visit(end);
  for (End& end : upper_) visit(end);
}

ConformalBounds Conformal::bounds(const Bounds& known, double probability) noexcept {
  const std::array<double, kIntervals>& expected = expected_scores();
  const double z = expected_score(probability);
  const auto within = std::lower_bound(expected.begin(), expected.end(), z);
  const auto i = static_cast<std::size_t>(within - expected.begin());
  if (i > 0 && i < kIntervals) {
    const double share = (z - expected[i - 1]) / (expected[i] - expected[i - 1]);
    return {std::lerp(known[i - 1].lower, known[i].lower, share),
            std::lerp(known[i - 1].upper, known[i].upper, share)};
  }
  const std::size_t nearest = std::min(i, kIntervals - 1);
  const double middle = 0.5 * (known[0].lower + known[0].upper);
  const double factor = z / expected[nearest];
  return {middle + factor * (known[nearest].lower - middle),
          middle + factor * (known[nearest].upper - middle)};
}

}  // namespace windhover
