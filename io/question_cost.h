// An estimate of what a question costs its endpoint's thread, made before it is answered.
#ifndef WINDHOVER_IO_QUESTION_COST_H_
#define WINDHOVER_IO_QUESTION_COST_H_

#include <cstddef>
#include <cstdint>

#include "windhover/io/messages.h"
#include "windhover/runtime/config.h"

namespace windhover {

// A turn ends when it has cost this much, or lasted so long: others wait no longer than that and a
// few rows (rows_together), or one question that is not answered in pieces.
inline constexpr std::int64_t kTurnNs = 50'000;

// In nanoseconds of a processor of 3 GHz, right within a factor of three. A row costs
//   600 + (draws x dimension + dimension^2 / 2) / 16   with vectors of parameters,
//   600 + draws x max_nonzeros                         with a diagonal structure,
//   600 + 2 x draws x dimension                        for networks.
// Softmax pays the first formula's part behind 600 for each class, heteroscedastic twice; models of
// classes add 1024 x classes x (classes + 8). Where a prediction may be wider because rows depend
// on one another (dependent_spread), unless posterior_spread is asked for, the matrix is read a
// second time, for one row: dimension^2 / 10 more for each class. Each quantile asked for, the
// interval's two and each threshold are added at a price that depends on the likelihood, and 500
// for a key. The estimate is charged rather than the time by the clock: a thread that loses its
// processor for a while would charge that to whoever was being answered.
struct QuestionCost {
  static constexpr std::int64_t kFrameNs = 300;  // for any request
  static constexpr std::int64_t kStatusNs = 30'000;
  static constexpr std::int64_t kKeyNs =
      500;  // a row of a question with keys is looked up and kept

  std::int64_t row_ns = 0;
  std::int64_t wider_ns = 0;     // for each row that may be wider where rows depend on one another
  std::int64_t quantile_ns = 0;  // for each row
  std::int64_t threshold_ns = 0;
  std::int64_t parameters_ns = 0;  // for a PosteriorSummary
  std::int64_t draw_ns = 0;
  // The least number of rows to compute together: four read the factor of a large model once, and
  // take little longer than one.
  std::uint32_t rows_together = 1;

  // The cost of one row of this question.
  std::int64_t of_row(const PredictQuery& query) const noexcept;
  std::int64_t of(const PredictQuery& query) const noexcept {
    return kFrameNs + query.rows * of_row(query);
  }
};

// REQUIRES: check(engine) is ok.
QuestionCost question_cost(const EngineConfig& engine) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_QUESTION_COST_H_
