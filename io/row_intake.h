// What a connection brings: rows, outcomes that are heard of later, and whose they are.
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

// Some rows of the model whose key has timed out are let go, or are observations, as its
// configuration says. True: there may be more, for which there is room. The observe thread's.
bool settle_labels(const ModelContext& about, ServerState& state) noexcept;

// Invariant: it is about a model only where that model takes rows; what has been judged of a frame
// is counted and acknowledged, and given to the log unless that has it already or there is nothing
// to keep, all of these or none. Claims and acknowledgements are its own, the line for room and the
// table of producers the model's, shared with the other connections of its thread. The endpoint's
// thread; of who only asks it is off, and touches nothing.
class RowIntake {
 public:
  RowIntake(const ConversationContext& context, PeerRights& rights) noexcept
      : context_(context), rights_(rights), acks_(context) {}

  // A new peer: off.
  void begin() noexcept;
  // It has named this model, and what an acknowledgement shall stand for. Off where no rows are
  // taken.
  void enter(ModelContext& about, Durability durability) noexcept;
  // Who spoke here does not any more: its producers may be claimed by others, and those behind it
  // in line come before it.
  void end() noexcept;
  bool is_on() const noexcept { return about_ != nullptr; }

  // A turn of the connection begins.
  void begin_turn() noexcept { turn_ns_ = 0; }
  // kNeedInput or kBudget where it is done with; otherwise it has to come again. REQUIRES: is_on().
  TurnEnd observe(std::uint64_t id, const ObserveRequest& request, ReplyBuffer& replies) noexcept;
  TurnEnd outcome(std::uint64_t id, const OutcomeQuery& query, ReplyBuffer& replies) noexcept;
  TurnEnd producer_status(std::uint64_t id, std::uint64_t producer, ReplyBuffer& replies) noexcept;
  // Rows that are refused unread.
  void count_refused(std::uint64_t rows) noexcept;

  Acknowledgements& acks() noexcept { return acks_; }
  const Acknowledgements& acks() const noexcept { return acks_; }

  // Why a frame that waits for room does: the window is full, or the log is.
  Refusal why_it_waits() const noexcept;
  // Whether this is the one that the window's next room is for.
  bool first_in_line() const noexcept { return is_on() && about_->model->first_in_line == this; }
  // Lets others have it.
  void leave_line() noexcept {
    if (first_in_line()) about_->model->first_in_line = nullptr;
  }

 private:
  std::int64_t turn_ns() noexcept;
  ProducerOwner owner() noexcept;
  Refusal check_sequence(const ObserveRequest& request, ProducerEntry*& entry,
                         std::uint64_t& number) noexcept;
  bool may_judge(std::uint64_t rows, ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  // `take` hands the rows to the engine and gives what came of them.
  template <class Take>
  bool judge(std::uint64_t rows, JudgedFrame& frame, ObserveResult& result, Take&& take) noexcept;
  void log(const JudgedFrame& frame) noexcept;
  void count(const JudgedFrame& frame) noexcept;
  void refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason, std::uint64_t number,
                    ReplyBuffer& replies) noexcept;

  const ConversationContext& context_;
  PeerRights& rights_;
  ModelContext* about_ = nullptr;
  Acknowledgements acks_;
  ProducerClaims claims_;
  ProducerEntry* producer_ = nullptr;  // the newest Observe's
  std::int64_t turn_ns_ = 0;           // when this turn looked at the clock; 0: not yet
  std::array<RefusedRow, ObserveAckReply::kMaxListed> refused_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ROW_INTAKE_H_
