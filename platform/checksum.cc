#include "windhover/platform/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace windhover {
namespace {

XXH3_state_t* state_of(std::byte* bytes) noexcept { return reinterpret_cast<XXH3_state_t*>(bytes); }

}  // namespace

void Checksum::reset() noexcept {
  static_assert(sizeof(XXH3_state_t) == kStateBytes && alignof(XXH3_state_t) <= 64);
  XXH3_INITSTATE(state_of(state_.data()));
  XXH3_64bits_reset(state_of(state_.data()));
}

void Checksum::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(state_of(state_.data()), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const noexcept {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_.data()));
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace windhover
