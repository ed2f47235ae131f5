// What one snapshot holds: everything a reader needs. It shares nothing with the learner but, for
// many sparse columns, groups of draws that are not written while it is held (draw_table.h).
#ifndef WINDHOVER_RUNTIME_POSTERIOR_POSTERIOR_H_
#define WINDHOVER_RUNTIME_POSTERIOR_POSTERIOR_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/posterior/draw_table.h"
#include "windhover/runtime/posterior/memory_average.h"
#include "windhover/runtime/posterior/noise_mixture.h"
#include "windhover/runtime/posterior/provenance.h"
#include "windhover/runtime/posterior/robust_spread.h"
#include "windhover/samplers/linear_algebra/inverse_factor.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// What is said of each parameter, in units of the rows' own features: an array for each quantity.
struct ParameterColumns {
  ParameterColumns(Arena& arena, std::uint32_t dimension) noexcept;

  std::array<double*, 11> all() const noexcept {
    return {raw_mean,   mode,
            sd,         sd_robust,
            ess_bulk,   ess_tail,
            mcse_mean,  autocorrelation_time,
            r_hat,      prior_precision,
            drift_score};
  }

  double* raw_mean;  // Posterior::mean in these units
  double* mode;
  double* sd;
  double* sd_robust;  // of the sandwich, whatever the temperature
  double* ess_bulk;
  double* ess_tail;
  double* mcse_mean;
  double* autocorrelation_time;
  double* r_hat;
  double* prior_precision;
  double* drift_score;
};

// theta is for transformed features (as fitted) and in units of the rows' y. P, the covariance of
// what is drawn from and served, is temperature (n A)^-1 target_scale^2. What only describes
// parameters is in units of the rows' own features (runtime/learning/units.h).
//
// With Structure::kDiagonal there are shared draws, in units of the rows, and no mean, parameters,
// deviations, factor, transform, average or noise mixture: ask shared.any() before reading these.
struct Posterior {
  Posterior(Arena& arena, std::uint32_t dimension_in, std::uint32_t features,
            std::uint32_t draws_in, std::uint32_t memories = 0) noexcept
      : dimension(dimension_in),
        draws(draws_in),
        mean(arena.allocate<double>(dimension_in).data()),
        parameters(arena, dimension_in),
        deviations(
            arena.allocate<double>(static_cast<std::size_t>(dimension_in) * draws_in).data()),
        inverse_factor(arena, dimension_in),
        robust_spread(arena, dimension_in),
        average(arena, dimension_in, draws_in, memories) {
    transform.shift = arena.allocate<double>(features);
    transform.inverse_scale = arena.allocate<double>(features);
  }

  // Copies all of another posterior of the same shape. REQUIRES: it has no shared draws. O(D^2 +
  // draws D).
  void copy_from(const Posterior& other) noexcept;

  // P = variance_scale() A^-1.
  double variance_scale() const noexcept { return target_scale * target_scale * temperature / n; }

  // Shows everything but made_ns, what is filled in with each answer, what follows from the rest,
  // and shared draws.
  void visit_state(StateVisitor& visitor) noexcept;

  std::uint32_t dimension;
  std::uint32_t draws;
  double* mean;  // the centre: draw m is mean + deviation m
  ParameterColumns parameters;
  double* deviations;            // draws x dimension, column-major: one column a parameter
  InverseFactor inverse_factor;  // of A
  RobustSpread robust_spread;    // where Provenance::robust_spread is true
  MemoryAverage average;         // of predictions over several memories (Horizon::kAdaptive)
  FeatureTransform transform;
  SharedDraws shared;
  double prior_precision = 0;      // with shared draws: of all parameters but the last, ...
  double intercept_precision = 0;  // ... and of the last
  double n = 1;                    // observations that the posterior stands on
  double temperature = 1;
  double target_scale = 1;  // the unit of y that A is for
  double dispersion = 1;
  double dispersion_relative_sd = 0;  // sd(log dispersion) when learned
  NoiseMixture noise;                 // of y, in place of these two where it has components
  // Whether there are few rows, and they come in an order (diagnostics/row_order.h): then the
  // predictions have to be borne out before an answer is ok.
  bool few_in_order = false;
  std::int64_t made_ns = 0;
  Provenance provenance;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_POSTERIOR_H_
