// The rows and outcomes that a connection sends, and for which producers it speaks.
#ifndef WINDHOVER_IO_ROW_INTAKE_H_
#define WINDHOVER_IO_ROW_INTAKE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/io/access/access.h"
#include "windhover/io/acknowledgements.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/messages.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/replies.h"
#include "windhover/io/reply_buffer.h"

namespace windhover {

// Settles some rows of the model whose key has timed out: they are dropped or become observations,
// as its configuration says. True: there may be more. The observe thread's.
bool settle_labels(const ModelContext& about, ServerState& state) noexcept;

// It is off, and does nothing, unless the peer has named a model that takes rows here. Invariant: a
// frame that is judged is counted, acknowledged, and given to the log if it has rows that are new,
// all of these or none. Claims and acknowledgements belong to the connection; the line for room and
// the table of producers belong to the model, shared by the connections of this thread. The
// endpoint's thread.
class RowIntake {
 public:
  RowIntake(const ConversationContext& context, PeerRights& rights) noexcept
      : context_(context), rights_(rights), acks_(context) {}

  // Begins with a new peer: off.
  void begin() noexcept;
  // The peer has named this model; acknowledgements stand for `durability`.
  void enter(ModelContext& about, Durability durability) noexcept;
  // The peer is gone or names another model: others may claim its producers, and its place in line
  // is free.
  void end() noexcept;
  bool is_on() const noexcept { return about_ != nullptr; }

  // A turn of the connection begins.
  void begin_turn() noexcept { turn_ns_ = 0; }
  // kNeedInput or kBudget where the request is done with; otherwise it has to come again. REQUIRES:
  // is_on().
  TurnEnd observe(std::uint64_t id, const ObserveRequest& request, ReplyBuffer& replies) noexcept;
  TurnEnd outcome(std::uint64_t id, const OutcomeQuery& query, ReplyBuffer& replies) noexcept;
  TurnEnd producer_status(std::uint64_t id, std::uint64_t producer, ReplyBuffer& replies) noexcept;
  // Counts rows that are refused unread.
  void count_refused(std::uint64_t rows) noexcept;

  Acknowledgements& acks() noexcept { return acks_; }
  const Acknowledgements& acks() const noexcept { return acks_; }

  // Why a frame waits for room: the window is full, or the log is.
  Refusal why_it_waits() const noexcept;
  // Whether the window's next room is for this connection.
  bool first_in_line() const noexcept { return is_on() && about_->model->first_in_line == this; }
  // Leaves it to others.
  void leave_line() noexcept {
    if (first_in_line()) about_->model->first_in_line = nullptr;
  }

 private:
  std::int64_t turn_ns() noexcept;
  ProducerOwner owner() noexcept;
  Refusal check_sequence(const ObserveRequest& request, ProducerEntry*& entry,
                         std::uint64_t& number) noexcept;
  bool may_judge(std::uint64_t rows, ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  bool fits_the_log(const ObservationBatch& batch) const noexcept;
  // `take` hands the rows to the engine and returns the result.
  template <class Take>
  bool judge(std::uint64_t rows, JudgedFrame& frame, ObserveResult& result, Take&& take) noexcept;
  void log(const JudgedFrame& frame, KeyState keys) noexcept;
  void count(const JudgedFrame& frame) noexcept;
  void refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason, std::uint64_t number,
                    ReplyBuffer& replies) noexcept;

  const ConversationContext& context_;
  PeerRights& rights_;
  ModelContext* about_ = nullptr;
  Acknowledgements acks_;
  ProducerClaims claims_;
  ProducerEntry* producer_ = nullptr;  // of the newest Observe
  std::int64_t turn_ns_ = 0;           // the time that this turn has read; 0: not yet
  std::array<RefusedRow, ObserveAckReply::kMaxListed> refused_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ROW_INTAKE_H_
