// How far one row of a generalized linear model is from what a Gaussian posterior expects of it.
//
// For a normal y the squared distance in noise is r^2 / sigma^2, the predictive one r^2 / (sigma^2
// + x^T P x). Otherwise the distance in noise is the deviance (McCullagh and Nelder 1989, section
// 2.3). exp(-deviance / 2) bounds the probability of a y as far off or farther on the same side
// (Chernoff), as it does for a normal y.
#ifndef WINDHOVER_SAMPLERS_MODELS_ROW_DISTANCE_H_
#define WINDHOVER_SAMPLERS_MODELS_ROW_DISTANCE_H_

#include <algorithm>
#include <cmath>

#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/models/row_effect.h"

namespace windhover {

// y log(y / scale), 0 at y = 0, with the logarithm of the scale given.
inline double scaled_log_ratio(double y, double log_scale) noexcept {
  return y > 0 ? y * (std::log(y) - log_scale) : 0.0;
}

// The deviance of one row with its linear predictor at eta; never below 0.
inline double deviance(const PoissonLikelihood& likelihood, const RowAtMode& row,
                       double eta) noexcept {
  // Twice what the loss lies above its least value, which also holds beyond kLargest.
  const double least = row.y - scaled_log_ratio(row.y, 0);
  return std::max(0.0, 2 * (likelihood.loss(&eta, &row.y, 1) - least));
}
inline double deviance(const BinomialLogitLikelihood& likelihood, const RowAtMode& row,
                       double eta) noexcept {
  const double log_trials = std::log(row.trials);
  const double least =
      -scaled_log_ratio(row.y, log_trials) - scaled_log_ratio(row.trials - row.y, log_trials);
  return std::max(0.0, 2 * (likelihood.loss(&eta, &row.y, &row.trials, 1) - least));
}

// `scale` is that of y. expand() expands the row and returns x^T P x; it is called only where the
// distance is more than the judge's least.
template <class Likelihood, class Expand>
RowDistance row_distance(const Likelihood& likelihood, const RowAtMode& row, double scale,
                         const DistanceJudge& judge, Expand&& expand) noexcept {
  if constexpr (is_normal(Likelihood::kResponse)) {
    const double residual = row.residual / scale;
    const double square = residual * residual;
    const double noise = square / judge.divisor;
    if (noise <= judge.least) return {noise, noise};
    return {noise, square / (judge.divisor + expand())};
  } else {
    const double noise = deviance(likelihood, row, row.eta);
    if (noise <= judge.least) return {noise, noise};
    const double variance = expand();
    if (!(variance > 0)) return {noise, noise};
    const double at = mode_of_row(likelihood, row, 1 / variance);
    const double way = at - row.eta;
    return {noise, deviance(likelihood, row, at) + way * way / variance};
  }
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_ROW_DISTANCE_H_
