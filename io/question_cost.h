// What a question costs its endpoint's thread, estimated before it is answered.
#ifndef WINDHOVER_IO_QUESTION_COST_H_
#define WINDHOVER_IO_QUESTION_COST_H_

#include <cstddef>
#include <cstdint>

#include "windhover/io/messages.h"
#include "windhover/runtime/config.h"

namespace windhover {

// A turn ends when it has cost this much, or lasted so long: others wait no longer than that and
// one row, or one question that is not answered in pieces.
inline constexpr std::int64_t kTurnNs = 50'000;

// In nanoseconds of a processor of 3 GHz, right within a factor of three. For each row
//   600 + (draws x dimension + dimension^2 / 2) / 16
// where vectors are multiplied, 600 + draws x non-zeros / 4 with a diagonal structure, 2 x draws x
// dimension where networks are run forward, and of classes 1024 x classes x (classes + 8) and the
// rest once for each; on top of that the quantiles asked for and the interval's two, and the
// thresholds, at the price of the likelihood, and 500 for a key. It is charged rather than what the
// clock says, because a thread that has lost its processor for a while would charge that to whoever
// was just being answered.
struct QuestionCost {
  static constexpr std::int64_t kFrameNs = 300;  // whatever its request is
  static constexpr std::int64_t kStatusNs = 30'000;
  static constexpr std::int64_t kKeyNs =
      500;  // a row of a question with keys is looked up and kept

  std::int64_t row_ns = 0;
  std::int64_t quantile_ns = 0;  // each row's
  std::int64_t threshold_ns = 0;
  std::int64_t parameters_ns = 0;  // a PosteriorSummary
  std::int64_t draw_ns = 0;
  // Rows that are computed together at least: four read the factor of a large model once, and take
  // little longer than one.
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
