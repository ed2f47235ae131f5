#include "windhover/runtime/labels/place_lists.h"

#include <array>

namespace windhover {

PlaceLists::PlaceLists(Arena& arena, std::uint32_t places) noexcept
    : links_(arena.allocate<Link>(places)) {}

void PlaceLists::reset() noexcept {
  unused_ = 0;
  next_row_ = 0;
  waiting_ = free_ = unread_ = {};
}

void PlaceLists::append(List& list, std::uint32_t place) noexcept {
  links_[place].previous = list.last;
  links_[place].next = kNone;
  (list.last == kNone ? list.first : links_[list.last].next) = place;
  list.last = place;
}

void PlaceLists::remove(List& list, std::uint32_t place) noexcept {
  const Link& link = links_[place];
  (link.previous == kNone ? list.first : links_[link.previous].next) = link.next;
  (link.next == kNone ? list.last : links_[link.next].previous) = link.previous;
}

std::optional<std::uint32_t> PlaceLists::take(std::uint64_t read) noexcept {
  if (unused_ < links_.size()) return unused_++;
  std::uint32_t place = free_.first;
  const std::uint32_t first = unread_.first;
  const bool is_read = first != kNone && links_[first].entry < read &&
                       (place == kNone || links_[first].order < links_[place].order);
  if (is_read) place = first;
  if (place == kNone) return std::nullopt;
  remove(is_read ? unread_ : free_, place);
  return place;
}

void PlaceLists::wait(std::uint32_t place, std::int64_t until_ns, std::uint64_t since) noexcept {
  links_[place].order = until_ns;
  links_[place].entry = since;
  append(waiting_, place);
}

void PlaceLists::settle(std::uint32_t place, std::uint64_t row, std::uint64_t entry) noexcept {
  remove(waiting_, place);
  links_[place].order = static_cast<std::int64_t>(row);
  links_[place].entry = entry;
  append(entry == kNoEntry ? free_ : unread_, place);
  next_row_ = row + 1;
}

void PlaceLists::settle(std::uint32_t place) noexcept {
  const std::uint64_t next = next_row_;
  settle(place, next, kNoEntry);
  next_row_ = next;
}

std::uint32_t PlaceLists::merged(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t first = kNone;
  std::uint32_t* last = &first;
  while (a != kNone && b != kNone) {
    std::uint32_t& from = links_[b].order < links_[a].order ? b : a;
    *last = from;
    last = &links_[from].next;
    from = *last;
  }
  *last = a != kNone ? a : b;
  return first;
}

// Merges runs of 1, 2, 4, ... places, of each length at most one at a time.
void PlaceLists::sort(List& list) noexcept {
  std::array<std::uint32_t, 32> runs;
  runs.fill(kNone);
  for (std::uint32_t place = list.first; place != kNone;) {
    const std::uint32_t next = std::exchange(links_[place].next, kNone);
    std::size_t i = 0;
    for (; runs[i] != kNone; ++i) place = merged(std::exchange(runs[i], kNone), place);
    runs[i] = place;
    place = next;
  }
  std::uint32_t sorted = kNone;
  for (const std::uint32_t run : runs) sorted = merged(run, sorted);
  list = {};
  while (sorted != kNone) {
    const std::uint32_t next = links_[sorted].next;
    append(list, sorted);
    sorted = next;
  }
}

std::optional<std::uint32_t> PlaceLists::overdue(std::int64_t now_ns) const noexcept {
  if (waiting_.first == kNone || now_ns < links_[waiting_.first].order) return std::nullopt;
  return waiting_.first;
}

std::uint64_t PlaceLists::count_overdue(std::uint64_t most, std::int64_t now_ns) const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t place = waiting_.first;
       count < most && place != kNone && now_ns >= links_[place].order;
       place = links_[place].next) {
    ++count;
  }
  return count;
}

}  // namespace windhover
