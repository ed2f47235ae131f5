// The names of statuses, reasons, horizons and settings.
#include "windhover/runtime/config.h"
#include "windhover/runtime/posterior/provenance.h"

namespace windhover {

const char* to_string(PosteriorStatus status) noexcept {
  switch (status) {
    case PosteriorStatus::kWarmingUp:
      return "warming_up";
    case PosteriorStatus::kOk:
      return "ok";
    case PosteriorStatus::kDegraded:
      return "degraded";
    case PosteriorStatus::kDrifting:
      return "drifting";
    case PosteriorStatus::kRecovering:
      return "recovering";
  }
  return "unknown";
}

const char* to_string(StatusReason reason) noexcept {
  switch (reason) {
    case StatusReason::kNone:
      return "none";
    case StatusReason::kFewDraws:
      return "few_draws";
    case StatusReason::kDrift:
      return "drift";
    case StatusReason::kDependentRows:
      return "dependent_rows";
    case StatusReason::kNetwork:
      return "network";
    case StatusReason::kLostChains:
      return "lost_chains";
    case StatusReason::kSamplersLaw:
      return "samplers_law";
    case StatusReason::kLawUnknown:
      return "law_unknown";
    case StatusReason::kSpread:
      return "spread";
    case StatusReason::kReplayRatio:
      return "replay_ratio";
    case StatusReason::kNotDefinite:
      return "not_definite";
    case StatusReason::kPrior:
      return "prior";
    case StatusReason::kMisfit:
      return "misfit";
    case StatusReason::kReplay:
      return "replay";
    case StatusReason::kPredictive:
      return "predictive";
  }
  return "unknown";
}

const char* to_string(Horizon horizon) noexcept {
  switch (horizon) {
    case Horizon::kWindow:
      return "window";
    case Horizon::kFading:
      return "fading";
    case Horizon::kForgetting:
      return "forgetting";
    case Horizon::kAll:
      return "all";
    case Horizon::kAdaptive:
      return "adaptive";
  }
  return "unknown";
}

const char* to_string(SurprisingRows what) noexcept {
  switch (what) {
    case SurprisingRows::kKeep:
      return "keep";
    case SurprisingRows::kCount:
      return "count";
    case SurprisingRows::kDownWeight:
      return "down-weight";
    case SurprisingRows::kSetAside:
      return "set-aside";
  }
  return "unknown";
}

}  // namespace windhover
