// What one row of a generalized linear model would do to a Gaussian posterior: a problem in one
// dimension, that of its linear predictor.
#ifndef WINDHOVER_SAMPLERS_MODELS_ROW_EFFECT_H_
#define WINDHOVER_SAMPLERS_MODELS_ROW_EFFECT_H_

#include <algorithm>

#include "windhover/samplers/models/linear_rows.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// A row at the posterior's mode, in units of its own y.
struct RowAtMode {
  double eta;
  double y;
  double residual;    // derivative of -log p by eta, dispersion 1
  double curvature;   // the second one
  double trials = 1;  // that y is of, of a binomial model
};

// The first derivative of -log p in the linear predictor, at eta; the next function gives the
// second.
template <class Likelihood>
double derivative_of_row(const Likelihood& likelihood, const RowAtMode& row, double eta) noexcept {
  double residual = 0;
  if constexpr (Likelihood::kHasTrials) {
    likelihood.derivatives(&eta, &row.y, &row.trials, 1, &residual);
  } else {
    likelihood.derivatives(&eta, &row.y, 1, &residual);
  }
  return residual;
}
template <class Likelihood>
double curvature_of_row(const Likelihood& likelihood, const RowAtMode& row, double eta) noexcept {
  double curvature = 0;
  double third = 0;
  if constexpr (Likelihood::kHasTrials) {
    likelihood.curvatures(&eta, &row.y, &row.trials, 1, &curvature, &third);
  } else {
    likelihood.curvatures(&eta, &row.y, 1, &curvature, &third);
  }
  return curvature;
}

// The minimum of the row's loss plus slope / 2 (eta - row.eta)^2, by bisection between row.eta and
// where the loss's first derivative alone would lead. The loss is convex, so its sum with the
// parabola only falls up to the minimum.
template <class Likelihood>
double mode_of_row(const Likelihood& likelihood, const RowAtMode& row, double slope) noexcept {
  double near = row.eta;
  double far = row.eta - row.residual / slope;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (near + far);
    if (middle == near || middle == far) break;
    const double uphill = derivative_of_row(likelihood, row, middle) + slope * (middle - row.eta);
    ((uphill > 0) == (row.residual > 0) ? near : far) = middle;
  }
  return near;
}

// `x` is the row expanded; `scale` is that of y.
template <class Likelihood>
RowEffect row_effect(const Likelihood& likelihood, const RowAtMode& row, double scale,
                     const RowJudge& judge, const ExpandedRow& x) noexcept {
  constexpr bool kLogarithm = !has_dispersion(Likelihood::kResponse);
  RowEffect effect;
  const double pull = row.residual / (scale * judge.divisor);
  const double distance = (row.y - row.eta) / scale;
  const double most = x.largest_variance();
  // With a convex loss a row moves no further than with a loss of no curvature.
  const bool moves = most * pull * pull > judge.least_moved;
  const double curved = kLogarithm ? std::max(row.curvature, 1.0) : row.curvature;
  const bool informs = most * curved > judge.least_information * judge.divisor;
  const bool surprises =
      Likelihood::kHeavyTailed && distance * distance > judge.least_surprise * judge.divisor;
  if (!moves && !informs && !surprises) return effect;
  const double variance = x.variance(judge.covariance, x.dimension());
  if (!(variance > 0)) return effect;
  effect.known = variance / x.prior_variance(judge.prior_precision);
  if constexpr (Likelihood::kHeavyTailed) {
    effect.surprise = distance * distance / (judge.divisor + variance);
    effect.information = row.curvature * variance / judge.divisor;
  } else {
    effect.doubt = kLogarithm ? variance : 0.0;
    const double at = mode_of_row(likelihood, row, judge.divisor / variance);
    const double curvature = curvature_of_row(likelihood, row, at);
    const double way = (at - row.eta) / scale;
    effect.moved = way * way / variance;
    effect.information = curvature * variance / judge.divisor;
  }
  return effect;
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_ROW_EFFECT_H_
