// What an answer stands on as a sentence: how many rows, which draws, and why it is not ok.
#include <fmt/format.h>

#include <cmath>

#include "windhover/runtime/diagnostics/score_series.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {

namespace {

std::string rows_of(const Provenance& p) {
  switch (p.horizon) {
    case Horizon::kAll:
      return "all of them";
    case Horizon::kForgetting:
      return fmt::format("rows that count less with age, worth {}", p.n_eff);
    case Horizon::kFading:
      return fmt::format("rows worth {}, older ones fading", p.n_eff);
    case Horizon::kAdaptive:
      return fmt::format("as many as have predicted best of late, worth {}", p.n_eff);
    case Horizon::kWindow:
      break;
  }
  return fmt::format("the last {}", p.n_eff);
}

// How far the chains agree; empty where they have not been compared yet.
std::string chains_text(const Provenance& p) {
  if (!(p.r_hat > 0)) return "";
  const std::string chance = std::isinf(p.r_hat_chance) ? std::string(": too few draws to compare")
                             : p.r_hat_chance > 0
                                 ? fmt::format(", chance makes up to {:.3f}", p.r_hat_chance)
                                 : std::string();
  return fmt::format(" (of chains with ess {:.0f}, r_hat {:.3f}{})", p.ess_bulk, p.r_hat, chance);
}

}  // namespace

std::string reason_text(const Provenance& p) {
  switch (p.reason) {
    case StatusReason::kNone:
      break;
    case StatusReason::kFewDraws:
      return "not enough rows or draws yet";
    case StatusReason::kDrift:
      return fmt::format(
          "the newest tenth of the window is unlike the rest, drift_score {:.1f}{}{}",
          p.drift_score,
          p.drift_onset == 0 ? std::string() : fmt::format(", since about row {}", p.drift_onset),
          p.drift_onset_time_ns == 0 ? std::string()
                                     : fmt::format(", {} UTC", time_text(p.drift_onset_time_ns)));
    case StatusReason::kDependentRows:
      if (std::isnan(p.score_autocorrelation)) {
        return "few rows, in an order or alike where they are neighbours: those to come may be "
               "unlike them";
      }
      if (p.score_autocorrelation <= ScoreSeries::kHarmlessAutocorrelation) {
        return fmt::format(
            "what is left of neighbouring rows is alike, score_autocorrelation {:.2f}: a column "
            "that explains it is missing",
            p.score_autocorrelation);
      }
      return fmt::format(
          "rows depend on one another, score_autocorrelation {:.2f}: read sd_robust{}, sd is too "
          "small",
          p.score_autocorrelation, p.robust_spread ? ", as predictions do" : "");
    case StatusReason::kNetwork:
      return "a network has several modes: nothing checks the spread of its draws";
    case StatusReason::kLostChains:
      return fmt::format("chains were lost and started again, {} so far", p.divergences);
    case StatusReason::kSamplersLaw:
      return fmt::format("the sampler's own law has {:.2g} times the posterior's variance",
                         p.law_ratio);
    case StatusReason::kLawUnknown:
      return "nothing tells whether this sampler draws from the posterior here";
    case StatusReason::kSpread:
      return fmt::format("the draws do not spread as predicted, ou_ratio {:.2f}", p.ou_ratio);
    case StatusReason::kReplayRatio:
      return fmt::format("only {:.2f} draws per observation", p.draws_per_observation);
    case StatusReason::kNotDefinite:
      return "numbers too large to compute with: this is the posterior of before them";
    case StatusReason::kPrior:
      return fmt::format(
          "prior and rows contradict each other, prior_conflict {:.3g} where at most 1 is chance: "
          "leave model.prior_precision at 0, or state a prior in the units of y / x",
          p.prior_conflict);
    case StatusReason::kMisfit:
      return fmt::format(
          "rows scatter unlike the model, misspecification_index {:.3g}: read sd_robust, or take "
          "another model.name or model.noise_variance",
          p.misspecification_index);
    case StatusReason::kPredictive:
      if (std::abs(p.coverage_90 - 0.9) <= 0.03) {
        return "the predictions are bolder or more timid than the outcomes bear out, or who knows "
               "no x predicts better: compare the scores, take another model.name, or a shorter "
               "memory";
      }
      return fmt::format(
          "{:.0f} % of the outcomes lately fell into their 90 % intervals: the model's intervals "
          "are not to be relied on, take another model.name, or a shorter memory; conformal ones "
          "hold "
          "their share all the same",
          100 * p.coverage_90);
    case StatusReason::kReplay:
      return fmt::format("{} of {} rows from before a restart are in", p.sequence,
                         p.recovery_target);
  }
  return "";
}

std::string describe(const Provenance& p) {
  std::string why = reason_text(p);
  if (!why.empty()) why = fmt::format(" ({})", why);
  if (p.repeated_rows > 0.01) {
    why += fmt::format(" ({:.0f} % of the rows repeat others exactly)", 100 * p.repeated_rows);
  }
  return fmt::format(
      "{}{}: {} rows seen, posterior of {}, {} draws{}, {:.2f} draws per observation, {} old",
      to_string(p.status), why, p.n_seen, rows_of(p), p.draws, chains_text(p),
      p.draws_per_observation, duration_text(static_cast<double>(p.age_ns)));
}

}  // namespace windhover
