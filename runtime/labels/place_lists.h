// Which places of a table wait, and which may be taken.
#ifndef WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_
#define WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

// All places wait equally long. A settled place may be taken again: at once, or once the learner
// has read the entry (ScoreQueue) that names it.
//
// Invariant: a place is in one list, or in none if it was never taken or has been taken and does
// not wait yet; each list is in the order in which its places came to it. One thread, or under a
// lock. Memory: 24 bytes a place.
class PlaceLists {
 public:
  static constexpr std::uint64_t kNoEntry = UINT64_MAX;

  // Takes memory, writes nothing; call reset() before use.
  PlaceLists(Arena& arena, std::uint32_t places) noexcept;
  // Begins anew: no place has been taken.
  void reset() noexcept;

  // Takes a place that has never been taken; otherwise, of those without an entry or with one below
  // `read`, the one settled first. Nothing: there is none. O(1).
  std::optional<std::uint32_t> take(std::uint64_t read) noexcept;
  // The place waits until that time. REQUIRES: it is in no list, and no place waits until later.
  void wait(std::uint32_t place, std::int64_t until_ns) noexcept;
  // Takes a place out of its list. REQUIRES: it waits.
  void stop_waiting(std::uint32_t place) noexcept { remove(waiting_, place); }
  // The place waits no more; `entry`: by which the learner reads it. REQUIRES: it waits; entries
  // grow.
  void settle(std::uint32_t place, std::uint64_t entry = kNoEntry) noexcept;

  // The place that has waited longest, if its time is up.
  std::optional<std::uint32_t> overdue(std::int64_t now_ns) const noexcept;
  // How many places' time is up, counted up to `most`. O(most).
  std::uint64_t count_overdue(std::uint64_t most, std::int64_t now_ns) const noexcept;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Link {
    std::int64_t order;   // waiting: until then, in ns; settled: places settled before it
    std::uint64_t entry;  // settled: as the learner reads it
    std::uint32_t previous, next;
  };
  static_assert(sizeof(Link) == 24);
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  void append(List& list, std::uint32_t place) noexcept;
  void remove(List& list, std::uint32_t place) noexcept;

  std::span<Link> links_;
  std::uint32_t unused_ = 0;  // places from here on have never been taken
  std::int64_t settled_ = 0;  // how often a place has been settled
  List waiting_;
  List free_;    // settled, without an entry
  List unread_;  // settled, with an entry that the learner may have to read
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_
