#include "windhover/runtime/diagnostics/reason_number.h"

namespace windhover {

ReasonNumber number_behind(const Provenance& p) noexcept {
  switch (p.reason) {
    case StatusReason::kFewDraws:
      return {"ess_bulk", p.ess_bulk};
    case StatusReason::kDrift:
      return {"drift_score", p.drift_score};
    case StatusReason::kDependentRows:
      return {"score_autocorrelation", p.score_autocorrelation};
    case StatusReason::kLostChains:
      return {"divergences", static_cast<double>(p.divergences)};
    case StatusReason::kSamplersLaw:
    case StatusReason::kLawUnknown:
      return {"law_ratio", p.law_ratio};
    case StatusReason::kSpread:
      return {"ou_ratio", p.ou_ratio};
    case StatusReason::kReplayRatio:
      return {"draws_per_observation", p.draws_per_observation};
    case StatusReason::kPrior:
      return {"prior_conflict", p.prior_conflict};
    case StatusReason::kMisfit:
      return {"misspecification_index", p.misspecification_index};
    case StatusReason::kPredictive:
      return {"coverage_90", p.coverage_90};
    case StatusReason::kReplay:
      return {"recovery_target", static_cast<double>(p.recovery_target)};
    case StatusReason::kNone:
    case StatusReason::kNotDefinite:
    case StatusReason::kNetwork:
      break;
  }
  return {};
}

const char* number_name(StatusReason reason) noexcept {
  Provenance p;
  p.reason = reason;
  return number_behind(p).name;
}

}  // namespace windhover
