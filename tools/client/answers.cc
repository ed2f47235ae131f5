#include "windhover/tools/client/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/tools/data/shown_text.h"

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
          {"r_hat_chance", p.r_hat_chance},
          {"robust_spread", p.robust_spread},
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

// The conformal set or interval, after a line feed; empty where there is none.
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

// The parts that were asked for beside the prediction.
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
