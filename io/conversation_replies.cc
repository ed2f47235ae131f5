// What became of rows, told: acknowledgements, which may wait for the disk, and refusals.
#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/conversation.h"

namespace windhover {

// What is acknowledged as logged waits for every frame so far: of a duplicate the first copy may
// still be on its way to the disk.
void Conversation::acknowledge(const JudgedFrame& frame, const ObserveResult& result,
                               bool of_outcome) noexcept {
  const FrameFeed* feed = about_->feed;
  const bool logged = durability_ == Durability::kLogged && feed != nullptr && feed->logs();
  ObserveAckReply& ack = acks_.add(frame.producer, logged ? feed->pushed() : 0,
                                   logged ? feed->committing_frames() : 0, of_outcome);
  const auto list = [&](std::uint32_t row, Status reason) {
    if (ack.listed_count < ack.listed.size()) {
      ack.listed[ack.listed_count++] = {frame.id, row, reason};
    }
  };
  ++ack.frames;
  ack.id = frame.id;
  ack.producer_next = frame.next;
  ack.accepted += frame.accepted;
  ack.refused += frame.refused;
  ack.duplicate += frame.duplicate;
  if (!ok(result.status)) {
    list(ObserveAckReply::kWholeFrame, result.status);
  } else {
    for (std::size_t i = 0; i < std::min<std::size_t>(frame.refused, refused_.size()); ++i) {
      list(refused_[i].row, refused_[i].reason);
    }
  }
}

TurnEnd Conversation::producer_status(std::uint64_t id, std::uint64_t producer,
                                      ReplyBuffer& replies) noexcept {
  if (producer == 0) {
    refuse(id, refusal_of(Status::kInvalidArgument), 0, replies);
    return TurnEnd::kNeedInput;
  }
  const ProducerEntry& entry = about_->producers->at(producer);
  if (about_->feed != nullptr && !about_->feed->is_open()) return TurnEnd::kWindowFull;
  const bool logged = about_->model->durability == Durability::kLogged;
  const bool all_durable = entry.frames <= durable_frames();
  const ProducerStatusReply reply = {producer,
                                     entry.producer != 0,
                                     entry.next,
                                     !logged       ? 0
                                     : all_durable ? entry.next
                                                   : entry.durable_next,
                                     about_->producers->live(entry, turn_ns()),
                                     about_->producers->forgotten()};
  replies.append(encode(id, reply, replies.room()));
  context_.state->counters.add(IoCounter::kQueries);
  return TurnEnd::kNeedInput;
}

// Whether every acknowledgement is out, and a small reply fits behind them; otherwise what for it
// has to wait.
bool Conversation::settled(ReplyBuffer& replies, TurnEnd& why_not) noexcept {
  flush_acknowledgements(replies);
  if (waits_for_log()) {
    why_not = TurnEnd::kLogBehind;
    return false;
  }
  why_not = TurnEnd::kNeedRoom;
  return acks_.empty() && replies.room().size() >= kSmallReplyBound;
}

// What an acknowledgement says of the server rather than of its frames is said as late as can be.
void Conversation::flush_acknowledgements(ReplyBuffer& replies) noexcept {
  while (ObserveAckReply* ack = acks_.ready(durable_frames())) {
    ack->head = about_->model->engine->head();
    ack->durable_through = about_->model->log.durable_head.load(std::memory_order_acquire);
    const std::size_t bytes = encode(*ack, replies.room());
    if (bytes == 0) return;
    replies.append(bytes);
    acks_.pop();
    context_.state->counters.add(IoCounter::kAcknowledgements);
  }
}

void Conversation::count_refused(std::uint64_t rows) noexcept {
  context_.state->counters.add(IoCounter::kRowsReceived, rows);
  context_.state->counters.add(IoCounter::kRowsRefused, rows);
}

TurnEnd Conversation::refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason,
                                   std::uint64_t number, ReplyBuffer& replies) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  const bool sequence =
      reason == Refusal::kSequenceGap || reason == refusal_of(Status::kInvalidArgument);
  const bool full = reason == Refusal::kTableFull;
  counters.add(full && number == about_->producers->capacity() ? IoCounter::kFramesRefusedTableFull
               : full                                          ? IoCounter::kFramesRefusedShareFull
               : sequence                                      ? IoCounter::kFramesRefusedGap
                                                               : IoCounter::kFramesRefusedProducer);
  count_refused(rows);
  refuse(id, reason, number, replies);
  return TurnEnd::kNeedInput;
}

Refusal Conversation::why_it_waits() const noexcept {
  const bool log =
      waits_for_log() || (observes() && about_->feed != nullptr && !about_->feed->has_room(1));
  return refusal_of(log ? Status::kLogFull : Status::kWindowFull);
}

void Conversation::give_up(Refusal reason, ReplyBuffer& replies) noexcept {
  flush_acknowledgements(replies);
  acks_.clear();
  refuse_and_close(reason, 0, replies);
}

}  // namespace windhover
