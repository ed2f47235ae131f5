#ifndef WINDHOVER_RUNTIME_SCORING_SCORE_AVERAGE_H_
#define WINDHOVER_RUNTIME_SCORING_SCORE_AVERAGE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

// One row that was predicted before it was learned from.
struct RowScore {
  double log_score = 0;  // log p(y | x) of the posterior predictive; nats
  double reference = 0;  // the log score of a forecast that knows nothing of x
  // Probability integral transform, uniform when the predictions are honest. With several classes
  // it starts at 1/2, by the sets of the most probable classes. Below 0: there is none.
  double pit = -1;
  // Whether the conformal intervals that were served hold the outcome.
  std::array<bool, kScoredIntervals.size()> conformal{};
  double conformal_size = -1;  // below 0: there were none
};

// The averages over one memory. One writer; means() and single numbers from any thread, each number
// as it was between two rows, though not all between the same two.
class ScoreAverage {
 public:
  explicit ScoreAverage(std::uint64_t memory) noexcept : memory_(memory) {}

  void add(const RowScore& score) noexcept;
  ScoreMeans means() const noexcept;
  double coverage(std::size_t interval) const noexcept;
  double conformal_coverage(std::size_t interval) const noexcept;
  double pit(std::size_t bin) const noexcept;

 private:
  using Number = std::atomic<double>;
  static void move(Number& mean, double value, double weight) noexcept;
  // The mean; NaN without rows.
  static double known(const Number& mean, const std::atomic<std::uint64_t>& rows) noexcept;

  std::uint64_t memory_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> rows_with_pit_{0};
  std::atomic<std::uint64_t> rows_with_conformal_{0};
  Number log_score_{0};
  Number reference_{0};
  std::array<Number, kScoredIntervals.size()> covered_{};
  std::array<Number, kPitBins> pit_{};
  std::array<Number, kScoredIntervals.size()> conformal_{};
  Number conformal_size_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_SCORE_AVERAGE_H_
