#include "windhover/runtime/window/row_relay.h"

namespace windhover {

void RowRelay::hand_over(Window& to, Ingest& ingest) noexcept {
  next_ = std::max(next_, leader_.kept_from());  // the leader may have been restored
  const std::uint64_t most = std::min(kRows, ingest.max_frame_rows());
  for (int frame = 0; frame < kFrames; ++frame) {
    const std::uint64_t rows = std::min(most, waiting());
    if (rows == 0 || to.room(to.head(), rows) < rows) return;
    const std::size_t bytes = leader_.pack(next_, rows, room_);
    if (bytes == 0) return;
    (void)ingest.observe_packed(room_.first(bytes), rows);
    next_ += rows;
    leader_.keep_from(next_);
  }
}

}  // namespace windhover
