#include "windhover/runtime/learning/far_rows_wait.h"

#include <algorithm>

#include "windhover/runtime/learning/row_scan.h"

namespace windhover {

FarRowsWait::FarRowsWait(Arena& arena, const EngineConfig& config,
                         const WindowCursor& cursor) noexcept
    : cursor_(cursor),
      rows_(cold_start_rows(config)),
      column_(arena.allocate<double>(static_cast<std::size_t>(rows_in_memory(config)))) {}

bool FarRowsWait::awaits(const Model& model) noexcept {
  if (cursor_.head() < rows_ || cursor_.head() >= until_) return false;
  if (cursor_.head() >= awaited_) {
    const std::uint64_t end = RowScan::end_of_far_rows(cursor_, model, column_);
    awaited_ = end > cursor_.first() ? std::min(end + rows_, until_) : 0;
  }
  return cursor_.head() < awaited_;
}

}  // namespace windhover
