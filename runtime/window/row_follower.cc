#include "windhover/runtime/window/row_follower.h"

namespace windhover {

std::size_t RowFollower::packed_bytes(std::uint64_t first, std::uint64_t count) const noexcept {
  const std::uint64_t head = window_->head();
  if (first < kept_from() || first > head || count > head - first) return 0;
  const PackedRows packed(window_->layout());
  if (!window_->layout().sparse()) return packed.largest() * count;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) bytes += packed.bytes_of(window_->slot_of(first + i));
  return bytes;
}

std::size_t RowFollower::pack(std::uint64_t first, std::uint64_t count,
                              std::span<std::byte> out) const noexcept {
  const std::size_t bytes = packed_bytes(first, count);
  if (bytes > out.size()) return 0;
  const PackedRows packed(window_->layout());
  std::byte* to = out.data();
  for (std::uint64_t i = 0; bytes > 0 && i < count; ++i) {
    const double* row = window_->slot_of(first + i);
    packed.pack(row, to);
    to += packed.bytes_of(row);
  }
  return bytes;
}

}  // namespace windhover
