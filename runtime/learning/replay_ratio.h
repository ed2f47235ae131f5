// How often each new row is drawn again.
#ifndef WINDHOVER_RUNTIME_LEARNING_REPLAY_RATIO_H_
#define WINDHOVER_RUNTIME_LEARNING_REPLAY_RATIO_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// R: minibatch rows that one chain has drawn for each new row, over the newest quarter to half of a
// window of new rows. Draws that are made after a burst count for its rows, and so do those that
// are due but fewer than a minibatch: a learner that has nothing left to do has reached its target.
// Invariant: what counts is of the stretch since the mark and the one before it, which had at least
// a quarter of a window of new rows, or began at begin(). One thread.
class ReplayRatio {
 public:
  // Counting begins at `head`, as though `rows` new rows had come and a chain had drawn `drawn`.
  void begin(std::uint64_t head, double rows, double drawn) noexcept {
    mark_ = head;
    fresh_before_ = rows;
    drawn_before_ = drawn;
    drawn_ = due_at_mark_ = 0;
  }
  // One chain drew so many rows.
  void drew(double rows) noexcept { drawn_ += rows; }
  // Works out value(). The stream is at `head`, the window holds `rows` rows, and each chain has
  // `due` rows still to draw, fewer than a minibatch.
  void update(std::uint64_t head, std::uint64_t rows, double due) noexcept {
    double fresh = static_cast<double>(head - mark_);
    double drawn = drawn_ + due - due_at_mark_;
    if (fresh >= std::max(1.0, 0.25 * static_cast<double>(rows))) {
      fresh_before_ = fresh;
      drawn_before_ = drawn;
      due_at_mark_ = due;
      mark_ = head;
      fresh = drawn = drawn_ = 0;
    }
    if (fresh_before_ + fresh > 0) value_ = (drawn_before_ + drawn) / (fresh_before_ + fresh);
  }
  // The ratio at the last update().
  double value() const noexcept { return value_; }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("replay ratio");
    visitor.values(mark_, drawn_, due_at_mark_, fresh_before_, drawn_before_, value_);
  }

 private:
  std::uint64_t mark_ = 0;
  double drawn_ = 0;  // since the mark
  double due_at_mark_ = 0;
  double fresh_before_ = 0;  // new rows, and rows drawn, of the quarter before the mark
  double drawn_before_ = 0;
  double value_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_REPLAY_RATIO_H_
