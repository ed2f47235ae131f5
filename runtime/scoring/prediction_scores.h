// What the predictions of one engine were worth, as plain numbers to be shown.
#ifndef WINDHOVER_RUNTIME_SCORING_PREDICTION_SCORES_H_
#define WINDHOVER_RUNTIME_SCORING_PREDICTION_SCORES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// Central intervals whose coverage is counted.
inline constexpr std::array<double, 4> kScoredIntervals = {0.50, 0.80, 0.90, 0.95};

// Bins of equal width into which probability integral transforms are counted.
inline constexpr std::size_t kPitBins = 10;

// Means over the rows scored last, older ones counting less and less: together they count as
// `memory` rows, or as all rows scored while these are fewer.
struct ScoreMeans {
  std::uint64_t memory = 0;  // 0: all
  std::uint64_t rows = 0;    // the rows that the means count as
  double log_score = 0;      // log p(y | x) of the posterior predictive; nats
  double reference = 0;      // the log score of a forecast that knows nothing of x
  // Shares of the outcomes within kScoredIntervals; NaN where there are none.
  std::array<double, kScoredIntervals.size()> coverage{};
  // Histogram of the outcomes' probability integral transforms, flat when the predictions are
  // honest. For several classes these start at 1/2, by the sets of the most probable classes. NaN
  // where there are none.
  std::array<double, kPitBins> pit{};
  // The same for conformal intervals and sets (conformal.h).
  std::array<double, kScoredIntervals.size()> conformal_coverage{};
  // How large the intervals or sets of 90 % were. Numbers and counts: the width in normal scores
  // over that of the model's own, 1 where that is right. Classes: how many a set has. NaN: none
  // yet.
  double conformal_size = 0;
};

// Scores over memories of 1,000 and 10,000 rows, and over all.
struct PredictionScores {
  static constexpr std::array<std::uint64_t, 3> kMemories = {1'000, 10'000, 0};
  static constexpr std::size_t kServed = 1;  // the memory to show where there is room for one
  std::uint64_t offered = 0;                 // rows that came since the start, scored or not
  std::array<ScoreMeans, kMemories.size()> means;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_PREDICTION_SCORES_H_
