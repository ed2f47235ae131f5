// A reader of rows beside the learner, in the order in which they came in.
#ifndef WINDHOVER_RUNTIME_WINDOW_ROW_FOLLOWER_H_
#define WINDHOVER_RUNTIME_WINDOW_ROW_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/runtime/window/packed_rows.h"
#include "windhover/runtime/window/window.h"

namespace windhover {

// Holds a lease of the window: the writer says kWindowFull rather than overwrite a row that is
// kept. At first it keeps all that the learner may read; call keep_from(Engine::head()) where
// nothing of the past is wanted. Its owner must go on calling keep_from(): rows that are not given
// up stop the stream once N + slack have come. It is a handle: copies share the lease. When the
// engine is restored the lease begins anew where the learner stands. One thread at a time.
class RowFollower {
 public:
  // Keeps rows from `row` on readable, and gives up those below. Only ever advances. Wait-free.
  void keep_from(std::uint64_t row) noexcept { window_->keep_from(lease_, row); }
  std::uint64_t kept_from() const noexcept { return window_->kept_from(lease_); }

  // How many bytes the rows [first, first + count) take, packed (packed_rows.h); 0 unless all of
  // them are readable, that is from kept_from() on and below Engine::head(). O(1) dense, O(count)
  // sparse.
  std::size_t packed_bytes(std::uint64_t first, std::uint64_t count) const noexcept;
  // Packs them, and returns how many bytes they take; 0, with nothing written, where not all are
  // readable or `out` is too small. O(bytes).
  std::size_t pack(std::uint64_t first, std::uint64_t count,
                   std::span<std::byte> out) const noexcept;

 private:
  friend class Engine;
  RowFollower(Window& window, std::uint32_t lease) noexcept : window_(&window), lease_(lease) {}

  Window* window_;
  std::uint32_t lease_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_ROW_FOLLOWER_H_
