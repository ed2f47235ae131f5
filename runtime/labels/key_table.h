// Keys, which place of a table has each, and what has become of it.
#ifndef WINDHOVER_RUNTIME_LABELS_KEY_TABLE_H_
#define WINDHOVER_RUNTIME_LABELS_KEY_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "windhover/platform/arena.h"
#include "windhover/runtime/labels/labels_config.h"

namespace windhover {

enum class KeyState : std::uint8_t { kPending, kJoined, kTimedOut };

// A hash table with chaining, in fixed memory: 72 bytes a place and up to 8 for the buckets.
//
// Invariant: no two places have the same key. One thread, or under a lock.
class KeyTable {
 public:
  // Takes memory, writes nothing; reset() before use.
  KeyTable(Arena& arena, std::uint32_t places) noexcept;
  // Begins anew, with a seed of its own: no place has a key.
  void reset() noexcept;
  // The same with a given seed.
  void reset(std::uint64_t seed) noexcept;
  std::uint64_t seed() const noexcept { return hash_seed_; }

  // A number for a key, the same wherever the seed is: two keys have the same one time in 2^64.
  std::uint64_t hash(std::string_view key) const noexcept;

  // The place of a key. O(1) on average, whatever keys a sender chooses.
  std::optional<std::uint32_t> find(std::string_view key) const noexcept;
  // The place of the key with this hash().
  std::optional<std::uint32_t> find_hash(std::uint64_t hash) const noexcept;
  // Gives the place this key, as a pending one. REQUIRES: the place has no key, no place has this
  // one, and it has 1 to kMaxKeyBytes bytes.
  void insert(std::uint32_t place, std::string_view key) noexcept;
  // Takes the place's key away, if it has one.
  void erase(std::uint32_t place) noexcept;
  // The place's key; empty: it has none.
  std::string_view key(std::uint32_t place) const noexcept {
    return place < written_ ? nodes_[place].key() : std::string_view();
  }
  // What has become of the place's key. REQUIRES, here and below: it has one.
  KeyState state(std::uint32_t place) const noexcept { return nodes_[place].state; }
  void settle(std::uint32_t place, KeyState state) noexcept { nodes_[place].state = state; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    std::array<char, kMaxKeyBytes> bytes;
    std::uint32_t next;  // in its bucket
    std::uint8_t size;   // 0: no key
    KeyState state;
    std::string_view key() const noexcept { return {bytes.data(), size}; }
  };
  static_assert(sizeof(Node) == 72);

  std::uint32_t& bucket_of(std::uint64_t hash) const noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  std::span<Node> nodes_;
  std::span<std::uint32_t> buckets_;  // the first place of each
  std::uint64_t hash_seed_ = 0;
  std::uint32_t written_ = 0;  // nodes from here on have never had a key
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_KEY_TABLE_H_
