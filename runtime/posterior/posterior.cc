#include "windhover/runtime/posterior/posterior.h"

#include <algorithm>
#include <utility>

namespace windhover {

namespace {

void visit_provenance(StateVisitor& visitor, Provenance& p) noexcept {
  visitor.values(p.snapshot_id, p.sequence, p.n_seen, p.n_eff, p.steps, p.draws, p.divergences,
                 p.horizon, p.status, p.reason);
  visitor.values(p.ess_bulk, p.ess_tail, p.r_hat, p.autocorrelation_time, p.draws_per_observation,
                 p.ou_ratio, p.law_ratio, p.misspecification_index, p.prior_conflict,
                 p.score_autocorrelation, p.drift_score, p.repeated_rows, p.noise_variance,
                 p.noise_variance_sd);
}

}  // namespace

void Posterior::copy_from(const Posterior& other) noexcept {
  const std::pair<double*, const double*> columns[] = {
      {mean, other.mean},
      {raw_mean, other.raw_mean},
      {mode, other.mode},
      {sd, other.sd},
      {sd_robust, other.sd_robust},
      {ess_bulk, other.ess_bulk},
      {ess_tail, other.ess_tail},
      {mcse_mean, other.mcse_mean},
      {autocorrelation_time, other.autocorrelation_time},
      {r_hat, other.r_hat},
      {prior_precision, other.prior_precision},
  };
  for (const auto& [to, from] : columns) std::copy_n(from, dimension, to);
  std::copy_n(other.deviations, std::size_t{dimension} * draws, deviations);
  inverse_factor.copy_from(other.inverse_factor);
  std::ranges::copy(other.transform.shift, transform.shift.begin());
  std::ranges::copy(other.transform.inverse_scale, transform.inverse_scale.begin());
  n = other.n;
  temperature = other.temperature;
  target_scale = other.target_scale;
  dispersion = other.dispersion;
  dispersion_relative_sd = other.dispersion_relative_sd;
  made_ns = other.made_ns;
  provenance = other.provenance;
}

void Posterior::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(n, temperature, target_scale, dispersion, dispersion_relative_sd);
  for (double* of_each : {mean, raw_mean, mode, sd, sd_robust, ess_bulk, ess_tail, mcse_mean,
                          autocorrelation_time, r_hat, prior_precision}) {
    visitor.visit(of_each, dimension);
  }
  visitor.visit(deviations, std::size_t{dimension} * draws);
  inverse_factor.visit_copy(visitor);
  transform.visit_state(visitor);
  visit_provenance(visitor, provenance);
}

}  // namespace windhover
