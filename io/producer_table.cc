#include "windhover/io/producer_table.h"

#include <bit>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

ProducerTable::ProducerTable(Arena& arena, std::size_t capacity) noexcept
    : capacity_(capacity), slots_(arena.allocate<Entry>(std::bit_ceil(2 * capacity))) {}

void ProducerTable::reset() noexcept {
  for (Entry& slot : slots_) std::construct_at(&slot);
  size_ = 0;
}

Refusal ProducerTable::claim(std::uint64_t producer, std::uint64_t first_sequence,
                             const void* owner, Entry*& entry) noexcept {
  WINDHOVER_CHECK(producer != 0);
  const std::size_t mask = slots_.size() - 1;
  // Multiplication by the golden ratio spreads the usual small consecutive numbers.
  std::size_t i = static_cast<std::size_t>((producer * 0x9e3779b97f4a7c15ULL) >> 32) & mask;
  while (slots_[i].producer != 0 && slots_[i].producer != producer) i = (i + 1) & mask;
  Entry& slot = slots_[i];
  if (slot.producer == 0) {
    if (size_ == capacity_) return Refusal::kTableFull;
    slot = {producer, first_sequence, nullptr};
    ++size_;
  }
  if (slot.owner != nullptr && slot.owner != owner) return Refusal::kProducerBusy;
  slot.owner = owner;
  entry = &slot;
  return Refusal::kNone;
}

void ProducerTable::release(const void* owner) noexcept {
  for (Entry& slot : slots_) {
    if (slot.owner == owner) slot.owner = nullptr;
  }
}

}  // namespace windhover
