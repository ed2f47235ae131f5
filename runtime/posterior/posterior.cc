#include "windhover/runtime/posterior/posterior.h"

#include <algorithm>

namespace windhover {

namespace {

void visit_provenance(StateVisitor& visitor, Provenance& p) noexcept {
  visitor.values(p.snapshot_id, p.sequence, p.n_seen, p.n_eff, p.steps, p.draws, p.divergences,
                 p.drift_onset, p.drift_onset_time_ns, p.horizon, p.status, p.reason,
                 p.robust_spread);
  visitor.values(p.ess_bulk, p.ess_tail, p.r_hat, p.autocorrelation_time, p.draws_per_observation,
                 p.ou_ratio, p.law_ratio, p.misspecification_index, p.prior_conflict,
                 p.score_autocorrelation, p.drift_score, p.repeated_rows, p.noise_variance,
                 p.noise_variance_sd);
}

}  // namespace

ParameterColumns::ParameterColumns(Arena& arena, std::uint32_t dimension) noexcept {
  for (double** column : {&raw_mean, &mode, &sd, &sd_robust, &ess_bulk, &ess_tail, &mcse_mean,
                          &autocorrelation_time, &r_hat, &prior_precision, &drift_score}) {
    *column = arena.allocate<double>(dimension).data();
  }
}

void Posterior::copy_from(const Posterior& other) noexcept {
  std::copy_n(other.mean, dimension, mean);
  const auto from = other.parameters.all();
  const auto to = parameters.all();
  for (std::size_t i = 0; i < to.size(); ++i) std::copy_n(from[i], dimension, to[i]);
  std::copy_n(other.deviations, std::size_t{dimension} * draws, deviations);
  inverse_factor.copy_from(other.inverse_factor);
  robust_spread.copy_from(other.robust_spread);
  average.copy_from(other.average);
  std::ranges::copy(other.transform.shift, transform.shift.begin());
  std::ranges::copy(other.transform.inverse_scale, transform.inverse_scale.begin());
  n = other.n;
  temperature = other.temperature;
  target_scale = other.target_scale;
  dispersion = other.dispersion;
  dispersion_relative_sd = other.dispersion_relative_sd;
  noise = other.noise;
  few_in_order = other.few_in_order;
  made_ns = other.made_ns;
  provenance = other.provenance;
}

void Posterior::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(n, temperature, target_scale, dispersion, dispersion_relative_sd);
  if (shared.any()) {
    visitor.values(prior_precision, intercept_precision);
    return visit_provenance(visitor, provenance);
  }
  noise.visit_state(visitor);
  visitor.value(few_in_order);
  visitor.visit(mean, dimension);
  for (double* column : parameters.all()) visitor.visit(column, dimension);
  visitor.visit(deviations, std::size_t{dimension} * draws);
  inverse_factor.visit_copy(visitor);
  robust_spread.visit_state(visitor);
  average.visit_state(visitor);
  transform.visit_state(visitor);
  visit_provenance(visitor, provenance);
}

}  // namespace windhover
