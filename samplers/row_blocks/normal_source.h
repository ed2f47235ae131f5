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

// In single precision, made as many at a time as the buffer holds, or as are wanted yet.
class NormalSource {
 public:
  // A whole number of times kChainNormals, no less than this.
  static constexpr std::size_t rounded(std::size_t count) noexcept {
    return (count + kChainNormals - 1) / kChainNormals * kChainNormals;
  }

  // `buffer` is borrowed, and of a rounded() size; `wanted`: how many will be taken, at most.
  // `chains`: so many lie side by side, and sum to 0.
  NormalSource(std::uint64_t seed, const RandomPosition& position, std::span<float> buffer,
               std::size_t wanted, std::uint32_t chains) noexcept
      : random_(seed, position),
        buffer_(buffer.first(std::min(buffer.size(), rounded(wanted)))),
        next_(buffer_.size()),
        chains_(chains) {}
  // The next `count`, a multiple of the chains, no more than the buffer holds; until the next call.
  const float* take(std::size_t count) noexcept {
    if (count > buffer_.size() - next_) {
      // Words first, then in their place what becomes of them.
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
  // Those that are of whole sets of chains.
  std::size_t balanced() const noexcept { return buffer_.size() / chains_ * chains_; }

  Rng random_;
  std::span<float> buffer_;
  std::size_t next_;
  std::uint32_t chains_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
