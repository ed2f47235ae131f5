// The memory of OpenSSL: one block that never grows, in place of the heap.
#ifndef WINDHOVER_IO_TLS_TLS_MEMORY_H_
#define WINDHOVER_IO_TLS_TLS_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Pieces of fixed sizes, four to a doubling, out of one block: a piece that is given back is kept
// for the next request of its size. Any thread; O(1).
//
// Invariant: a piece belongs to one size for ever, so that what the sizes hold at their busiest is
// all there ever has to be: memory neither grows nor falls to pieces.
class PiecePool {
 public:
  // `block` is aligned to 16 bytes and outlives this.
  explicit PiecePool(std::span<std::byte> block) noexcept : block_(block) {}

  // Aligned to 16 bytes; null: there is no room.
  void* allocate(std::size_t bytes) noexcept;
  // The same piece where it is large enough. Null: no room, and the old one stays.
  void* reallocate(void* piece, std::size_t bytes) noexcept;
  void free(void* piece) noexcept;

  std::size_t capacity() const noexcept { return block_.size(); }
  // Bytes in pieces that are out, the rest of each included.
  std::size_t in_use() const noexcept;
  // Bytes that were never part of a piece.
  std::size_t untouched() const noexcept;
  std::size_t refusals() const noexcept;

 private:
  static constexpr std::size_t kClasses = 160;
  struct Header {
    std::uint32_t size_class;
    std::uint32_t check;
    Header* next;  // in the list of free blocks
  };

  mutable std::mutex mutex_;
  std::span<std::byte> block_;
  std::size_t used_ = 0;
  std::size_t in_use_ = 0;
  std::size_t refusals_ = 0;
  std::array<Header*, kClasses> free_{};
};

// Has OpenSSL take all its memory from a block of this process, for good. Once, before anything of
// OpenSSL has run: kUnsupported otherwise; kUnavailable: no memory for the block. `touched`: all of
// it is in RAM afterwards.
Status install_tls_memory(std::size_t bytes, bool touched) noexcept;

// Null: OpenSSL has the heap of the process.
PiecePool* tls_memory() noexcept;

// One more connection, if the block holds it beside those that there are: a handshake that runs out
// of memory half-way would be a waste of both sides' time. Each that was begun is ended. Any
// thread.
bool begin_tls_connection() noexcept;
void end_tls_connection() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_TLS_MEMORY_H_
