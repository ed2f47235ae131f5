#include "windhover/runtime/labels/key_table.h"

#include <algorithm>
#include <bit>

#include "windhover/platform/checksum.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/entropy.h"

namespace windhover {

KeyTable::KeyTable(Arena& arena, std::uint32_t places) noexcept
    : nodes_(arena.allocate<Node>(places)),
      buckets_(arena.allocate<std::uint32_t>(std::bit_ceil(places))) {}

void KeyTable::reset() noexcept {
  std::ranges::fill(buckets_, kNone);
  written_ = 0;
  // Without knowing the seed nobody can choose keys that meet in one bucket. Where the kernel has
  // no random numbers the seed is at least another one each time.
  if (!fill_with_entropy(std::as_writable_bytes(std::span(&hash_seed_, 1)))) {
    hash_seed_ = static_cast<std::uint64_t>(RealClock().now_ns());
  }
}

std::uint32_t& KeyTable::bucket_of(std::string_view key) const noexcept {
  return buckets_[checksum(std::as_bytes(std::span(key)), hash_seed_) & (buckets_.size() - 1)];
}

std::optional<std::uint32_t> KeyTable::find(std::string_view key) const noexcept {
  std::uint32_t place = bucket_of(key);
  while (place != kNone && nodes_[place].key() != key) place = nodes_[place].next;
  if (place == kNone) return std::nullopt;
  return place;
}

void KeyTable::insert(std::uint32_t place, std::string_view key) noexcept {
  for (; written_ <= place; ++written_) nodes_[written_].size = 0;
  Node& node = nodes_[place];
  key.copy(node.bytes.data(), node.bytes.size());
  node.size = static_cast<std::uint8_t>(key.size());
  node.state = KeyState::kPending;
  std::uint32_t& bucket = bucket_of(key);
  node.next = bucket;
  bucket = place;
}

void KeyTable::erase(std::uint32_t place) noexcept {
  if (place >= written_ || nodes_[place].size == 0) return;
  Node& node = nodes_[place];
  std::uint32_t* at = &bucket_of(node.key());
  while (*at != place) at = &nodes_[*at].next;
  *at = node.next;
  node.size = 0;
}

}  // namespace windhover
