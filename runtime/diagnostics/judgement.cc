#include "windhover/runtime/diagnostics/judgement.h"

#include <cmath>

namespace windhover {

namespace {

// Above the relative rounding error of the sums behind the replay ratio.
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
  constexpr double kTolerance = Consistency::kTolerance;
  return e.law_asked && (e.law_smallest <= 1 / kTolerance || e.law_largest >= kTolerance);
}

bool spread_is_off(const Evidence& e) noexcept {
  return e.spread_largest >= e.band.wide || e.spread_smallest <= e.band.narrow;
}

// Both are 0 where nothing has been compared. Inside the band the ratio further from 1 is the
// worse.
double worst_spread(const Evidence& e) noexcept {
  const bool wide = e.spread_largest >= e.band.wide;
  const bool narrow = e.spread_smallest <= e.band.narrow;
  if (wide != narrow) return wide ? e.spread_largest : e.spread_smallest;
  return e.spread_largest * e.spread_smallest >= 1 ? e.spread_largest : e.spread_smallest;
}

StatusReason reason_of(const Evidence& e) noexcept {
  if (e.law_refused) return StatusReason::kSamplersLaw;
  const bool compared = e.network || (e.spread_largest != 0 && e.compared_draws != 0);
  if (!e.sampling || !compared) return StatusReason::kFewDraws;
  if (e.drifting) return StatusReason::kDrift;
  if (e.dependent_rows) return StatusReason::kDependentRows;
  // Steps that the sampler chose itself always have a law, unless rounding has swallowed it.
  const bool swallowed = std::isinf(e.law_largest) && !e.step_given;
  if (e.not_definite || swallowed) return StatusReason::kNotDefinite;
  if (e.chains_lost) return StatusReason::kLostChains;
  if (e.network) return StatusReason::kNetwork;
  if (law_is_off(e)) return StatusReason::kSamplersLaw;
  if (!e.law_decided) return StatusReason::kLawUnknown;
  if (spread_is_off(e)) return StatusReason::kSpread;
  if (e.prior_conflict > 1) return StatusReason::kPrior;
  if (e.misfit) return StatusReason::kMisfit;
  const bool too_few = e.replay_is_target && e.replay_ratio < 1 - kRounding;
  if (e.outrun || too_few) return StatusReason::kReplayRatio;
  return StatusReason::kNone;
}

}  // namespace

Judgement judge(const Evidence& evidence) noexcept {
  const StatusReason reason = reason_of(evidence);
  return {status_of(reason), reason, worst_spread(evidence)};
}

}  // namespace windhover
