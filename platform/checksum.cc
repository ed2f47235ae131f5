#include "windhover/platform/checksum.h"

#include <new>

// Only this file includes the library, and nothing of it is linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace windhover {

namespace {

XXH3_state_t* state_of(std::byte* bytes) noexcept {
  return std::launder(reinterpret_cast<XXH3_state_t*>(bytes));
}

}  // namespace

Checksum::Checksum(std::uint64_t seed) noexcept {
  static_assert(sizeof(XXH3_state_t) <= sizeof(state_) && alignof(XXH3_state_t) <= 64);
  auto* state = ::new (state_) XXH3_state_t;
  XXH3_INITSTATE(state);
  (void)XXH3_64bits_reset_withSeed(state, seed);
}

void Checksum::update(std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) (void)XXH3_64bits_update(state_of(state_), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const noexcept {
  return XXH3_64bits_digest(state_of(const_cast<std::byte*>(state_)));
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace windhover
