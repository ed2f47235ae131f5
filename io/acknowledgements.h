// What became of rows, told to who sent them.
#ifndef WINDHOVER_IO_ACKNOWLEDGEMENTS_H_
#define WINDHOVER_IO_ACKNOWLEDGEMENTS_H_

#include <cstdint>
#include <span>

#include "windhover/io/ack_queue.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// One Observe with rows, or one Outcome, once it is known what becomes of each of them.
struct JudgedFrame {
  std::uint64_t id = 0;        // of the request
  std::uint64_t producer = 0;  // 0: of none
  std::uint64_t next = 0;      // the sequence number expected of it from now on; 0 without producer
  std::uint64_t accepted = 0;  // accepted + refused + duplicate are the frame's rows
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;  // rows accepted from everybody before it
};

// The acknowledgements of one connection that have not been written yet. Invariant: each is of
// frames of the one model that they are about, and is written when these are as durable as it says,
// behind those before it. The endpoint's thread; where no rows are taken none ever waits.
class Acknowledgements {
 public:
  explicit Acknowledgements(const ConversationContext& context) noexcept : context_(context) {}

  // A new peer, which has named no model yet: none wait.
  void begin() noexcept;
  // They are about this one from now on, and stand for so much. REQUIRES: none wait that are about
  // another one.
  void enter(const ModelContext& about, Durability durability) noexcept;

  // One more frame, of whose rows the engine has listed those that it `refused`. REQUIRES: not
  // is_full().
  void add(const JudgedFrame& frame, const ObserveResult& result,
           std::span<const RefusedRow> refused, bool of_outcome) noexcept;
  bool is_full() const noexcept { return waiting_.full(); }

  // Appends those that fit and whose frames are as durable as they say.
  void flush(ReplyBuffer& replies) noexcept;
  // Whether, after a flush(), none waits, and a small reply fits behind them; otherwise `why_not`
  // says what for it has to wait.
  bool settle(ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  // Drops what still waits: its rows have been taken, and nobody is told.
  void forget() noexcept { waiting_.clear(); }

  // Whether the next one waits for the disk.
  bool wait_for_log() const noexcept {
    return !waiting_.empty() && !waiting_.is_ready(durable_frames());
  }
  // What has come to the disk of the model that they are about.
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
