// Normals of one position, some at a time.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/random.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover {

// Standard normals in single precision, made in batches that fill the buffer, which is no larger
// than what is wanted.
class NormalSource {
 public:
  // `count`, rounded up to a multiple of kChainNormals.
  static constexpr std::size_t rounded(std::size_t count) noexcept {
    return (count + kChainNormals - 1) / kChainNormals * kChainNormals;
  }

  // `buffer` is borrowed, and of a rounded() size. `wanted`: how many normals will be taken at
  // most. The normals of `chains` chains lie side by side, and sum to 0.
  NormalSource(std::uint64_t seed, const RandomPosition& position, std::span<float> buffer,
               std::size_t wanted, std::uint32_t chains) noexcept
      : random_(seed, position),
        buffer_(buffer.first(std::min(buffer.size(), rounded(wanted)))),
        next_(buffer_.size()),
        chains_(chains) {}
  // The next `count` normals, valid until the next call. REQUIRES: a multiple of the chains, at
  // most what the buffer holds.
  const float* take(std::size_t count) noexcept {
    if (count > buffer_.size() - next_) {
      // The buffer holds random words first, then the normals that they become.
      auto* bits = reinterpret_cast<std::uint32_t*>(buffer_.data());
      random_.fill_bits({bits, buffer_.size()});
      chain_kernels().normals(bits, buffer_.size(), buffer_.data());
      if (chains_ > 1) chain_kernels().balance(buffer_.data(), balanced(), chains_);
      next_ = 0;
    }
    next_ += count;
    return buffer_.data() + (next_ - count);
  }

 private:
  // How many of the buffer's normals belong to whole sets of chains.
  std::size_t balanced() const noexcept { return buffer_.size() / chains_ * chains_; }

  Rng random_;
  std::span<float> buffer_;
  std::size_t next_;
  std::uint32_t chains_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
