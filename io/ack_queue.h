// Acknowledgements of one connection that have not been sent yet.
#ifndef WINDHOVER_IO_ACK_QUEUE_H_
#define WINDHOVER_IO_ACK_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/io/replies.h"

namespace windhover {

// Acknowledgements stand in the order of the frames they cover, oldest first. A frame joins the
// newest one if it is of the same producer and that one's commit has not begun: if it had, joining
// would delay the acknowledgement by a whole commit. Invariant: each covers frames of one producer,
// at least one, and may be sent once frames below its `after` are on disk. One thread.
class AckQueue {
 public:
  static constexpr std::size_t kCapacity = 8;

  void clear() noexcept { size_ = 0; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == kCapacity; }

  // Gives the acknowledgement to which the caller adds the counts of a frame of `producer`. It may
  // be sent once frames below `after` are on disk (0: at once); frames below `committing` are on
  // disk or in the commit under way. That of an Outcome covers nothing else. REQUIRES: not full().
  ObserveAckReply& add(std::uint64_t producer, std::uint64_t after, std::uint64_t committing,
                       bool of_outcome = false) noexcept {
    if (size_ > 0 && !of_outcome) {
      Pending& newest = pending_[(first_ + size_ - 1) % kCapacity];
      if (newest.reply.producer == producer && !newest.reply.of_outcome &&
          (newest.after == 0 || newest.after > committing)) {
        newest.after = after;
        return newest.reply;
      }
    }
    Pending& pending = pending_[(first_ + size_++) % kCapacity];
    pending.after = after;
    ObserveAckReply& reply = pending.reply;
    reply.producer = producer;
    reply.accepted = reply.refused = reply.duplicate = 0;
    reply.frames = reply.listed_count = 0;
    reply.of_outcome = of_outcome;
    return reply;
  }

  // Whether the oldest may be sent now that frames below `durable` are on disk.
  bool is_ready(std::uint64_t durable) const noexcept {
    return size_ > 0 && pending_[first_].after <= durable;
  }
  // The oldest one if it is_ready(); otherwise null.
  ObserveAckReply* ready(std::uint64_t durable) noexcept {
    return is_ready(durable) ? &pending_[first_].reply : nullptr;
  }
  // REQUIRES: not empty().
  void pop() noexcept {
    first_ = (first_ + 1) % kCapacity;
    --size_;
  }

 private:
  struct Pending {
    ObserveAckReply reply;
    std::uint64_t after = 0;
  };
  std::array<Pending, kCapacity> pending_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACK_QUEUE_H_
