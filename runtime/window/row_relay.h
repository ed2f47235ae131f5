// Hands the rows of one engine to another that learns from the same stream.
#ifndef WINDHOVER_RUNTIME_WINDOW_ROW_RELAY_H_
#define WINDHOVER_RUNTIME_WINDOW_ROW_RELAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/runtime/window/ingest.h"
#include "windhover/runtime/window/row_follower.h"
#include "windhover/runtime/window/window.h"

namespace windhover {

// Copies rows from the window of a leader into that of a follower, in their order and each once: at
// first those that the leader's window holds, then those that come, except what pass_over() gives
// up. The leader's writer waits for a follower that is behind by the leader's whole slack, so none
// is lost. Rows that the follower's model does not allow are refused and counted there. Invariant:
// rows of the leader below next_ have been taken in or refused by the follower, or given up. Only
// the thread that polls the follower uses it, and writes to the follower's window.
class RowRelay {
 public:
  static constexpr std::uint64_t kRows = 1024;  // rows handed over at a time
  static constexpr int kFrames = 16;            // the most times in one hand_over()

  // `room` has space for kRows packed rows.
  RowRelay(RowFollower leader, const Window& leader_window, std::span<std::byte> room) noexcept
      : leader_(leader), window_(leader_window), room_(room), next_(leader.kept_from()) {}

  // How many rows of the leader have not been handed over.
  std::uint64_t waiting() const noexcept {
    const std::uint64_t next = std::max(next_, leader_.kept_from());
    return std::max(next, window_.head()) - next;
  }

  // Gives up all rows that wait: the follower never gets them.
  void pass_over() noexcept {
    next_ = std::max(next_, window_.head());
    leader_.keep_from(next_);
  }

  // Hands over the next rows, as far as the follower has room. O(rows).
  void hand_over(Window& to, Ingest& ingest) noexcept;

 private:
  RowFollower leader_;
  const Window& window_;
  std::span<std::byte> room_;
  std::uint64_t next_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_ROW_RELAY_H_
