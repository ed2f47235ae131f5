#include "windhover/runtime/scoring/calibration_check.h"

#include <algorithm>
#include <cmath>

namespace windhover {

double RecentEvidence::add(const OutcomeRatios& ratios) noexcept {
  double largest = 0;
  for (std::size_t i = 0; i < kAlternatives; ++i) {
    const double sum = log_ratio_[i] + std::log(ratios[i]);
    log_ratio_[i] = sum > 0 ? std::min(sum, kMost) : 0;  // also 0 for NaN
    largest = std::max(largest, log_ratio_[i]);
  }
  return largest;
}

void CalibrationCheck::add(const OutcomeRatios& ratios) noexcept {
  const bool stays = recent_.add(ratios) > RecentEvidence::kLittle;
  failing_.store(failing() ? stays : goes_off(ratios), std::memory_order_relaxed);
}

bool CalibrationCheck::goes_off(const OutcomeRatios& ratios) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < kAlternatives; ++i) {
    const double more = (evidence_[i] + 1) * ratios[i];
    evidence_[i] = more > 0 ? more : 0;  // also 0 for NaN
    sum += evidence_[i];
  }
  if (sum < kRows * kAlternatives) return false;
  evidence_.fill(0);
  return true;
}

void BorneOut::add(const OutcomeRatios& ratios) noexcept {
  const bool little = recent_.add(ratios) <= RecentEvidence::kLittle;
  yes_.store(++rows_ >= kLeastRows && little, std::memory_order_relaxed);
}

}  // namespace windhover
