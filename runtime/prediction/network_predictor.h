// Posterior predictive of a network: each retained draw is run forward. There is no normal
// approximation, so an answer is as coarse as the number of draws makes it.
#ifndef WINDHOVER_RUNTIME_PREDICTION_NETWORK_PREDICTOR_H_
#define WINDHOVER_RUNTIME_PREDICTION_NETWORK_PREDICTOR_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/conformal_interval.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/samplers/models/network.h"

namespace windhover {

// Belongs to one reader. One thread. Memory D, the network's units, and draws x (outputs + 2).
class NetworkPredictor {
 public:
  // Takes memory, writes nothing; none when the model is no network.
  NetworkPredictor(Arena& arena, const EngineConfig& config) noexcept;

  // Answers at x, in transformed features. `outcome` may be null; `conformal` is used for a number
  // y only. Unless y is one of several classes, each draw's linear predictor less their mean is
  // written to `deviations`. O(draws x D).
  void predict(const Posterior& posterior, const double* x, const PredictRequest& request,
               const ConformalBounds& conformal, const double* outcome, double* deviations,
               PredictiveSummary& summary) noexcept;
  // The same by the draws' linear predictors at some x. REQUIRES: y is not one of several classes.
  void answer_given(std::span<const double> linear_predictors, double dispersion,
                    const PredictRequest& request, const double* outcome,
                    PredictiveSummary& summary) noexcept;

 private:
  void predict_y(double dispersion, const PredictRequest& request, const ConformalBounds& conformal,
                 const double* outcome, PredictiveSummary& summary) noexcept;
  void run(const Posterior& posterior, const double* x) noexcept;
  void predict_gaussian(double dispersion, const PredictRequest& request,
                        const ConformalBounds& conformal, const double* outcome,
                        PredictiveSummary& summary) noexcept;
  void predict_bernoulli(const PredictRequest& request, const double* outcome,
                         PredictiveSummary& summary) noexcept;
  void predict_classes(const PredictRequest& request, const double* outcome,
                       PredictiveSummary& summary) noexcept;
  double* output(std::size_t c) noexcept { return eta_ + c * draws_; }

  NetworkShape shape_;
  Response response_;
  std::size_t draws_;
  double* theta_;
  double* values_;   // of all units
  double* eta_;      // draws x outputs, column-major: linear predictors
  double* sample_;   // draws, of one probability
  double* entropy_;  // draws
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_NETWORK_PREDICTOR_H_
