#include "windhover/runtime/learning/served_groups.h"

namespace windhover {

// One more group where the newest is far enough from the one before. Otherwise in its place; but
// until there are as many as are served each takes the place of one from before any rows.
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

bool ServedGroups::show(const RowBlockLangevin& sampler, Snapshots<Posterior>& snapshots) noexcept {
  table_.release_all();
  snapshots.for_each_held([this](const Posterior& held) { table_.hold(held.shared); });
  const int group = table_.free_group();
  if (group < 0) return false;
  const auto g = static_cast<std::uint32_t>(group);
  sampler.copy_to(table_.group(g), table_.stride());
  table_.serve(g, leaves_);
  shown_ = true;
  shown_head_ = retained_head_;
  return true;
}

}  // namespace windhover
