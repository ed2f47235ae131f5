// Who has sent how much: what makes sending again safe.
#ifndef WINDHOVER_IO_PRODUCER_TABLE_H_
#define WINDHOVER_IO_PRODUCER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/refusal.h"
#include "windhover/platform/arena.h"

namespace windhover {

// A fixed number of producers, never forgotten while the server lives: one that is pushed out could
// come back and have its rows stored twice. Observe thread only.
class ProducerTable {
 public:
  struct Entry {
    std::uint64_t producer = 0;   // 0: free
    std::uint64_t next = 0;       // the sequence number expected
    const void* owner = nullptr;  // the live connection that speaks for it
  };

  // Takes memory, writes nothing. `capacity` > 0.
  ProducerTable(Arena& arena, std::size_t capacity) noexcept;
  void reset() noexcept;

  // The producer's entry, which from now on belongs to `owner`; one not met before begins at
  // `first_sequence`. kProducerBusy: another connection has it. kTableFull. Usually O(1).
  // REQUIRES: producer is not 0.
  Refusal claim(std::uint64_t producer, std::uint64_t first_sequence, const void* owner,
                Entry*& entry) noexcept;

  // The connection is gone; its producers may be claimed again. O(capacity).
  void release(const void* owner) noexcept;

  std::size_t size() const noexcept { return size_; }

 private:
  std::size_t capacity_;
  std::span<Entry> slots_;  // a power of two, at most half full; linear probing
  std::size_t size_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_TABLE_H_
