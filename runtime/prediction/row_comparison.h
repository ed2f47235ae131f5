// Compares the rows of one question with one another, on the draws that they share.
#ifndef WINDHOVER_RUNTIME_PREDICTION_ROW_COMPARISON_H_
#define WINDHOVER_RUNTIME_PREDICTION_ROW_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/prediction/outcome_predictor.h"

namespace windhover {

// Holds each row's linear predictor on each draw, and once the row is added its expected y there.
//
// Invariant: for each draw it knows which of the rows added so far has the largest expected y. One
// thread. Memory: (max_query_rows + 3) x draws.
class RowComparison {
 public:
  // Takes memory, writes nothing.
  RowComparison(Arena& arena, const EngineConfig& config) noexcept;

  // Call it before the rows of a request.
  void begin(std::uint64_t seed, const PredictRequest& request) noexcept;
  // Where the linear predictors of a row and of those after it are to be written, each less its
  // mean over the draws, one draw after another.
  double* predictors(std::size_t row) noexcept { return predictors_ + row * draws_; }
  const double* predictors(std::size_t row) const noexcept { return predictors_ + row * draws_; }
  // Adds the next row, whose linear predictors have been written and whose answer is in `summary`:
  // makes the Thompson draw, and notes on which draws the row is the best yet. `outcome`: of the
  // present question.
  void add(Response response, const OutcomePredictor& outcome, const PredictRequest& request,
           std::size_t row, PredictiveSummary& summary) noexcept;
  // Fills in prob_best and expected_regret of several rows. REQUIRES: all have been added.
  void end(const PredictRequest& request, std::span<PredictiveSummary> summaries) noexcept;

 private:
  std::uint32_t draws_;
  double* predictors_;  // max_query_rows x draws
  double* normals_;     // draws: of the Thompson draw
  double* best_;        // on each draw the largest expected y so far, ...
  double* winner_;      // ... and which row's it is
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_ROW_COMPARISON_H_
