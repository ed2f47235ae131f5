// Normals of one position, some at a time.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/random.h"

namespace windhover {

// Made as many at a time as the buffer holds.
class NormalSource {
 public:
  // `buffer` is borrowed.
  NormalSource(std::uint64_t seed, const RandomPosition& position,
               std::span<double> buffer) noexcept
      : random_(seed, position), buffer_(buffer), next_(buffer.size()) {}
  // The next `count`, no more than the buffer holds; until the next call.
  const double* take(std::size_t count) noexcept {
    if (count > buffer_.size() - next_) {
      random_.fill_normals(buffer_);
      next_ = 0;
    }
    next_ += count;
    return buffer_.data() + (next_ - count);
  }

 private:
  Rng random_;
  std::span<double> buffer_;
  std::size_t next_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NORMAL_SOURCE_H_
