// Surprising rows of a window: counted, down-weighted or set aside (runtime/learning/surprise.md).
#ifndef WINDHOVER_RUNTIME_LEARNING_SURPRISE_LIMIT_H_
#define WINDHOVER_RUNTIME_LEARNING_SURPRISE_LIMIT_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/counters.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// Judges each row once, when the learner takes it in, by the estimates of the rows before it: how
// many standard deviations z it is from what they predict (Model::row_distances). The unit is what
// the newest kRows rows say that it is: the median of their distances is 0.6745 of one, whatever a
// few among them are. So rows that have widened the noise before do not hide those that come, and
// noise that has grown for all makes none of them surprising.
//
// Beyond kFar a row is surprising. One normal row in 10^11 is: 1.2e-15 lie beyond 8 sd, the rest is
// the median's error of 8 %. EngineConfig::surprising_rows says what is done. kDownWeight begins at
// kNear already, smoothly: w = 3^2 / z^2 takes the row for one with so much more noise that y is 3
// of its own sd off. One normal row in 300 is down-weighted, which lowers the noise variance by 0.6
// %; Huber's 1.345 / |z|, of every sixth row, would lower it by 15 %, and let 1 % of rows 100 sd
// off more than double it, for w z^2 has no bound there.
//
// All rows that are in the window when chains are about to start are judged then, by the mode that
// a cold start has found; another cold start finds it again by the new weights. Where more than
// kMostBeyond of the newest kRows rows are beyond the limit it stands aside, so that a stream that
// has moved is learned from, after 30 rows. If one row in 20 is beyond it, that happens at fewer
// than one row in 10^7.
//
// Invariant: beyond_ of the newest count_ distances are beyond the limit, and all rows of the
// window below judged_ have been judged.
//
// One thread: the learner's. Nobody else reads what it writes, the learner's weight of rows, but
// for the threads that help the learner, in rounds.
class SurpriseLimit {
 public:
  static constexpr double kFar = 8;
  static constexpr double kNear = 3;
  static constexpr std::uint32_t kRows = 200;       // the newest
  static constexpr std::uint32_t kLeast = 100;      // below, nothing is limited
  static constexpr std::uint32_t kMostBeyond = 30;  // of the newest

  SurpriseLimit(const EngineConfig& config, Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;

  // Judges the rows [first, last), in the order of the stream. `indices` has room for kAtATime
  // numbers. O(rows x features), and O(D^2) for each row beyond the limit.
  void judge(Model& model, const Estimator& estimator, WindowCursor& cursor, std::uint64_t first,
             std::uint64_t last, std::span<std::uint32_t> indices) noexcept;
  // Judges all rows of the window anew, as chains are about to start. true: some have another
  // weight now, and the mode is to be found again. After kTimes calls it judges only rows that have
  // not been judged, and returns false.
  bool judge_all(Model& model, const Estimator& estimator, WindowCursor& cursor,
                 std::span<std::uint32_t> indices) noexcept;
  // A cold start begins anew: judge_all() may judge all rows again, if rows have come since.
  void start_over() noexcept;

  // Whether no row is limited, because too many would be.
  bool stands_aside() const noexcept { return acts_ && beyond_ > kMostBeyond; }

  // Shows the weights of the rows in `cursor` too.
  void visit_state(StateVisitor& visitor, WindowCursor& cursor) noexcept;

  static constexpr std::size_t kAtATime = 128;
  static constexpr std::uint32_t kTimes = 4;

 private:
  template <class Take>
  void for_distances(Model& model, const Estimator& estimator, const WindowCursor& cursor,
                     std::uint64_t first, std::uint64_t last, std::span<std::uint32_t> indices,
                     Take&& take) noexcept;
  bool is_beyond(double distance, double limit) const noexcept;
  void note(const RowDistance& distance) noexcept;
  double weight_of(const RowDistance& distance, double given) const noexcept;
  bool limit_row(const RowDistance& distance, std::uint64_t row, WindowCursor& cursor) noexcept;
  void measure_unit() noexcept;

  const SurprisingRows what_;
  const bool acts_;     // whether it changes weights
  const double limit_;  // kNear or kFar
  const double least_unit_;
  Counters<RuntimeCounter>& counters_;
  // A ring of the newest rows' distances by the noise alone; negative for those beyond the limit.
  std::array<double, kRows> newest_;
  std::uint32_t count_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t beyond_ = 0;         // how many of these are beyond the limit
  std::uint32_t unmeasured_ = 0;     // rows since unit_ was measured
  std::uint32_t times_ = kTimes;     // how often judge_all() may still judge all rows
  std::uint64_t judged_ = 0;         // rows below it have been judged
  std::uint64_t judged_of_all_ = 0;  // judged_ when judge_all() last judged all
  double unit_ = 1;                  // in predicted standard deviations
  std::array<double, kRows> scratch_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SURPRISE_LIMIT_H_
