#include "windhover/runtime/judgement.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

// Of sums of draws and of what they are due.
constexpr double kRounding = 1e-9;

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
  if (std::isinf(e.law_largest)) return e.step_given;
  if (!e.law_is_posterior || std::isnan(e.law_largest)) return false;
  return !(e.law_smallest > 1 / kSpreadTolerance && e.law_largest < kSpreadTolerance);
}

// What observed variance over predicted may be.
struct Band {
  double narrow;
  double wide;
};

Band band_of(const Evidence& e) noexcept {
  const double spread = std::sqrt(e.dimension / std::max(e.compared_draws, 1.0));
  const double least = 1 - std::min(spread, 1.0);
  return {least * least / kSpreadTolerance, (1 + spread) * (1 + spread) * kSpreadTolerance};
}

bool spread_is_off(const Evidence& e) noexcept {
  const Band band = band_of(e);
  return e.spread_largest >= band.wide || e.spread_smallest <= band.narrow;
}

// Both are 0 where nothing has been compared. Inside the band what is further from 1 is the worse.
double worst_spread(const Evidence& e) noexcept {
  const Band band = band_of(e);
  if (e.spread_largest >= band.wide && e.spread_smallest > band.narrow) return e.spread_largest;
  if (e.spread_smallest <= band.narrow && e.spread_largest < band.wide) return e.spread_smallest;
  return e.spread_largest * e.spread_smallest >= 1 ? e.spread_largest : e.spread_smallest;
}

StatusReason reason_of(const Evidence& e) noexcept {
  if (e.law_refused) return StatusReason::kSamplersLaw;
  const bool compared = e.network || (e.spread_largest != 0 && e.compared_draws != 0);
  if (!e.sampling || !compared) return StatusReason::kFewDraws;
  if (e.drifting) return StatusReason::kDrift;
  if (e.dependent_rows) return StatusReason::kDependentRows;
  // Steps that the sampler chose itself always have a law, but for what rounding has swallowed.
  const bool swallowed = std::isinf(e.law_largest) && !e.step_given;
  if (e.not_definite || swallowed) return StatusReason::kNotDefinite;
  if (e.chains_lost) return StatusReason::kLostChains;
  if (e.network) return StatusReason::kNetwork;
  if (law_is_off(e)) return StatusReason::kSamplersLaw;
  if (spread_is_off(e)) return StatusReason::kSpread;
  if (e.prior_conflict > 1) return StatusReason::kPrior;
  if (e.misfit) return StatusReason::kMisfit;
  if (e.replay_is_target && e.replay_ratio < 1 - kRounding) return StatusReason::kPace;
  return StatusReason::kNone;
}

}  // namespace

Judgement judge(const Evidence& evidence) noexcept {
  const StatusReason reason = reason_of(evidence);
  return {status_of(reason), reason, worst_spread(evidence)};
}

}  // namespace windhover
