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
  // Without knowing the seed nobody can choose keys that meet in one bucket. Where the kernel has
  // no random numbers the seed is at least another one each time.
  std::uint64_t seed = 0;
  if (!fill_with_entropy(std::as_writable_bytes(std::span(&seed, 1)))) {
    seed = static_cast<std::uint64_t>(RealClock().now_ns());
  }
  reset(seed);
}

void KeyTable::reset(std::uint64_t seed) noexcept {
  std::ranges::fill(buckets_, kNone);
  written_ = 0;
  hash_seed_ = seed;
}

std::uint64_t KeyTable::hash(std::string_view key) const noexcept {
  return checksum(std::as_bytes(std::span(key)), hash_seed_);
}

std::optional<std::uint32_t> KeyTable::find(std::string_view key) const noexcept {
  std::uint32_t place = bucket_of(hash(key));
  while (place != kNone && nodes_[place].key() != key) place = nodes_[place].next;
  if (place == kNone) return std::nullopt;
  return place;
}

std::optional<std::uint32_t> KeyTable::find_hash(std::uint64_t hash_of_key) const noexcept {
  std::uint32_t place = bucket_of(hash_of_key);
  while (place != kNone && hash(nodes_[place].key()) != hash_of_key) {
    place = nodes_[place].next;
  }
  if (place == kNone) return std::nullopt;
  return place;
}

void KeyTable::insert(std::uint32_t place, std::string_view key) noexcept {
  for (; written_ <= place; ++written_) nodes_[written_].size = 0;
  Node& node = nodes_[place];
  key.copy(node.bytes.data(), node.bytes.size());
  node.size = static_cast<std::uint8_t>(key.size());
  node.state = KeyState::kPending;
  std::uint32_t& bucket = bucket_of(hash(key));
  node.next = bucket;
  bucket = place;
}

void KeyTable::erase(std::uint32_t place) noexcept {
  if (place >= written_ || nodes_[place].size == 0) return;
  Node& node = nodes_[place];
  std::uint32_t* at = &bucket_of(hash(node.key()));
  while (*at != place) at = &nodes_[*at].next;
  *at = node.next;
  node.size = 0;
}

}  // namespace windhover
