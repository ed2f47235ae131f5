// Which groups of draws over many sparse columns are retained, and which are served.
#ifndef WINDHOVER_RUNTIME_LEARNING_SERVED_GROUPS_H_
#define WINDHOVER_RUNTIME_LEARNING_SERVED_GROUPS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/snapshots.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/posterior/draw_table.h"
#include "windhover/runtime/posterior/posterior.h"

namespace windhover {

// Now and then where the chains stand becomes a group of draws. It takes the place of the oldest
// group that is served, or of the newest where that is too close to the one before it.
//
// Invariant: served() are draws of rows below served_head(), with the group that was retained last
// unless behind(), as readers were in the way. One thread.
class ServedGroups {
 public:
  // See DrawTable.
  ServedGroups(Arena& arena, std::uint32_t parameters, std::uint32_t chains, std::uint32_t draws,
               std::uint64_t seed) noexcept
      : table_(arena, parameters, chains, draws, seed) {}
  void reset() noexcept { table_.reset(); }
  // Begins anew, as if no group had been retained yet.
  void start_over() noexcept { count_ = newest_moves_ = 0; }

  // Each chain has made so many more moves.
  void count_moves(std::uint64_t moves) noexcept { unretained_ += moves; }
  // Moves of each chain since a group was retained.
  std::uint64_t unretained() const noexcept { return unretained_; }
  // Whether the head is another one than when a group was last retained.
  bool rows_came(std::uint64_t head) const noexcept { return retained_head_ != head; }
  // Retains where the chains are now as the newest group, drawn from the rows below `head`.
  // `between`: how many moves there should be between two groups; `sampling`: as many groups as are
  // served have been retained since start_over() or reset().
  void retain(std::uint64_t head, std::uint64_t between, bool sampling) noexcept;
  // Whether as many groups have been retained as are served.
  bool full() const noexcept { return count_ >= table_.count(); }

  // Room for the chains' values, stride() numbers a column, to be written before show(). Null:
  // readers hold all groups that could be written.
  float* room(Snapshots<Posterior>& snapshots) noexcept;
  std::size_t stride() const noexcept { return table_.stride(); }
  // Serves the group that was retained last and written to the room. false: there was no room.
  bool show() noexcept;
  bool behind() const noexcept { return !shown_; }
  const SharedDraws& served() const noexcept { return table_.served(); }
  std::uint64_t served_head() const noexcept { return shown_head_; }

  // Each shows its numbers at its place in the section that is open; then come the draws.
  void visit_retained(StateVisitor& visitor) noexcept {
    visitor.values(unretained_, retained_head_);
  }
  void visit_served(StateVisitor& visitor) noexcept {
    visitor.values(newest_moves_, count_, leaves_, shown_, shown_head_);
  }
  void visit_draws(StateVisitor& visitor) noexcept { table_.visit_state(visitor); }

 private:
  DrawTable table_;
  std::uint64_t unretained_ = 0;
  std::uint64_t retained_head_ = 0;
  std::uint64_t newest_moves_ = 0;  // between the newest group and the one before
  std::uint64_t count_ = 0;         // groups retained since the beginning
  // Which group the last one retained replaces, once readers are not in the way.
  DrawTable::InPlaceOf leaves_ = DrawTable::InPlaceOf::kOldest;
  int room_ = -1;  // the group that is being written, if any
  bool shown_ = true;
  std::uint64_t shown_head_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SERVED_GROUPS_H_
