// How badly a Gaussian posterior predicts one row of a generalized linear model.
#ifndef WINDHOVER_SAMPLERS_MODELS_PREDICTIVE_LOSS_H_
#define WINDHOVER_SAMPLERS_MODELS_PREDICTIVE_LOSS_H_

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/models/row_effect.h"

namespace windhover {

// -log p of one row with its linear predictor at eta, at dispersion 1, up to a constant.
template <class Likelihood>
double loss_of_row(const Likelihood& likelihood, const RowAtMode& row, double eta) noexcept {
  if constexpr (Likelihood::kHasTrials) {
    return likelihood.loss(&eta, &row.y, &row.trials, 1);
  } else {
    return likelihood.loss(&eta, &row.y, 1);
  }
}

// -log of the mean likelihood where the linear predictor is normal with this variance: see
// Model::predictive_losses(). `scale` is that of y. Unless y is normal it is computed by the
// five-point Gauss-Hermite rule, exact for polynomials up to degree 9. The rule is good where the
// row says less of its predictor than is known, as rows like those before do; the likelihood of a
// row that says far more falls between the points.
template <class Likelihood>
double predictive_loss(const Likelihood& likelihood, const RowAtMode& row, double variance,
                       double scale, double divisor) noexcept {
  variance = std::max(variance, 0.0);
  if constexpr (is_normal(Likelihood::kResponse)) {
    const double residual = (row.y - row.eta) / scale;
    const double open = variance / divisor;
    return 0.5 * (std::log1p(open) + residual * residual / (divisor + variance));
  } else {
    constexpr std::array<double, 5> kAt = {-2.8569700138728056, -1.3556261799742659, 0,
                                           1.3556261799742659, 2.8569700138728056};
    constexpr std::array<double, 5> kWeight = {0.011257411327720691, 0.22207592200561266,
                                               0.53333333333333333, 0.22207592200561266,
                                               0.011257411327720691};
    const double sd = scale * std::sqrt(variance);
    std::array<double, 5> losses;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      losses[i] = loss_of_row(likelihood, row, row.eta + kAt[i] * sd) / (scale * scale * divisor);
    }
    const double least = *std::min_element(losses.begin(), losses.end());
    double mean = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      mean += kWeight[i] * std::exp(least - losses[i]);
    }
    return least - std::log(mean);
  }
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_PREDICTIVE_LOSS_H_
