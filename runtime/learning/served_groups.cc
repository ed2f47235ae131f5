#include "windhover/runtime/learning/served_groups.h"

namespace windhover {

// Adds a group where the newest is far enough from the one before, and otherwise replaces the
// newest. But until as many groups have been retained as are served, each replaces one from before
// any rows.
void ServedGroups::retain(std::uint64_t head, std::uint64_t between, bool sampling) noexcept {
  const bool apart = 2 * newest_moves_ >= between;
  newest_moves_ = apart ? unretained_ : newest_moves_ + unretained_;
  if (apart) ++count_;
  const bool still_to_leave = !shown_ && leaves_ == DrawTable::InPlaceOf::kOldest;
  const bool oldest_leaves = apart || still_to_leave || !sampling;
  leaves_ = oldest_leaves ? DrawTable::InPlaceOf::kOldest : DrawTable::InPlaceOf::kNewest;
  unretained_ = 0;
  retained_head_ = head;
  shown_ = false;
}

float* ServedGroups::room(Snapshots<Posterior>& snapshots) noexcept {
  table_.release_all();
  snapshots.for_each_held([this](const Posterior& held) { table_.hold(held.shared); });
  room_ = table_.free_group();
  return room_ < 0 ? nullptr : table_.group(static_cast<std::uint32_t>(room_));
}

bool ServedGroups::show() noexcept {
  if (room_ < 0) return false;
  table_.serve(static_cast<std::uint32_t>(room_), leaves_);
  room_ = -1;
  shown_ = true;
  shown_head_ = retained_head_;
  return true;
}

}  // namespace windhover
