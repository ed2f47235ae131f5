// What a connection has received and not yet handled.
#ifndef WINDHOVER_IO_READ_BUFFER_H_
#define WINDHOVER_IO_READ_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace windhover {

// Invariant: the bytes lie in one piece, in the order in which they came.
class ReadBuffer {
 public:
  explicit ReadBuffer(std::span<std::byte> memory) noexcept : memory_(memory) {}

  void clear() noexcept { begin_ = end_ = 0; }
  std::span<std::byte> pending() const noexcept { return memory_.subspan(begin_, end_ - begin_); }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  // Where the next bytes go, at most `most`. The part of a frame that is left moves to the front,
  // so that its rest always fits.
  std::span<std::byte> make_room(std::size_t most) noexcept {
    if (begin_ > 0) {
      if (begin_ < end_) std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    return memory_.subspan(end_, std::min(memory_.size() - end_, most));
  }
  // `bytes` bytes have come.
  void received(std::size_t bytes) noexcept { end_ += bytes; }

 private:
  std::span<std::byte> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_READ_BUFFER_H_
