#include "windhover/io/producer_index.h"

#include <algorithm>

namespace windhover {

void ProducerIndex::reset(std::uint64_t seed) noexcept {
  std::fill(slots_.begin(), slots_.end(), kNoPlace);
  seed_ = seed | 1;
  shift_ = 64 - std::countr_zero(slots_.size());
}

// Entries that this one had displaced move back, so that no search meets a free slot too early.
void ProducerIndex::remove(std::uint64_t producer) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(producer);
  for (std::size_t i = (hole + 1) & mask; slots_[i] != kNoPlace; i = (i + 1) & mask) {
    const std::size_t wanted = home(entries_[slots_[i]].producer);
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = kNoPlace;
}

}  // namespace windhover
