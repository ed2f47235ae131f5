// Somebody beside the learner who reads the rows that come in, in their order.
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
// nothing of the past is wanted. Its owner must keep calling: rows that nobody gives up stop the
// stream once N + slack have come. One thread at a time. It is a handle: copies share the lease.
// When the engine is restored the lease begins anew where the learner stands.
class RowFollower {
 public:
  // Keeps rows from `row` on readable, and gives up those below. Only ever advances. Wait-free.
  void keep_from(std::uint64_t row) noexcept { window_->keep_from(lease_, row); }
  std::uint64_t kept_from() const noexcept { return window_->kept_from(lease_); }

  // How many bytes rows [first, first + count) take, packed (packed_rows.h); 0 where not all of
  // them are readable, which those from kept_from() to Engine::head() are. Complexity O(1) dense,
  // O(count) sparse.
  std::size_t packed_bytes(std::uint64_t first, std::uint64_t count) const noexcept;
  // Packs them, and returns how many bytes they are; 0, and nothing is written, where they are not
  // all readable or `out` is too small. Complexity O(bytes).
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
