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
  NormalSource(std::uint64_t seed, const RandomPosition& position, std::span<float> buffer,
               std::size_t wanted) noexcept
      : random_(seed, position),
        buffer_(buffer.first(std::min(buffer.size(), rounded(wanted)))),
        next_(buffer_.size()) {}
  // The next `count`, no more than the buffer holds; until the next call.
  const float* take(std::size_t count) noexcept {
    if (count > buffer_.size() - next_) {
      // Words first, then in their place what becomes of them.
      auto* bits = reinterpret_cast<std::uint32_t*>(buffer_.data());
      random_.fill_bits({bits, buffer_.size()});
      chain_kernels().normals(bits, buffer_.size(), buffer_.data());
      next_ = 0;
    }
    next_ += count;
    return buffer_.data() + (next_ - count);
  }

 private:
  Rng random_;
  std::span<float> buffer_;
  std::size_t next_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
