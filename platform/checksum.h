#ifndef WINDHOVER_PLATFORM_CHECKSUM_H_
#define WINDHOVER_PLATFORM_CHECKSUM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

// XXH3, 64 bit, seed 0, over bytes that come in pieces: finds damage, not forgery. How the bytes
// are cut does not matter, nor does the machine. No heap; about 10 GB/s.
class Checksum {
 public:
  Checksum() noexcept { reset(); }

  // As if nothing had come yet.
  void reset() noexcept;
  void update(std::span<const std::byte> bytes) noexcept;
  // Of all bytes so far; more may follow.
  std::uint64_t value() const noexcept;

 private:
  static constexpr std::size_t kStateBytes = 576;  // XXH3_state_t, checked in checksum.cc

  alignas(64) std::array<std::byte, kStateBytes> state_;
};

// Of one piece.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_CHECKSUM_H_
