#include "windhover/runtime/window/age_weights.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

// N / tau, so that 2 N rows are worth N: the root of x = 2 tanh(x), since rows of weight
// exp(-age / tau) up to an age of M are worth 2 tau tanh(M / (2 tau)).
constexpr double kSizeInTaus = 1.9150080481545375;
constexpr std::uint64_t kStepsASize = 32;

}  // namespace

AgeWeights::AgeWeights(std::uint64_t rows, ForgettingSpread spread) noexcept
    : tau_(static_cast<double>(rows) / kSizeInTaus),
      step_(std::max<std::uint64_t>(1, rows / kStepsASize)),
      series_rows_(rows) {
  log_keep_ = -static_cast<double>(step_) / tau_;
  keep_ = std::exp(log_keep_);
  if (spread == ForgettingSpread::kPosterior) discount_ = 0.5 / tau_;
}

double AgeWeights::weight(std::uint64_t row, std::uint64_t newest) const noexcept {
  if (flat()) return 1;
  const std::uint64_t steps = newest / step_ - row / step_;
  return steps == 0 ? 1.0 : steps == 1 ? keep_ : std::exp(static_cast<double>(steps) * log_keep_);
}

// Sums the newest step, the whole ones before it, and the part of the oldest.
AgeWeights::Sums AgeWeights::sums(std::uint64_t first, std::uint64_t end) const noexcept {
  const auto rows = static_cast<double>(end - first);
  if (flat() || end == first || first / step_ == (end - 1) / step_) return {rows, rows};
  const auto step = static_cast<double>(step_);
  const std::uint64_t first_step = first / step_;
  const std::uint64_t last_step = (end - 1) / step_;
  const auto newest = static_cast<double>(end - last_step * step_);
  const auto oldest = static_cast<double>((first_step + 1) * step_ - first);
  const auto whole = static_cast<double>(last_step - first_step - 1);
  const double faded = std::exp(whole * log_keep_);
  const double squared_keep = keep_ * keep_;
  const double squared_faded = faded * faded;
  return {newest + step * keep_ * (1 - faded) / (1 - keep_) + oldest * keep_ * faded,
          newest + step * squared_keep * (1 - squared_faded) / (1 - squared_keep) +
              oldest * squared_keep * squared_faded};
}

}  // namespace windhover
