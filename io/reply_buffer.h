// Replies on their way to one peer: appended at the end, sent from the beginning.
#ifndef WINDHOVER_IO_REPLY_BUFFER_H_
#define WINDHOVER_IO_REPLY_BUFFER_H_

#include <cstddef>
#include <span>

#include "windhover/platform/check.h"

namespace windhover {

// Bytes never move once they are written, so that a write under way may refer to them. Room is free
// again only when all bytes have been sent. One thread.
class ReplyBuffer {
 public:
  explicit ReplyBuffer(std::span<std::byte> memory) noexcept : memory_(memory) {}

  std::span<std::byte> room() const noexcept { return memory_.subspan(end_); }
  std::span<const std::byte> pending() const noexcept {
    return memory_.subspan(begin_, end_ - begin_);
  }
  bool empty() const noexcept { return begin_ == end_; }

  // The first `bytes` of room() have been written.
  void append(std::size_t bytes) noexcept {
    WINDHOVER_CHECK(bytes <= memory_.size() - end_);
    end_ += bytes;
  }

  // The first `bytes` of pending() have been sent.
  void consume(std::size_t bytes) noexcept {
    WINDHOVER_CHECK(bytes <= end_ - begin_);
    begin_ += bytes;
    if (begin_ == end_) clear();
  }

  void clear() noexcept { begin_ = end_ = 0; }

 private:
  std::span<std::byte> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_REPLY_BUFFER_H_
