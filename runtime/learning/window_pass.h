// A pass over the rows of the window, in the order of the stream, some rows at a time.
#ifndef WINDHOVER_RUNTIME_LEARNING_WINDOW_PASS_H_
#define WINDHOVER_RUNTIME_LEARNING_WINDOW_PASS_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/runtime/diagnostics/row_order.h"
#include "windhover/runtime/diagnostics/score_series.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/runtime/window/repeated_rows.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// Sums rows for the mode and A at one anchor, and C; beside them what the order of the stream tells
// (scores), and which rows repeat one another. Invariant: the pass has summed the window's rows
// below position(), but for rows that left before their turn. The learner's thread; sum_curvature()
// and sum_noise() of one sweep may run on two.
class WindowPass {
 public:
  // Which terms of a row are summed.
  enum class Terms : std::uint8_t {
    kStart,   // Model::add_start
    kSecond,  // gradient and curvature
    kThird,   // these, and the third-order sums for the mean
  };

  WindowPass(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
             Estimator& estimator) noexcept;
  void reset() noexcept;

  // Begins a pass from the first row of the window up to `end`, at the current mode.
  void begin(std::uint64_t end) noexcept;
  bool running() const noexcept { return position_ != end_; }
  std::uint64_t position() const noexcept { return position_; }
  std::uint64_t end() const noexcept { return end_; }
  // Extends the pass to the newest row.
  void extend() noexcept { end_ = cursor_.head(); }
  // No pass is running, and the last one ended here.
  void stand(std::uint64_t position) noexcept { position_ = end_ = position; }

  // Takes up to `rows` further rows of the pass, to be summed by the next two; then end_sweep()
  // says whether the pass is complete. Rows that left the window before their turn are skipped, and
  // a pass whose end has left goes on to the newest row. A pass sums no more rows than the window
  // has.
  void begin_sweep(std::uint64_t rows) noexcept;
  void sum_curvature(Terms terms, LearnerWorker& worker) noexcept;
  // Sums scores at the anchor, and C at the iterate `at`.
  void sum_noise(const double* at, LearnerWorker& worker) noexcept;
  bool end_sweep() noexcept;
  // Concludes what the order of the rows of a complete pass tells.
  void conclude_scores() noexcept;
  // The row at which the newest rows begin to differ; 0: not known
  // (ScoreSeries::rows_since_change()).
  std::uint64_t drift_onset() const noexcept { return drift_onset_; }

  // Call it between sweeps.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("window pass", 4);
    visitor.values(position_, end_, drift_onset_);
    if (aged_) visitor.value(scores_from_);
    scores_.visit_state(visitor);
    order_.visit_state(visitor);
    repeats_.visit_state(visitor);
  }

  void forget_scores() noexcept {
    scores_.reset();
    drift_onset_ = 0;
  }
  const ScoreSeries& scores() const noexcept { return scores_; }
  // Whether there are few rows, and they come in an order, by the last pass.
  bool few_in_order() const noexcept {
    return cursor_.head() < RowOrder::kFewRows && order_.in_order();
  }
  RepeatedRows& repeats() noexcept { return repeats_; }
  const RepeatedRows& repeats() const noexcept { return repeats_; }

 private:
  // Calls visit(first, last, keep) for each piece of the sweep: its rows [first, last) count the
  // same, and the sums over rows before them are to fade by the factor `keep`.
  template <class Visit>
  void for_pieces(Visit&& visit) const noexcept {
    const AgeWeights& ages = cursor_.ages();
    for (std::uint64_t at = position_; at < sweep_end_;) {
      std::uint64_t last = std::min({sweep_end_, at + kWarmUpRows, ages.end_of_step(at)});
      if (at < scores_from_) last = std::min(last, scores_from_);
      visit(at, last, at > 0 ? ages.weight(at - 1, at) : 1.0);
      at = last;
    }
  }

  void fade(double keep) noexcept;

  const WindowCursor& cursor_;
  Estimator& estimator_;
  bool aged_;          // rows count by their age
  bool sweeps_noise_;  // NoiseEstimator::kWindowSweep
  ScoreSeries scores_;
  RowOrder order_;
  RepeatedRows repeats_;
  std::uint64_t position_ = 0;  // next row
  std::uint64_t end_ = 0;
  std::uint64_t drift_onset_ = 0;
  std::uint64_t sweep_end_ = 0;    // the end of the sweep under way
  std::uint64_t scores_from_ = 0;  // rows below count too little for the order to tell anything
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_WINDOW_PASS_H_
