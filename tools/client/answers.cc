#include "windhover/tools/client/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "windhover/tools/data/shown_text.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {

using nlohmann::ordered_json;

namespace {

bool counts(v1::ModelKind model) {
  return model == v1::MODEL_KIND_POISSON || model == v1::MODEL_KIND_NEGATIVE_BINOMIAL ||
         model == v1::MODEL_KIND_BINOMIAL || model == v1::MODEL_KIND_ZERO_INFLATED_POISSON;
}

}  // namespace

ordered_json to_json(const Provenance& p) {
  return {{"status", to_string(p.status)},
          {"status_reason", to_string(p.reason)},
          {"snapshot_id", p.snapshot_id},
          {"sequence", p.sequence},
          {"recovery_target", p.recovery_target},
          {"coverage_90", p.coverage_90},
          {"conformal_coverage_90", p.conformal_coverage_90},
          {"n_seen", p.n_seen},
          {"n_eff", p.n_eff},
          {"horizon", to_string(p.horizon)},
          {"steps", p.steps},
          {"age_ns", p.age_ns},
          {"draws", p.draws},
          {"ess_bulk", p.ess_bulk},
          {"ess_tail", p.ess_tail},
          {"r_hat", p.r_hat},
          {"autocorrelation_time", p.autocorrelation_time},
          {"divergences", p.divergences},
          {"draws_per_observation", p.draws_per_observation},
          {"ou_ratio", p.ou_ratio},
          {"law_ratio", p.law_ratio},
          {"misspecification_index", p.misspecification_index},
          {"prior_conflict", p.prior_conflict},
          {"score_autocorrelation", p.score_autocorrelation},
          {"drift_score", p.drift_score},
          {"drift_onset", p.drift_onset},
          {"drift_onset_time_ns", p.drift_onset_time_ns},
          {"repeated_rows", p.repeated_rows},
          {"noise_variance", p.noise_variance},
          {"noise_variance_sd", p.noise_variance_sd}};
}

ordered_json to_json(const ParameterSummary& s) {
  return {{"mean", s.mean},
          {"mode", s.mode},
          {"sd", s.sd},
          {"sd_robust", s.sd_robust},
          {"q5", s.q5},
          {"q50", s.q50},
          {"q95", s.q95},
          {"ess_bulk", s.ess_bulk},
          {"ess_tail", s.ess_tail},
          {"mcse_mean", s.mcse_mean},
          {"autocorrelation_time", s.autocorrelation_time},
          {"r_hat", s.r_hat},
          {"prior_precision", s.prior_precision},
          {"drift_score", s.drift_score}};
}

namespace {

std::vector<std::uint32_t> members(std::uint64_t set) {
  std::vector<std::uint32_t> classes;
  for (std::uint32_t c = 0; c < kMaxClasses; ++c) {
    if ((set >> c & 1) != 0) classes.push_back(c);
  }
  return classes;
}

ordered_json classes_json(const PredictiveSummary& s, const AnswerForm& form) {
  const PredictRequest& request = form.request;
  const auto list = [&](const std::array<double, kMaxClasses>& values) {
    return std::vector<double>(values.begin(), values.begin() + s.classes);
  };
  ordered_json out;
  if (!form.class_names.empty()) out["class_names"] = form.class_names;
  out.update({{"probs", list(s.probs)},
              {"probs_sd", list(s.probs_sd)},
              {"interval_probability", request.interval_probability},
              {"probs_eti_lower", list(s.probs_eti_lower)},
              {"probs_eti_upper", list(s.probs_eti_upper)},
              {"entropy", s.entropy},
              {"expected_entropy", s.expected_entropy},
              {"mutual_information", s.mutual_information},
              {"conformal_set", members(s.conformal_set)},
              {"conformal_alpha", s.conformal_alpha}});
  if (!request.outcomes.empty()) {
    out["log_score"] = s.log_score;
    out["brier"] = s.brier;
  }
  return out;
}

std::string class_name(const AnswerForm& form, std::size_t number) {
  return number < form.class_names.size() ? shown_text(form.class_names[number])
                                          : std::to_string(number);
}

// Empty: there is none.
std::string conformal_text(const PredictiveSummary& s, const AnswerForm& form) {
  const double level = 100 * form.request.interval_probability;
  if (s.conformal_set != 0) {
    std::vector<std::string> names;
    for (const std::uint32_t c : members(s.conformal_set)) names.push_back(class_name(form, c));
    return fmt::format(
        "\n  conformal set, which learns from outcomes to hold {:g} % of them whatever the model: "
        "{}",
        level, listed_texts(names));
  }
  if (std::isnan(s.conformal_lower)) return "";
  return fmt::format(
      "\n  conformal interval, which learns from outcomes to hold {:g} % of them whatever the "
      "model: "
      "{:.6g} .. {:.6g}",
      level, s.conformal_lower, s.conformal_upper);
}

std::string describe_classes(const PredictiveSummary& s, const AnswerForm& form) {
  const auto* best = std::max_element(s.probs.begin(), s.probs.begin() + s.classes);
  std::string out = fmt::format("class {}; probabilities with {:g} % credible bands",
                                class_name(form, static_cast<std::size_t>(best - s.probs.begin())),
                                100 * form.request.interval_probability);
  for (std::uint32_t c = 0; c < s.classes; ++c) {
    out += fmt::format("\n  {}: {:.1f} %, {:.1f} .. {:.1f} %", class_name(form, c),
                       100 * s.probs[c], 100 * s.probs_eti_lower[c], 100 * s.probs_eti_upper[c]);
  }
  return out;
}

}  // namespace

ordered_json to_json(const PredictiveSummary& s, const AnswerForm& form) {
  const auto& [request, model, names] = form;
  if (s.classes > 0) return classes_json(s, form);
  const bool classification = model == v1::MODEL_KIND_LOGISTIC;
  ordered_json out;
  if (classification && !names.empty()) out["positive"] = names.back();
  out.update({{"linpred_mean", s.linpred_mean},
              {"linpred_sd", s.linpred_sd},
              {"epred_mean", s.epred_mean},
              {"epred_sd", s.epred_sd},
              {"mean", s.mean},
              {"sd", s.sd},
              {"var_epistemic", s.var_epistemic},
              {"var_aleatoric", s.var_aleatoric},
              {"interval_probability", request.interval_probability},
              {"interval_lower", s.interval_lower},
              {"interval_upper", s.interval_upper}});
  for (std::size_t i = 0; i < request.quantile_probabilities.size(); ++i) {
    out["quantiles"].push_back(
        {{"p", request.quantile_probabilities[i]}, {"value", s.quantiles[i]}});
  }
  if (classification) {
    out["conformal_set"] = members(s.conformal_set);
  } else {
    out["conformal_lower"] = s.conformal_lower;
    out["conformal_upper"] = s.conformal_upper;
  }
  out["conformal_alpha"] = s.conformal_alpha;
  if (classification) {
    out["entropy"] = s.entropy;
    out["expected_entropy"] = s.expected_entropy;
    out["mutual_information"] = s.mutual_information;
  } else {
    for (std::size_t i = 0; i < request.thresholds.size(); ++i) {
      out["exceedance"].push_back(
          {{"threshold", request.thresholds[i]}, {"probability", s.exceedance[i]}});
    }
  }
  if (!request.outcomes.empty()) {
    out["log_score"] = s.log_score;
    if (classification) {
      out["brier"] = s.brier;
    } else {
      out["pit"] = s.pit;
      if (!counts(model)) out["crps"] = s.crps;
    }
  }
  if (request.rows > 1) {
    out["prob_best"] = s.prob_best;
    out["expected_regret"] = s.expected_regret;
  }
  if (request.thompson_id != 0) out["thompson"] = s.thompson;
  return out;
}

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
      return fmt::format(
          "rows depend on one another, score_autocorrelation {:.2f}: read sd_robust, sd is too "
          "small",
          p.score_autocorrelation);
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
  const std::string chains =
      p.r_hat > 0 ? fmt::format(" (of chains with ess {:.0f}, r_hat {:.3f}: up to 1.2 is usual)",
                                p.ess_bulk, p.r_hat)
                  : "";  // chains that have not been compared yet
  return fmt::format(
      "{}{}: {} rows seen, posterior of {}, {} draws{}, {:.2f} draws per observation, {} old",
      to_string(p.status), why, p.n_seen, rows_of(p), p.draws, chains, p.draws_per_observation,
      duration_text(static_cast<double>(p.age_ns)));
}

namespace {

// What was asked for beside the prediction.
std::string describe_extras(const PredictiveSummary& s, const PredictRequest& request,
                            v1::ModelKind model) {
  std::string out;
  if (!request.outcomes.empty()) {
    out += fmt::format("\n  log score of the outcome {:.4f}", s.log_score);
    if (model == v1::MODEL_KIND_LOGISTIC || s.classes > 0) {
      out += fmt::format(", Brier score {:.4f}", s.brier);
    } else {
      out += fmt::format(", PIT {:.4f}", s.pit);
      if (!counts(model)) out += fmt::format(", CRPS {:.4g}", s.crps);
    }
  }
  if (request.thompson_id != 0) out += fmt::format("\n  Thompson draw {:.6g}", s.thompson);
  return out;
}

}  // namespace

std::string describe(const PredictiveSummary& s, const AnswerForm& form) {
  const auto& [request, model, names] = form;
  if (s.classes > 0) {
    return describe_classes(s, form) + conformal_text(s, form) + describe_extras(s, request, model);
  }
  const bool classification = model == v1::MODEL_KIND_LOGISTIC;
  const double level = 100 * request.interval_probability;
  std::string out;
  if (classification) {
    out = fmt::format(
        "probability {}{:.1f} %, and with {:g} % credibility it lies in {:.1f} .. {:.1f} % "
        "(log-odds {:.3f} +- {:.3f})",
        names.empty() ? "" : fmt::format("of {} ", shown_text(names.back())), 100 * s.epred_mean,
        level, 100 * s.interval_lower, 100 * s.interval_upper, s.linpred_mean, s.linpred_sd);
  } else {
    out = fmt::format(
        "mean {:.6g} +- {:.3g}; y within {:.6g} .. {:.6g} with {:g} % probability "
        "(sd {:.4g}: {:.3g} from the parameters, {:.4g} from the noise)",
        s.epred_mean, s.epred_sd, s.interval_lower, s.interval_upper, level, s.sd,
        std::sqrt(s.var_epistemic), std::sqrt(s.var_aleatoric));
  }
  if (request.rows > 1) out += fmt::format("; best of these with probability {:.2f}", s.prob_best);
  for (std::size_t i = 0; i < request.quantile_probabilities.size(); ++i) {
    out +=
        fmt::format("\n  quantile {:g}: {:.6g}", request.quantile_probabilities[i], s.quantiles[i]);
  }
  for (std::size_t i = 0; !classification && i < request.thresholds.size(); ++i) {
    out += fmt::format("\n  P(y > {:g}) = {:.4f}", request.thresholds[i], s.exceedance[i]);
  }
  return out + conformal_text(s, form) + describe_extras(s, request, model);
}

std::string duration_text(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.1f} ms", nanoseconds / 1e6);
  return fmt::format("{:.1f} s", nanoseconds / 1e9);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

}  // namespace windhover
