// Replies on their way to one peer, and how long it has not taken them.
#ifndef WINDHOVER_IO_OUTGOING_REPLIES_H_
#define WINDHOVER_IO_OUTGOING_REPLIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/handler_memory.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/io/server_state.h"

namespace windhover {

// Invariant: one write at most is under way, of bytes at the front of the buffer; while
// `owed_bytes` is not 0 so many bytes at its front have waited since `owed_since_ns`. The
// endpoint's thread.
class OutgoingReplies {
 public:
  explicit OutgoingReplies(std::span<std::byte> memory) noexcept : buffer_(memory) {}

  // Where the write's fall-backs to the heap are counted. Before use.
  void count_in(Counters<IoCounter>& counters) noexcept { memory_.count_in(counters); }
  // Begins with a new peer. REQUIRES: no write is under way.
  void begin(std::int64_t now_ns) noexcept {
    buffer_.clear();
    waiting_since_ns_ = now_ns;
    owed_bytes_ = 0;
  }

  ReplyBuffer& buffer() noexcept { return buffer_; }
  // The memory for the handler of the write that is under way.
  HandlerMemory& memory() noexcept { return memory_; }
  bool is_under_way() const noexcept { return under_way_; }

  // The peer takes nothing just now: a write of all that is in the buffer is under way. The bytes
  // in it now are owed; later ones are looked at when these are taken.
  void wait(std::int64_t now_ns) noexcept {
    under_way_ = true;
    waiting_since_ns_ = now_ns;
    if (owed_bytes_ > 0) return;
    owed_bytes_ = buffer_.pending().size();
    owed_since_ns_ = now_ns;
  }
  void end_wait() noexcept { under_way_ = false; }
  // The peer has taken `bytes` bytes.
  void taken(std::size_t bytes) noexcept {
    buffer_.consume(bytes);
    owed_bytes_ -= std::min(bytes, owed_bytes_);
  }

  // Whether the peer has taken nothing for write_timeout, or has not taken all owed bytes within
  // answer_timeout.
  bool is_stuck(const Limits& limits, std::int64_t now_ns) const noexcept {
    return under_way_ && (now_ns - waiting_since_ns_ > limits.write_timeout_ns ||
                          now_ns - owed_since_ns_ > limits.answer_timeout_ns);
  }

 private:
  ReplyBuffer buffer_;
  HandlerMemory memory_;
  bool under_way_ = false;
  std::int64_t waiting_since_ns_ = 0;  // when the write that is under way began
  std::size_t owed_bytes_ = 0;         // what is left of them
  std::int64_t owed_since_ns_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_OUTGOING_REPLIES_H_
