// Rows in a conversation: whether they may be judged, what became of them, and how that is told.
#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/conversation.h"

namespace windhover {

// The clock is looked at once a turn: silence is told in seconds.
std::int64_t Conversation::turn_ns() noexcept {
  if (turn_ns_ == 0) turn_ns_ = context_.state->clock->now_ns();
  return turn_ns_;
}

// Whether rows of this producer, from this sequence number on, may be judged now. Changes nothing:
// a frame that is refused, or waits for the window, claims nothing.
Refusal Conversation::check_sequence(const ObserveRequest& request, ProducerEntry*& entry,
                                     std::uint64_t& number) noexcept {
  ProducerTable& table = *context_.producers;
  const bool same = producer_ != nullptr && producer_->producer == request.producer;
  entry = same ? producer_ : &table.at(request.producer);
  const bool known = entry->producer != 0;
  Counters<IoCounter>& counters = context_.state->counters;
  const Refusal refusal = table.may_speak(*entry, claims_, turn_ns());
  if (refusal == Refusal::kTableFull) {
    counters.add(IoCounter::kFramesRefusedTableFull);
    number = table.capacity();
  } else if (refusal != Refusal::kNone) {
    counters.add(IoCounter::kFramesRefusedProducer);
    if (refusal == Refusal::kTooManyProducers) number = table.claims_per_connection();
  } else if (!known && request.first_sequence != 0 && !request.begins_here) {
    counters.add(IoCounter::kFramesRefusedProducer);
    return Refusal::kUnknownProducer;
  } else if (known && request.first_sequence > entry->next) {
    counters.add(IoCounter::kFramesRefusedGap);
    number = entry->next;
    return Refusal::kSequenceGap;
  } else if (request.first_sequence > UINT64_MAX - request.batch.rows) {
    counters.add(IoCounter::kFramesRefusedGap);
    return refusal_of(Status::kInvalidArgument);
  }
  return refusal;
}

// Hands the rows that are not duplicates to the engine. False: the window has no room, or others
// wait for it.
bool Conversation::judge(const ObserveRequest& request, JudgedFrame& frame,
                         ObserveResult& result) noexcept {
  Engine& engine = *context_.state->engine;
  const std::uint64_t rows = request.batch.rows;
  frame.head = engine.head();
  if (rows == frame.duplicate) return true;
  ObservationBatch batch = request.batch;
  batch.first_row = frame.duplicate;
  // Room that others took as it comes would never be enough for a large frame.
  const void*& first_in_line = context_.state->first_in_line;
  const bool mine = first_in_line == nullptr || first_in_line == this;
  if (mine) result = engine.observe(batch, refused_);
  if (!mine || result.status == Status::kWindowFull) {
    if (mine) first_in_line = this;
    context_.state->counters.add(IoCounter::kWindowFullWaits);
    return false;
  }
  first_in_line = nullptr;
  // A frame that is wrong as a whole has been judged, row by row: sending it again is no use.
  if (!ok(result.status)) result.refused = rows - frame.duplicate;
  frame.accepted = result.accepted;
  frame.refused = result.refused;
  return true;
}

TurnEnd Conversation::observe(std::uint64_t id, const ObserveRequest& request,
                              ReplyBuffer& replies) noexcept {
  const std::uint64_t rows = request.batch.rows;
  JudgedFrame frame;
  frame.id = id;
  frame.producer = request.producer;
  ObserveResult result;
  if (rows == 0) {
    if (frame.producer != 0) frame.next = context_.producers->at(frame.producer).next;
    acknowledge(frame, result, replies);
    return TurnEnd::kNeedInput;
  }
  ProducerEntry* producer = nullptr;
  if (frame.producer != 0) {
    std::uint64_t number = 0;
    const Refusal refusal = check_sequence(request, producer, number);
    if (refusal != Refusal::kNone) return refuse_frame(id, rows, refusal, number, replies);
    if (producer->producer != 0) {
      frame.duplicate = std::min(rows, producer->next - request.first_sequence);
    }
  }
  const bool waited = first_in_line();
  if (!judge(request, frame, result)) return TurnEnd::kWindowFull;
  if (producer != nullptr) {
    frame.next = std::max(producer->next, request.first_sequence + rows);
    const bool taken_over =
        context_.producers->judged(*producer, frame.producer, frame.next, claims_, turn_ns());
    if (taken_over) context_.state->counters.add(IoCounter::kProducersTakenOver);
    producer_ = producer;
  }
  count(frame);
  acknowledge(frame, result, replies);
  return waited ? TurnEnd::kBudget : TurnEnd::kNeedInput;  // others have waited as well
}

void Conversation::count(const JudgedFrame& frame) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  counters.add(IoCounter::kRowsReceived, frame.accepted + frame.refused + frame.duplicate);
  counters.add(IoCounter::kRowsAccepted, frame.accepted);
  if (frame.refused > 0) counters.add(IoCounter::kRowsRefused, frame.refused);
  if (frame.duplicate > 0) counters.add(IoCounter::kRowsDuplicate, frame.duplicate);
}

// Adds the frame to the pending acknowledgement; one of another producer goes out first, and finds
// room, because handle() sees to it.
void Conversation::acknowledge(const JudgedFrame& frame, const ObserveResult& result,
                               ReplyBuffer& replies) noexcept {
  ObserveAckReply& ack = acknowledgement_;
  if (ack.frames > 0 && ack.producer != frame.producer) flush_acknowledgement(replies);
  if (ack.frames == 0) {
    ack.accepted = ack.refused = ack.duplicate = 0;
    ack.producer = frame.producer;
  }
  ++ack.frames;
  ack.id = frame.id;
  ack.producer_next = frame.next;
  ack.accepted += frame.accepted;
  ack.refused += frame.refused;
  ack.duplicate += frame.duplicate;
  if (!ok(result.status)) {
    list_refused(frame.id, ObserveAckReply::kWholeFrame, result.status);
  } else {
    for (std::size_t i = 0; i < std::min<std::size_t>(frame.refused, refused_.size()); ++i) {
      list_refused(frame.id, refused_[i].row, refused_[i].reason);
    }
  }
}

void Conversation::list_refused(std::uint64_t id, std::uint32_t row, Status reason) noexcept {
  ObserveAckReply& ack = acknowledgement_;
  if (ack.listed_count < ack.listed.size()) ack.listed[ack.listed_count++] = {id, row, reason};
}

TurnEnd Conversation::producer_status(std::uint64_t id, std::uint64_t producer,
                                      ReplyBuffer& replies) noexcept {
  if (producer == 0) {
    refuse(id, refusal_of(Status::kInvalidArgument), 0, replies);
    return TurnEnd::kNeedInput;
  }
  const ProducerEntry& entry = context_.producers->at(producer);
  const bool logged = context_.state->durability == Durability::kLogged;
  const ProducerStatusReply reply = {producer, entry.producer != 0, entry.next,
                                     logged ? entry.durable_next : 0,
                                     context_.producers->live(entry, turn_ns())};
  flush_acknowledgement(replies);
  replies.append(encode(id, reply, replies.room()));
  context_.state->counters.add(IoCounter::kQueries);
  return TurnEnd::kNeedInput;
}

// What an acknowledgement says of the server rather than of its frames, as late as can be.
void Conversation::seal(ObserveAckReply& acknowledgement) noexcept {
  acknowledgement.head = context_.state->engine->head();
  acknowledgement.durable_through = context_.state->durable_through.load(std::memory_order_acquire);
}

void Conversation::flush_acknowledgement(ReplyBuffer& replies) noexcept {
  if (acknowledgement_.frames == 0) return;
  seal(acknowledgement_);
  const std::size_t bytes = encode(acknowledgement_, replies.room());
  if (bytes == 0) return;
  replies.append(bytes);
  acknowledgement_.frames = 0;
  acknowledgement_.listed_count = 0;
  context_.state->counters.add(IoCounter::kAcknowledgements);
}

TurnEnd Conversation::refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason,
                                   std::uint64_t number, ReplyBuffer& replies) noexcept {
  context_.state->counters.add(IoCounter::kRowsReceived, rows);
  context_.state->counters.add(IoCounter::kRowsRefused, rows);
  refuse(id, reason, number, replies);
  return TurnEnd::kNeedInput;
}

}  // namespace windhover
