#include "windhover/runtime/diagnostics/reason_number.h"

namespace windhover {

const char* number_name(StatusReason reason) noexcept {
  switch (reason) {
    case StatusReason::kFewDraws:
      return "ess_bulk";
    case StatusReason::kDrift:
      return "drift_score";
    case StatusReason::kDependentRows:
      return "score_autocorrelation";
    case StatusReason::kLostChains:
      return "divergences";
    case StatusReason::kSamplersLaw:
    case StatusReason::kLawUnknown:
      return "law_ratio";
    case StatusReason::kSpread:
      return "ou_ratio";
    case StatusReason::kReplayRatio:
      return "draws_per_observation";
    case StatusReason::kPrior:
      return "prior_conflict";
    case StatusReason::kMisfit:
      return "misspecification_index";
    case StatusReason::kPredictive:
      return "coverage_90";
    case StatusReason::kReplay:
      return "recovery_target";
    case StatusReason::kNone:
    case StatusReason::kNotDefinite:
    case StatusReason::kNetwork:
      break;
  }
  return nullptr;
}

ReasonNumber number_behind(const Provenance& p) noexcept {
  const char* const name = number_name(p.reason);
  switch (p.reason) {
    case StatusReason::kFewDraws:
      return {name, p.ess_bulk};
    case StatusReason::kDrift:
      return {name, p.drift_score};
    case StatusReason::kDependentRows:
      return {name, p.score_autocorrelation};
    case StatusReason::kLostChains:
      return {name, static_cast<double>(p.divergences)};
    case StatusReason::kSamplersLaw:
    case StatusReason::kLawUnknown:
      return {name, p.law_ratio};
    case StatusReason::kSpread:
      return {name, p.ou_ratio};
    case StatusReason::kReplayRatio:
      return {name, p.draws_per_observation};
    case StatusReason::kPrior:
      return {name, p.prior_conflict};
    case StatusReason::kMisfit:
      return {name, p.misspecification_index};
    case StatusReason::kPredictive:
      return {name, p.coverage_90};
    case StatusReason::kReplay:
      return {name, static_cast<double>(p.recovery_target)};
    case StatusReason::kNone:
    case StatusReason::kNotDefinite:
    case StatusReason::kNetwork:
      break;
  }
  return {};
}

}  // namespace windhover
