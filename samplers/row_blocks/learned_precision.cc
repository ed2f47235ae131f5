#include "windhover/samplers/row_blocks/learned_precision.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr double kMostLogChange = 0.2;
// Bounds on a step of log value in follow(), because chains have to follow each change.
constexpr double kLeastPrecisionStep = 0.02;
constexpr double kMostPrecisionStep = 0.5;
// How far E[theta_j dU/dtheta_j] may be from 1.
constexpr double kVirialTolerance = 0.1;

}  // namespace

void LearnedPrecision::reset(double start, double least, double most) noexcept {
  least_ = least;
  most_ = most;
  value_ = start_ = std::clamp(start, least, most);
  tails_ = log_change_ = 0;
  followed_ = false;
  sums_ = {};
  moves_ = 0;
}

void LearnedPrecision::expect(double start) noexcept {
  start_ = std::clamp(start, least_, most_);
  log_change_ = 0;
  if (followed_ || std::abs(std::log(start_ / value_)) < kMostLogChange) return;
  log_change_ = std::log(start_ / value_);
  value_ = start_;
  sums_ = {};
  moves_ = 0;
}

float LearnedPrecision::stretch(float curvature) const noexcept {
  if (log_change_ == 0) return 1;
  const double share = value_ / (value_ + curvature);
  return static_cast<float>(std::exp(-0.5 * share * log_change_));
}

void LearnedPrecision::end(bool trusted, std::uint64_t rows, std::uint32_t chains) noexcept {
  if (moves_ == 0 || moves_ < rows * chains) return;
  const double virial = sums_.informed > 0 ? sums_.virial / sums_.informed : 0;
  if (trusted && std::abs(virial - 1) <= kVirialTolerance) {
    // As many moves as there are rows touch each column once for each of its rows.
    const double share = static_cast<double>(rows) / static_cast<double>(moves_);
    const double slope = 0.5 * share * sums_.slope - std::log(value_ / start_);
    const double information = 0.5 * share * sums_.information + 1;
    const double before = value_;
    const double step = std::clamp(slope / information, -kMostLogChange, kMostLogChange);
    value_ = std::clamp(before * std::exp(step), least_, most_);
    log_change_ += std::log(value_ / before);
    followed_ = true;
  }
  sums_ = {};
  moves_ = 0;
}

void LearnedPrecision::follow(const PrecisionEvidence::Prior& there) noexcept {
  sums_ = {};
  moves_ = 0;
  log_change_ = 0;
  tails_ = there.tails;
  const double change = std::log(there.precision / value_);
  if (std::abs(change) < kLeastPrecisionStep) return;
  const double step = std::clamp(change, -kMostPrecisionStep, kMostPrecisionStep);
  value_ = std::clamp(value_ * std::exp(step), least_, most_);
  followed_ = true;
}

void LearnedPrecision::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learned precision", 4);
  visitor.values(value_, start_, tails_, followed_, log_change_, sums_.slope, sums_.information,
                 sums_.virial, sums_.informed, moves_);
}

}  // namespace windhover
