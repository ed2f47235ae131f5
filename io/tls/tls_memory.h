// The memory of OpenSSL: one block of fixed size in place of the heap.
#ifndef WINDHOVER_IO_TLS_TLS_MEMORY_H_
#define WINDHOVER_IO_TLS_TLS_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Hands out pieces of fixed sizes, four sizes to a doubling, from one block. A piece that is given
// back is kept for the next request of its size. Any thread; O(1).
//
// Invariant: a piece keeps its size for ever. So the block needs no more than the sum of what each
// size holds at its busiest: memory neither grows nor fragments beyond that.
class PiecePool {
 public:
  // `block` is aligned to 16 bytes and outlives this.
  explicit PiecePool(std::span<std::byte> block) noexcept : block_(block) {}

  // Returns memory aligned to 16 bytes; null: there is no room.
  void* allocate(std::size_t bytes) noexcept;
  // Returns the same piece if it is large enough. Null: no room, and the old piece stays.
  void* reallocate(void* piece, std::size_t bytes) noexcept;
  void free(void* piece) noexcept;

  std::size_t capacity() const noexcept { return block_.size(); }
  // Bytes of the pieces handed out, with their headers and unused ends.
  std::size_t in_use() const noexcept;
  // Bytes that were never part of a piece.
  std::size_t untouched() const noexcept;
  std::size_t refusals() const noexcept;

 private:
  static constexpr std::size_t kClasses = 160;
  struct Header {
    std::uint32_t size_class;
    std::uint32_t check;
    Header* next;  // in the list of free pieces of this size
  };

  mutable std::mutex mutex_;
  std::span<std::byte> block_;
  std::size_t used_ = 0;
  std::size_t in_use_ = 0;
  std::size_t refusals_ = 0;
  std::array<Header*, kClasses> free_{};
};

// Makes OpenSSL take all its memory from a block, for the life of the process. Once, before any
// function of OpenSSL has run: kUnsupported otherwise; kUnavailable: no memory for the block.
// `touched`: all of it is in RAM afterwards.
Status install_tls_memory(std::size_t bytes, bool touched) noexcept;

// Null: OpenSSL uses the heap of the process.
PiecePool* tls_memory() noexcept;

// Counts one more connection if the block has room for it, so that no handshake runs out of memory
// half-way; false: it has not. Each that was begun is ended. Any thread.
bool begin_tls_connection() noexcept;
void end_tls_connection() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_TLS_MEMORY_H_
