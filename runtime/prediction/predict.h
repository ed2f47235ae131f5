// From one posterior to answers: functions of a snapshot alone, with a reader's scratch.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/class_probabilities.h"
#include "windhover/runtime/prediction/conformal_interval.h"
#include "windhover/runtime/prediction/network_predictor.h"
#include "windhover/runtime/prediction/outcome_predictor.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/prediction/row_comparison.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// One reader's scratch. One thread.
//
// A row costs D^2 / 2 multiplications for the spread of its linear predictor, twice as many where
// rows depend on one another (RobustSpread), and in a request of several rows draws x D more for
// the comparison on common draws. Rows are taken kBlock at a time, so that the factor and the
// draws, which they share, are read once for four rows and stay in the caches for all. An answer
// has the same bits whatever rows it comes with, but for `prob_best` and `expected_regret`. Memory:
// kBlock x 2 D + rows x draws. With shared draws a row costs non-zeros x draws additions, and the
// memory is rows x draws.
class Predictor {
 public:
  Predictor(Arena& arena, const EngineConfig& config) noexcept;

  // These answer one request from one posterior: begin(), then its rows in order, however many at a
  // time, then end(). How many at a time changes no bit. `summaries`: of the whole request, one a
  // row; `conformal`: the ends of conformal intervals of the probability asked for. REQUIRES:
  // RequestCheck::check() is kOk.
  void begin(const Posterior& posterior, Response response, std::uint64_t seed,
             const PredictRequest& request, const ConformalBounds& conformal = {}) noexcept;
  void rows(const Posterior& posterior, Response response, const PredictRequest& request,
            std::size_t first, std::size_t count, std::span<PredictiveSummary> summaries) noexcept;
  void end(Response response, const PredictRequest& request,
           std::span<PredictiveSummary> summaries) noexcept;
  // How many numbers keep the answer to one row, so that what it says of y can be worked out again:
  // for linear models mean and sd of the linear predictor and the noise; for several classes their
  // probabilities; for other networks each draw's linear predictor and the noise.
  static std::size_t given_numbers(const EngineConfig& config) noexcept;
  // The numbers of a row that has been answered. REQUIRES: the request has keys.
  std::span<const double> given(std::size_t row) const noexcept {
    return given_.subspan(row * given_numbers_, given_numbers_);
  }
  // Works out again, to rounding, what was said of y when these numbers were kept, for the outcome,
  // the quantiles and the thresholds of a request of one row, whose x is not looked at. For several
  // classes this holds where the probability of the outcome is above 1e-300; beside it only their
  // probabilities mean anything.
  void answer_given(Response response, std::span<const double> given, const PredictRequest& request,
                    PredictiveSummary& summary) noexcept;
  // Writes how the linear predictor of the row answered last depends on z: x^T B, where theta =
  // mean + B z, z standard normal, and B has a root of P and the columns of the MemoryAverage.
  // directions() is the size of z, and 0 for models with several linear predictors or shared draws.
  // REQUIRES: it is not 0. O(memories x D).
  void direction(const Posterior& posterior, std::span<double> out) const noexcept;
  static std::size_t directions(const EngineConfig& config, std::uint32_t memories) noexcept;
  // Answers the row answered last again, as a request of its own, with the linear predictor in
  // `summary`.
  void answer_at(Response response, const PredictRequest& request,
                 PredictiveSummary& summary) const noexcept {
    outcome_.predict(response, request, 0, summary);
  }
  // The share of the variance of that row's y, or of its classes together, that is epistemic, which
  // says how far rows that the posterior predicts depend on one another. Where y's logarithm is
  // normal, the share of the logarithm's variance. 0 to 1.
  double unknown_share(Response response, const PredictiveSummary& summary) const noexcept;
  // Answers a whole request at once, without conformal intervals.
  void predict(const Posterior& posterior, Response response, std::uint64_t seed,
               const PredictRequest& request, std::span<PredictiveSummary> summaries) noexcept {
    begin(posterior, response, seed, request);
    rows(posterior, response, request, 0, request.rows, summaries);
    end(response, request, summaries);
  }

 private:
  // How many rows are taken at a time: a factor too large for the caches is read once for so many.
  static constexpr std::size_t kBlock = 32;

  void note_given(Response response, std::size_t row, const PredictiveSummary& summary) noexcept;
  void load_row(const PredictRequest& request, std::size_t row, const Posterior& posterior,
                double* x) noexcept;
  // Finds the noise of each row of a block whose x are loaded, and moves these x to the place of
  // the mean's parameters.
  void find_noise(const Posterior& posterior, const PredictRequest& request,
                  std::size_t count) noexcept;
  // whitened_ <- R x of each row of a block, made longer where they are to be wider.
  void whiten(const Posterior& posterior, const PredictRequest& request,
              std::size_t count) noexcept;
  void predict_linear(const Posterior& posterior, Response response, const PredictRequest& request,
                      std::size_t first, std::size_t count,
                      std::span<PredictiveSummary> summaries) noexcept;
  void predict_shared(const Posterior& posterior, Response response, const PredictRequest& request,
                      std::size_t row, PredictiveSummary& summary) noexcept;
  void finish(Response response, const PredictRequest& request, std::size_t row,
              PredictiveSummary& summary) noexcept;

  ModelConfig model_;
  bool network_;
  std::uint32_t draws_;
  ClassProbabilities class_probabilities_;
  NetworkPredictor network_predictor_;
  OutcomePredictor outcome_;
  RowComparison comparison_;
  bool noise_of_rows_;                         // the log-variance of y is linear in x
  std::size_t block_;                          // rows at a time
  std::size_t stride_;                         // of the rows in the next two
  double* x_;                                  // block x columns: rows in transformed features
  double* pull_;                               // dimension
  double* whitened_;                           // block x columns
  std::span<OutcomePredictor::Noise> noises_;  // block; none unless noise_of_rows_
  MissingFeatures missing_;
  std::size_t given_numbers_;
  std::span<double> given_;  // max_query_rows x given_numbers; none unless keyed rows are scored
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICT_H_
