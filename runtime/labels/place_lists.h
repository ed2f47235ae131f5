// Which places of a table wait, and which may be taken.
#ifndef WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_
#define WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "windhover/platform/arena.h"

namespace windhover {

// All places wait equally long. A settled place may be taken again: at once, or once the learner
// has read the entry (ScoreQueue) that names it. Rows of the stream are known by their number.
//
// Invariant: a place is in one list, or in none if it was never taken or has been taken and does
// not wait yet; each list is in the order in which its places came to it. One thread, or under a
// lock. Memory: 24 bytes a place.
class PlaceLists {
 public:
  static constexpr std::uint64_t kNoEntry = UINT64_MAX;

  // Takes memory, writes nothing; call reset() before use.
  PlaceLists(Arena& arena, std::uint32_t places) noexcept;
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(links_.size()); }
  // Begins anew: no place has been taken.
  void reset() noexcept;

  // Takes a place that has never been taken; otherwise, of those without an entry or with one below
  // `read`, the one settled first. Nothing: there is none. O(1).
  std::optional<std::uint32_t> take(std::uint64_t read) noexcept;
  // The place waits until that time, to become row `since` or a later one. REQUIRES: it is in no
  // list, and no place waits until later.
  void wait(std::uint32_t place, std::int64_t until_ns, std::uint64_t since) noexcept;
  // Takes a place out of its list. REQUIRES: it waits.
  void stop_waiting(std::uint32_t place) noexcept { remove(waiting_, place); }
  // The place waits no more. It became row `row`; `entry`: by which the learner reads it. REQUIRES,
  // here and below: it waits; rows and entries grow.
  void settle(std::uint32_t place, std::uint64_t row, std::uint64_t entry) noexcept;
  // It waits no more, and became no row.
  void settle(std::uint32_t place) noexcept;

  // The place that has waited longest, if its time is up.
  std::optional<std::uint32_t> overdue(std::int64_t now_ns) const noexcept;
  // Until when a place waits. REQUIRES, here and below: it waits.
  std::int64_t until_ns(std::uint32_t place) const noexcept { return links_[place].order; }
  // The least row that it may become.
  std::uint64_t since(std::uint32_t place) const noexcept { return links_[place].entry; }
  // The row that it became, or the next one that could have come. REQUIRES: it is settled.
  std::uint64_t row(std::uint32_t place) const noexcept {
    return static_cast<std::uint64_t>(links_[place].order);
  }

  // Whether it was settled with an entry.
  bool has_entry(std::uint32_t place) const noexcept { return links_[place].entry != kNoEntry; }
  // The row after the last one that a place became.
  std::uint64_t next_row() const noexcept { return next_row_; }

  // ---- For places that are restored, all before any other function is called.

  void restore_waiting(std::uint32_t place, std::int64_t until_ns, std::uint64_t since) noexcept {
    links_[place] = {until_ns, since, kNone, kNone};
  }
  void restore_settled(std::uint32_t place, std::uint64_t row) noexcept {
    links_[place] = {static_cast<std::int64_t>(row), kNoEntry, kNone, kNone};
  }
  // Puts the first `places` into their lists, in order: those that waits(place) says wait, and the
  // others with the entry that entry(place) returns. O(places log places).
  template <class Waits, class Entry>
  void arrange(std::uint32_t places, Waits&& waits, Entry&& entry) noexcept {
    unused_ = places;
    for (std::uint32_t place = 0; place < places; ++place) {
      append(waits(place) ? waiting_ : free_, place);
    }
    sort(waiting_);
    sort(free_);
    for (std::uint32_t place = std::exchange(free_, {}).first; place != kNone;) {
      const std::uint32_t next = links_[place].next;
      links_[place].entry = entry(place);
      append(links_[place].entry == kNoEntry ? free_ : unread_, place);
      next_row_ = std::max(next_row_, row(place) + 1);
      place = next;
    }
  }

  // How many places' time is up, counted up to `most`. O(most).
  std::uint64_t count_overdue(std::uint64_t most, std::int64_t now_ns) const noexcept;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Link {
    std::int64_t order;   // waiting: until then, in ns; settled: row()
    std::uint64_t entry;  // waiting: since(); settled: as the learner reads it
    std::uint32_t previous, next;
  };
  static_assert(sizeof(Link) == 24);
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  void append(List& list, std::uint32_t place) noexcept;
  void remove(List& list, std::uint32_t place) noexcept;
  // By their order; those of the same order stay as they are.
  void sort(List& list) noexcept;
  std::uint32_t merged(std::uint32_t a, std::uint32_t b) noexcept;

  std::span<Link> links_;
  std::uint32_t unused_ = 0;  // places from here on have never been taken
  std::uint64_t next_row_ = 0;
  List waiting_;
  List free_;    // settled, without an entry
  List unread_;  // settled, with an entry that the learner may have to read
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_PLACE_LISTS_H_
