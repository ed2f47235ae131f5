#include "windhover/runtime/labels/place_lists.h"

namespace windhover {

PlaceLists::PlaceLists(Arena& arena, std::uint32_t places) noexcept
    : links_(arena.allocate<Link>(places)) {}

void PlaceLists::reset() noexcept {
  unused_ = 0;
  settled_ = 0;
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

void PlaceLists::wait(std::uint32_t place, std::int64_t until_ns) noexcept {
  links_[place].order = until_ns;
  append(waiting_, place);
}

void PlaceLists::settle(std::uint32_t place, std::uint64_t entry) noexcept {
  remove(waiting_, place);
  links_[place].order = settled_++;
  links_[place].entry = entry;
  append(entry == kNoEntry ? free_ : unread_, place);
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
