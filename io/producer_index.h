// Where each producer of a table stands: a hash of its number.
#ifndef WINDHOVER_IO_PRODUCER_INDEX_H_
#define WINDHOVER_IO_PRODUCER_INDEX_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/producer_shares.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Linear probing; at most half of the slots are taken. Invariant: a search for a producer that was
// added passes no free slot before its own. One thread.
class ProducerIndex {
 public:
  // Takes memory, writes nothing. `entries`: those of the table, `capacity` of them, or none where
  // the arena is exhausted.
  ProducerIndex(Arena& arena, std::span<const ProducerEntry> entries, std::size_t capacity) noexcept
      : entries_(entries), slots_(arena.allocate<ProducerPlace>(std::bit_ceil(2 * capacity))) {}

  // Empties it. `seed`: one that no peer knows. O(places).
  void reset(std::uint64_t seed) noexcept;

  // kNoPlace: it is not known. Usually O(1).
  ProducerPlace find(std::uint64_t producer) const noexcept { return slots_[slot_of(producer)]; }
  // REQUIRES: it is not known, and the entry there has its number.
  void add(std::uint64_t producer, ProducerPlace place) noexcept {
    slots_[slot_of(producer)] = place;
  }
  // REQUIRES: it is known, and its entry is unchanged.
  void remove(std::uint64_t producer) noexcept;

 private:
  // The highest bits of the product with a random odd number: two producers that were chosen
  // without knowing it collide with probability at most 2 / slots (Dietzfelbinger et al. 1997).
  std::size_t home(std::uint64_t producer) const noexcept {
    return static_cast<std::size_t>((producer * seed_) >> shift_);
  }
  // The slot that has the producer's place, or the one that it would get.
  std::size_t slot_of(std::uint64_t producer) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = home(producer);
    while (slots_[i] != kNoPlace && entries_[slots_[i]].producer != producer) i = (i + 1) & mask;
    return i;
  }

  std::span<const ProducerEntry> entries_;
  std::span<ProducerPlace> slots_;  // a power of two
  std::uint64_t seed_ = 1;
  int shift_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PRODUCER_INDEX_H_
