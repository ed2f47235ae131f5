// Acknowledgements: what became of the rows that a peer has sent.
#ifndef WINDHOVER_IO_ACKNOWLEDGEMENTS_H_
#define WINDHOVER_IO_ACKNOWLEDGEMENTS_H_

#include <cstdint>
#include <span>

#include "windhover/io/ack_queue.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// One Observe with rows, or one Outcome, once each of its rows has been judged.
struct JudgedFrame {
  std::uint64_t id = 0;        // of the request
  std::uint64_t producer = 0;  // 0: none
  std::uint64_t next = 0;      // its next expected sequence number; 0 without producer
  std::uint64_t accepted = 0;  // accepted + refused + duplicate are the frame's rows
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;  // rows accepted from everybody before it
};

// The acknowledgements of one connection that have not been written yet. Invariant: all are of
// frames of one model; they are written in order, each when its frames are as durable as it says.
// The endpoint's thread. Where an endpoint takes no rows there are none.
class Acknowledgements {
 public:
  explicit Acknowledgements(const ConversationContext& context) noexcept : context_(context) {}

  // Begins with a new peer, which has named no model yet. Nothing waits.
  void begin() noexcept;
  // From now on frames are of this model, and acknowledgements stand for `durability`. REQUIRES: no
  // acknowledgement of another model waits.
  void enter(const ModelContext& about, Durability durability) noexcept;

  // Adds a frame; `refused` has the rows that the engine refused. REQUIRES: not is_full().
  void add(const JudgedFrame& frame, const ObserveResult& result,
           std::span<const RefusedRow> refused, bool of_outcome) noexcept;
  bool is_full() const noexcept { return waiting_.full(); }

  // Appends to `replies` those that fit and whose frames are as durable as they say.
  void flush(ReplyBuffer& replies) noexcept;
  // Calls flush() and returns whether nothing waits any more and a small reply fits behind; if not,
  // `why_not` says what to wait for.
  bool settle(ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  // Drops what still waits: its rows have been taken, and nobody is told.
  void forget() noexcept { waiting_.clear(); }

  // Whether the next one waits for the disk.
  bool wait_for_log() const noexcept {
    return !waiting_.empty() && !waiting_.is_ready(durable_frames());
  }
  // Frames of this model that are on disk.
  std::uint64_t durable_frames() const noexcept {
    return about_ != nullptr && about_->feed != nullptr ? about_->feed->durable_frames() : 0;
  }

 private:
  const ConversationContext& context_;
  const ModelContext* about_ = nullptr;
  Durability durability_ = Durability::kMemory;
  AckQueue waiting_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACKNOWLEDGEMENTS_H_
