#ifndef WINDHOVER_PLATFORM_CHECKSUM_H_
#define WINDHOVER_PLATFORM_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

// XXH3, 64 bits (xxhash.com): the same number on every machine. Finds damage, not malice. What is
// damaged at random passes one time in 2^64. Copies are independent of one another; one thread
// each; no heap. Complexity: some 10 GB/s.
class Checksum {
 public:
  // Other seeds give other checksums. The checksum of the part before is such a seed: then parts
  // cannot be swapped.
  explicit Checksum(std::uint64_t seed = 0) noexcept;

  // Begins anew with seed 0.
  void reset() noexcept { *this = Checksum(); }
  // How the bytes are cut into calls changes nothing.
  void update(std::span<const std::byte> bytes) noexcept;
  // The checksum of all bytes so far; more may follow.
  std::uint64_t value() const noexcept;

 private:
  alignas(64) std::byte state_[576];
};

// The checksum of these bytes in one call.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_CHECKSUM_H_
