// Posterior predictive of a network: the retained draws, each run forward. No normal approximation
// stands between: what 64 draws do not know, the answer does not know either.
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

// Belongs to one reader. One thread. Memory D + draws x outputs.
class NetworkPredictor {
 public:
  // Takes memory, writes nothing; none when the model is no network.
  NetworkPredictor(Arena& arena, const EngineConfig& config) noexcept;

  // x in transformed features; `outcome` may be null; `conformal` is of numbers. `deviations` gets,
  // where the network has one output, each draw's linear predictor less their mean. Complexity
  // O(draws x D).
  void predict(const Posterior& posterior, const double* x, const PredictRequest& request,
               const ConformalBounds& conformal, const double* outcome, double* deviations,
               PredictiveSummary& summary) noexcept;
  // The same for a y that is no class, where the draws' linear predictors are known.
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
