// From one posterior to answers. Pure functions of a snapshot; a reader's scratch comes along.
#ifndef WINDHOVER_RUNTIME_PREDICT_H_
#define WINDHOVER_RUNTIME_PREDICT_H_

#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/class_probabilities.h"
#include "windhover/runtime/gaussian_mixture.h"
#include "windhover/runtime/network_predictor.h"
#include "windhover/runtime/posterior.h"
#include "windhover/runtime/predictive.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// One reader's scratch.
class Predictor {
 public:
  Predictor(Arena& arena, const EngineConfig& config) noexcept;

  // Is the request well formed for this model? Nothing else is judged later. kUnsupported:
  // quantiles, thresholds and Thompson draws of a class number.
  Status check(const PredictRequest& request, Response response) const noexcept;

  // Fills one summary a row. The request has passed check().
  void predict(const Posterior& posterior, Response response, std::uint64_t seed,
               const PredictRequest& request, std::span<PredictiveSummary> summaries) noexcept;

 private:
  void load_row(const PredictRequest& request, std::size_t row,
                const Posterior& posterior) noexcept;
  void predict_gaussian(const Posterior& posterior, const PredictRequest& request, std::size_t row,
                        PredictiveSummary& summary) noexcept;
  void predict_student(const Posterior& posterior, const PredictRequest& request, std::size_t row,
                       PredictiveSummary& summary) noexcept;
  void predict_count(const PredictRequest& request, std::size_t row,
                     PredictiveSummary& summary) noexcept;
  void predict_bernoulli(const PredictRequest& request, std::size_t row,
                         PredictiveSummary& summary) noexcept;
  void compare(Response response, std::uint64_t seed, const PredictRequest& request,
               std::span<PredictiveSummary> summaries) noexcept;

  std::uint32_t features_;
  std::uint32_t dimension_;
  bool sparse_;
  bool intercept_;
  std::uint32_t max_nonzeros_;
  std::uint32_t max_rows_;
  std::uint32_t draws_;
  double degrees_of_freedom_;
  std::uint32_t classes_;
  bool network_;
  ClassProbabilities class_probabilities_;
  NetworkPredictor network_predictor_;
  StudentScale student_scale_;  // of the posterior at hand
  double* x_;                   // dimension: the row in transformed features
  double* whitened_;            // dimension
  double* predictors_;          // max_query_rows x draws: linear predictors on common draws
  double* normals_;             // draws
  double* best_;                // draws
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICT_H_
