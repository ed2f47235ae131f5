#include "windhover/io/client_replies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace windhover {
namespace {

template <class From, class To>
void copy_some(const From& from, To& to) {
  const std::size_t count = std::min(static_cast<std::size_t>(from.size()), to.size());
  for (std::size_t i = 0; i < count; ++i) to[i] = from.Get(static_cast<int>(i));
}

}  // namespace

Provenance provenance_of(const v1::Provenance& p) {
  Provenance to;
  to.snapshot_id = p.snapshot_id();
  to.sequence = p.sequence();
  to.n_seen = p.n_seen();
  to.n_eff = p.n_eff();
  to.steps = p.steps();
  to.age_ns = p.age_ns();
  to.draws = p.draws();
  to.ess_bulk = p.ess_bulk();
  to.r_hat = p.r_hat();
  to.r_hat_chance = p.r_hat_chance();
  to.robust_spread = p.robust_spread();
  to.draws_per_observation = p.draws_per_observation();
  to.ou_ratio = p.ou_ratio();
  to.misspecification_index = p.misspecification_index();
  to.noise_variance = p.noise_variance();
  to.noise_variance_sd = p.noise_variance_sd();
  to.ess_tail = p.ess_tail();
  to.autocorrelation_time = p.autocorrelation_time();
  to.score_autocorrelation = p.score_autocorrelation();
  to.drift_score = p.drift_score();
  to.drift_onset = p.drift_onset();
  to.drift_onset_time_ns = p.drift_onset_time_ns();
  to.repeated_rows = p.repeated_rows();
  to.divergences = p.divergences();
  to.law_ratio = p.law_ratio();
  to.prior_conflict = p.prior_conflict();
  to.recovery_target = p.recovery_target();
  // proto3 sends no zeros, and an older server has no such field: only the reason tells a 0 from a
  // missing field.
  const bool none = p.coverage_90() == 0 && p.reason() != v1::POSTERIOR_REASON_PREDICTIVE;
  to.conformal_coverage_90 = p.conformal_coverage_90() == 0
                                 ? std::numeric_limits<double>::quiet_NaN()
                                 : p.conformal_coverage_90();
  to.coverage_90 = none ? std::numeric_limits<double>::quiet_NaN() : p.coverage_90();
  to.status = static_cast<PosteriorStatus>(p.state());
  to.reason = static_cast<StatusReason>(p.reason());
  to.horizon = static_cast<Horizon>(p.horizon());
  return to;
}

Event event_of(const v1::Event& e) {
  Event to;
  to.id = e.id();
  to.time_ns = e.time_ns();
  to.first_time_ns = e.first_time_ns();
  to.times = e.times();
  to.row = e.row();
  to.kind = static_cast<EventKind>(e.kind());
  to.from = static_cast<PosteriorStatus>(e.from());
  to.status = static_cast<PosteriorStatus>(e.state());
  to.reason = static_cast<StatusReason>(e.reason());
  to.number = e.number();
  to.before = e.before();
  to.drift_onset = e.drift_onset();
  to.drift_onset_time_ns = e.drift_onset_time_ns();
  return to;
}

PredictiveSummary summary_of(const v1::Prediction& p) {
  PredictiveSummary to;
  to.linpred_mean = p.linpred_mean();
  to.linpred_sd = p.linpred_sd();
  to.epred_mean = p.epred_mean();
  to.epred_sd = p.epred_sd();
  to.mean = p.mean();
  to.sd = p.sd();
  to.var_epistemic = p.var_epistemic();
  to.var_aleatoric = p.var_aleatoric();
  to.interval_lower = p.interval_lower();
  to.interval_upper = p.interval_upper();
  copy_some(p.quantiles(), to.quantiles);
  copy_some(p.exceedance(), to.exceedance);
  to.entropy = p.entropy();
  to.expected_entropy = p.expected_entropy();
  to.mutual_information = p.mutual_information();
  to.log_score = p.log_score();
  to.pit = p.pit();
  to.crps = p.crps();
  to.brier = p.brier();
  to.prob_best = p.prob_best();
  to.expected_regret = p.expected_regret();
  to.thompson = p.thompson();
  to.pending = static_cast<PendingKey>(p.pending());
  to.classes = static_cast<std::uint32_t>(
      std::min(static_cast<std::size_t>(p.probs_size()), to.probs.size()));
  copy_some(p.probs(), to.probs);
  copy_some(p.probs_sd(), to.probs_sd);
  copy_some(p.probs_eti_lower(), to.probs_eti_lower);
  copy_some(p.probs_eti_upper(), to.probs_eti_upper);
  for (const std::uint32_t c : p.conformal_set()) {
    if (c < kMaxClasses) to.conformal_set |= std::uint64_t{1} << c;
  }
  // proto3 sends no zeros: an answer that has these fields has an alpha other than 0, or an
  // interval that is not a point.
  if (p.conformal_alpha() != 0 || p.conformal_lower() != p.conformal_upper()) {
    to.conformal_alpha = p.conformal_alpha();
    if (to.conformal_set == 0) {
      to.conformal_lower = p.conformal_lower();
      to.conformal_upper = p.conformal_upper();
    }
  }
  return to;
}

}  // namespace windhover
