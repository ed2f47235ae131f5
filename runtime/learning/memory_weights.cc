#include "windhover/runtime/learning/memory_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace windhover {

namespace {

// The most nats that a forecaster counts as behind the best one in a take: otherwise one extreme
// take would scale those after it to nothing for long. It also stands for a loss that has
// overflowed or is NaN.
constexpr double kMostUnusual = 100;

}  // namespace

void MemoryWeights::reset(double ratio) noexcept {
  double weight = (1 - ratio) / (1 - std::pow(ratio, static_cast<double>(count_)));
  for (std::size_t i = 0; i < count_; ++i, weight *= ratio) weights_[i] = weight;
  squares_ = takes_ = 0;
  losses_.fill(0);
  rows_ = 0;
}

void MemoryWeights::add(const std::array<double, kMost>& losses, std::size_t rows) noexcept {
  rows_ += rows;
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < count_; ++i) {
    if (losses[i] < best) best = losses[i];
  }
  // Rows so large that all have overflowed compare nothing.
  if (!std::isfinite(best)) return;
  for (std::size_t i = 0; i < count_; ++i) {
    // This is never true of a NaN.
    losses_[i] += losses[i] - best < kMostUnusual ? losses[i] - best : kMostUnusual;
  }
}

void MemoryWeights::end_take(std::span<const double> worth) noexcept {
  constexpr double kKept = 0.9;  // of what is usual, from one take to the next
  const auto all = std::span(losses_).first(count_);
  const double best = std::ranges::min(all);
  for (double& loss : all) loss = std::min(loss - best, kMostUnusual);
  const double apart = std::ranges::max(all.first(usual_));
  squares_ = kKept * squares_ + apart * apart;
  takes_ = kKept * takes_ + 1;
  const double usual = std::sqrt(squares_ / takes_);
  const double scale = usual > kMostATake ? kMostATake / usual : 1.0;
  double believed = 0;
  for (std::size_t i = 0; i < count_; ++i) believed += weights_[i] * worth[i];
  believed = std::max(believed, 1.0);
  // The rest goes to all alike: a share kShare / n for the n-th row that is believed.
  const double kept = std::pow(believed / (believed + static_cast<double>(rows_)), kShare);
  double sum = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const double before = kept * weights_[i] + (1 - kept) / static_cast<double>(count_);
    sum += weights_[i] = before * std::exp(-scale * losses_[i]);
  }
  for (std::size_t i = 0; i < count_; ++i) weights_[i] /= sum;
  losses_.fill(0);
  rows_ = 0;
}

std::array<double, MemoryWeights::kMost> MemoryWeights::served(
    const std::array<bool, kMost>& takes_part) const noexcept {
  std::array<double, kMost> of{};
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!takes_part[i]) continue;
    last = i;
    if (weights_[i] >= kLeast) sum += of[i] = weights_[i];
  }
  // Where no weight is large enough, the last that takes part is nearest to those believed.
  if (sum == 0) sum = of[last] = 1;
  for (double& weight : of) weight /= sum;
  return of;
}

void MemoryWeights::visit_state(StateVisitor& visitor) noexcept {
  visitor.visit(weights_.data(), kMost);
  visitor.values(squares_, takes_);
}

}  // namespace windhover
