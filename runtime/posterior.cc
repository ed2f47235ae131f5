#include "windhover/runtime/posterior.h"

#include <algorithm>

namespace windhover {

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

}  // namespace windhover
