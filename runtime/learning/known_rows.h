// Which rows of the window minibatches are drawn from.
#ifndef WINDHOVER_RUNTIME_LEARNING_KNOWN_ROWS_H_
#define WINDHOVER_RUNTIME_LEARNING_KNOWN_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// The rows in the estimates behind the law: a row that the law does not know, the first one of a
// category, would throw a chain as far as the law was uncertain there. Once more than a sixteenth
// of them have left the window (more than half while newer rows are joining the sums), all rows of
// the window are drawn from. Invariant: drawn() is in the window. One thread writes, between moves.
class KnownRows {
 public:
  struct Rows {
    std::uint64_t first;
    std::uint64_t end;
  };

  // The cursor outlives it.
  explicit KnownRows(const WindowCursor& cursor) noexcept : cursor_(cursor) {}

  // The estimates are those of the rows [first, end).
  void set(std::uint64_t first, std::uint64_t end) noexcept {
    first_ = first;
    end_ = end;
  }
  // Says for this round whether the rows that came since are joining the sums.
  void set_joining(bool joining) noexcept { joining_ = joining; }
  // Whether enough of the rows are still there to draw from no others.
  bool suffice() const noexcept {
    const std::uint64_t first = std::max(first_, cursor_.first());
    const std::uint64_t least = (joining_ ? 8 : 15) * (end_ - first_);
    return end_ > first && 16 * (end_ - first) >= least;
  }
  Rows drawn() const noexcept {
    return suffice() ? Rows{std::max(first_, cursor_.first()), end_}
                     : Rows{cursor_.first(), cursor_.head()};
  }
  // Whether the newest row is drawn from.
  bool has_newest() const noexcept { return drawn().end == cursor_.head(); }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(first_, end_); }

 private:
  const WindowCursor& cursor_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  bool joining_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_KNOWN_ROWS_H_
