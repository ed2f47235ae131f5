#include "windhover/io/acknowledgements.h"

#include <algorithm>

#include "windhover/io/codec.h"

namespace windhover {

void Acknowledgements::begin() noexcept {
  about_ = nullptr;
  durability_ = Durability::kMemory;
  waiting_.clear();
}

void Acknowledgements::enter(const ModelContext& about, Durability durability) noexcept {
  about_ = &about;
  durability_ = durability;
}

// Where rows are acknowledged as logged, each acknowledgement waits for every frame so far: the
// first copy of a duplicate may still be on its way to the disk.
void Acknowledgements::add(const JudgedFrame& frame, const ObserveResult& result,
                           std::span<const RefusedRow> refused, bool of_outcome) noexcept {
  const FrameFeed* feed = about_->feed;
  const bool logged = durability_ == Durability::kLogged && feed != nullptr && feed->logs();
  ObserveAckReply& ack = waiting_.add(frame.producer, logged ? feed->pushed() : 0,
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
    for (std::size_t i = 0; i < std::min<std::size_t>(frame.refused, refused.size()); ++i) {
      list(refused[i].row, refused[i].reason);
    }
  }
}

bool Acknowledgements::settle(ReplyBuffer& replies, TurnEnd& why_not) noexcept {
  flush(replies);
  if (wait_for_log()) {
    why_not = TurnEnd::kLogBehind;
    return false;
  }
  why_not = TurnEnd::kNeedRoom;
  return waiting_.empty() && replies.room().size() >= kSmallReplyBound;
}

// head and durable_through are of the server, not of the frames: they are read when it is sent.
void Acknowledgements::flush(ReplyBuffer& replies) noexcept {
  while (ObserveAckReply* ack = waiting_.ready(durable_frames())) {
    ack->head = about_->model->engine->head();
    ack->durable_through = about_->model->log.durable_head.load(std::memory_order_acquire);
    const std::size_t bytes = encode(*ack, replies.room());
    if (bytes == 0) return;
    replies.append(bytes);
    waiting_.pop();
    context_.state->counters.add(IoCounter::kAcknowledgements);
  }
}

}  // namespace windhover
