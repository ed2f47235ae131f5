#include "windhover/runtime/scoring/calibration_check.h"

#include <algorithm>
#include <cmath>

namespace windhover {
namespace {

struct Interval {
  double promised;
  double bound;  // of what is near enough
  double held;   // beyond it
};
constexpr std::array kIntervals = {Interval{0.5, 0.46, 0.2},  Interval{0.5, 0.46, 0.35},
                                   Interval{0.5, 0.54, 0.65}, Interval{0.5, 0.54, 0.85},
                                   Interval{0.9, 0.87, 0.6},  Interval{0.9, 0.87, 0.78},
                                   Interval{0.9, 0.93, 0.975}};
constexpr double kLittle = 3;  // log ratio: an alternative e^3 times as likely
// No row alone says more, in nats: a ratio that is cut off stays below what chance allows.
constexpr double kMost = 2;

}  // namespace

void CalibrationCheck::add(const Outcome& outcome) noexcept {
  std::array<double, kAlternatives> gain;
  std::size_t next = 0;
  for (const auto& [promised, bound, held] : kIntervals) {
    const bool covered = std::abs(outcome.pit - 0.5) <= 0.5 * promised;
    gain[next++] = std::log(covered ? held / bound : (1 - held) / (1 - bound));
  }
  gain[next++] = std::min(outcome.reference_lead, kMost);
  gain[next++] = std::min(outcome.tempered.half - outcome.tempered.three_quarters, kMost);
  gain[next++] = std::min(outcome.tempered.twice - outcome.tempered.five_quarters, kMost);
  const bool stays = stays_on(gain);
  borne_out_.store(++rows_ >= kLeastRows && !stays, std::memory_order_relaxed);
  failing_.store(failing() ? stays : goes_off(gain), std::memory_order_relaxed);
}

bool CalibrationCheck::goes_off(const std::array<double, kAlternatives>& gain) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < kAlternatives; ++i) {
    const double more = (evidence_[i] + 1) * std::exp(gain[i]);
    evidence_[i] = more > 0 ? more : 0;  // and of what is no number
    sum += evidence_[i];
  }
  if (sum < kRows * kAlternatives) return false;
  evidence_.fill(0);
  return true;
}

bool CalibrationCheck::stays_on(const std::array<double, kAlternatives>& gain) noexcept {
  const double most = 2 * std::log(kRows * kAlternatives);
  double largest = 0;
  for (std::size_t i = 0; i < kAlternatives; ++i) {
    const double sum = log_ratio_[i] + gain[i];
    log_ratio_[i] = sum > 0 ? std::min(sum, most) : 0;  // and of what is no number
    largest = std::max(largest, log_ratio_[i]);
  }
  return largest > kLittle;
}

}  // namespace windhover
