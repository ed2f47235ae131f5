#include "windhover/runtime/judgement.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

PosteriorStatus status_of(StatusReason reason) noexcept {
  switch (reason) {
    case StatusReason::kNone:
      return PosteriorStatus::kOk;
    case StatusReason::kFewDraws:
      return PosteriorStatus::kWarmingUp;
    case StatusReason::kDrift:
      return PosteriorStatus::kDrifting;
    default:
      return PosteriorStatus::kDegraded;
  }
}

bool law_is_off(const Evidence& e) noexcept {
  if (std::isinf(e.law_largest)) return true;
  if (!e.law_is_posterior || std::isnan(e.law_largest)) return false;
  return !(e.law_smallest > 1 / kSpreadTolerance && e.law_largest < kSpreadTolerance);
}

bool spread_is_off(const Evidence& e) noexcept {
  if (std::isnan(e.spread_largest)) return false;
  const double spread = std::sqrt(e.dimension / std::max(e.compared_draws, 1.0));
  const double wide = (1 + spread) * (1 + spread);
  const double narrow = (1 - std::min(spread, 1.0)) * (1 - std::min(spread, 1.0));
  return e.spread_largest >= kSpreadTolerance * wide ||
         e.spread_smallest <= narrow / kSpreadTolerance;
}

StatusReason reason_of(const Evidence& e) noexcept {
  if (e.law_refused) return StatusReason::kSamplersLaw;
  const bool compared = e.network || (e.spread_largest != 0 && e.compared_draws != 0);
  if (!e.sampling || !compared) return StatusReason::kFewDraws;
  if (e.drifting) return StatusReason::kDrift;
  if (e.dependent_rows) return StatusReason::kDependentRows;
  if (e.not_definite) return StatusReason::kNotDefinite;
  if (e.chains_lost) return StatusReason::kLostChains;
  if (e.network) return StatusReason::kNetwork;
  if (law_is_off(e)) return StatusReason::kSamplersLaw;
  if (spread_is_off(e)) return StatusReason::kSpread;
  if (e.replay_is_target && !(e.replay_ratio >= 1)) return StatusReason::kPace;
  return StatusReason::kNone;
}

}  // namespace

Judgement judge(const Evidence& evidence) noexcept {
  const StatusReason reason = reason_of(evidence);
  return {status_of(reason), reason};
}

}  // namespace windhover
