#include "windhover/io/row_intake.h"

#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/runtime/window/packed_rows.h"

namespace windhover {

void RowIntake::begin() noexcept {
  about_ = nullptr;
  producer_ = nullptr;
  acks_.begin();
}

void RowIntake::enter(ModelContext& about, Durability durability) noexcept {
  about_ = about.producers != nullptr ? &about : nullptr;
  acks_.enter(about, durability);
}

void RowIntake::end() noexcept {
  if (is_on()) about_->producers->release(claims_);
  leave_line();
  producer_ = nullptr;
}

// The clock is read once a turn: silence is measured in seconds.
std::int64_t RowIntake::turn_ns() noexcept {
  if (turn_ns_ == 0) turn_ns_ = context_.state->now_ns();
  return turn_ns_;
}

// The owner of the producers that the connection speaks for; for rows over HTTP, of their sender.
ProducerOwner RowIntake::owner() noexcept {
  if (rights_.is_host()) return about_->model->over_http.owner();
  return rights_.owner(context_.state->limits.connection);
}

// Whether rows of this producer, from this sequence number on, may be judged now. Changes nothing:
// a frame that is refused, or waits for the window, claims nothing.
Refusal RowIntake::check_sequence(const ObserveRequest& request, ProducerEntry*& entry,
                                  std::uint64_t& number) noexcept {
  ProducerTable& table = *about_->producers;
  const bool same = producer_ != nullptr && producer_->producer == request.producer;
  if (request.producer == kNoProducer) return refusal_of(Status::kInvalidArgument);
  entry = same ? producer_ : &table.at(request.producer);
  const bool known = entry->producer != 0;
  if (entry->owner != &claims_) claims_.speak_as(owner());
  const Refusal refusal = table.may_speak(*entry, request.producer, claims_, turn_ns());
  if (refusal == Refusal::kTableFull) {
    number = table.limit(request.producer, claims_);
  } else if (refusal == Refusal::kTooManyProducers) {
    number = table.claims_per_connection();
  } else if (refusal != Refusal::kNone) {
    return refusal;
  } else if (!known && request.first_sequence != 0 && !request.begins_here) {
    return Refusal::kUnknownProducer;
  } else if (known && request.first_sequence > entry->next &&
             !(request.begins_here && is_passing(request.producer))) {
    number = entry->next;
    return Refusal::kSequenceGap;
  } else if (request.first_sequence > UINT64_MAX - request.batch.rows) {
    return refusal_of(Status::kInvalidArgument);
  }
  return refusal;
}

// Whether there is room for the acknowledgement of a frame, and in the log if there is one. While
// the log has no room, or is still being learned again, the frame waits as it does for the window.
bool RowIntake::may_judge(std::uint64_t rows, ReplyBuffer& replies, TurnEnd& why_not) noexcept {
  if (acks_.is_full()) acks_.flush(replies);
  if (acks_.is_full()) {
    why_not = acks_.wait_for_log() ? TurnEnd::kLogBehind : TurnEnd::kNeedRoom;
    return false;
  }
  if (about_->feed == nullptr || about_->feed->has_room(rows)) return true;
  if (about_->model->first_in_line == nullptr) about_->model->first_in_line = this;
  context_.state->counters.add(IoCounter::kLogBehindWaits);
  why_not = TurnEnd::kWindowFull;
  return false;
}

// Rows that come as floats, and without what the model may have beside, are larger in the log.
bool RowIntake::fits_the_log(const ObservationBatch& batch) const noexcept {
  if (about_->feed == nullptr || batch.rows <= about_->feed->most_rows()) return true;
  const PackedRows packed(RowLayout(about_->model->engine->config().model));
  return about_->feed->fits(packed.bytes_of(batch.rows, batch.feature_values));
}

// Hands the rows that are not duplicates to the engine. False: the window has no room, or others
// wait for it.
template <class Take>
bool RowIntake::judge(std::uint64_t rows, JudgedFrame& frame, ObserveResult& result,
                      Take&& take) noexcept {
  frame.head = about_->model->engine->head();
  if (rows == frame.duplicate) return true;
  // If others took room as it comes, a large frame would never find enough.
  const void*& first_in_line = about_->model->first_in_line;
  const bool mine = first_in_line == nullptr || first_in_line == this;
  if (mine) result = take();
  if (!mine || result.status == Status::kWindowFull) {
    if (mine) first_in_line = this;
    context_.state->counters.add(IoCounter::kWindowFullWaits);
    return false;
  }
  first_in_line = nullptr;
  // A frame that is wrong as a whole counts as judged, each row refused: it would be wrong again.
  if (!ok(result.status)) result.refused = rows - frame.duplicate;
  frame.accepted = result.accepted;
  frame.refused = result.refused;
  frame.duplicate += result.duplicate;
  return true;
}

// Gives the frame to the log, which numbers it. REQUIRES: may_judge().
void RowIntake::log(const JudgedFrame& frame, KeyState keys) noexcept {
  about_->feed->push({0, frame.producer, frame.next, frame.accepted, frame.refused, frame.duplicate,
                      frame.head, keys});
}

// Outcomes need no sequence numbers: a key that is sent again is a duplicate, or unknown, so its
// row is never stored twice.
TurnEnd RowIntake::outcome(std::uint64_t id, const OutcomeQuery& query,
                           ReplyBuffer& replies) noexcept {
  const std::uint64_t rows = query.keys.count;
  TurnEnd why_not = TurnEnd::kNeedInput;
  const ModelLimits& limits = about_->model->limits;
  std::uint64_t most = limits.max_rows;
  if (about_->feed != nullptr) most = std::min(most, about_->feed->most_rows());
  if (limits.pending_keys == 0 || rows > most) {
    if (!acks_.settle(replies, why_not)) return why_not;
    count_refused(rows);
    const bool large = limits.pending_keys > 0;
    refuse(id, refusal_of(large ? Status::kTooLarge : Status::kKeyNotTaken), large ? most : 0,
           replies);
    return TurnEnd::kNeedInput;
  }
  if (!may_judge(rows, replies, why_not)) return why_not;
  JudgedFrame frame;
  frame.id = id;
  ObserveResult result;
  const bool waited = first_in_line();
  const auto take = [&] {
    return about_->model->engine->labels().observe(context_.scratch->load(query), refused_);
  };
  if (!judge(rows, frame, result, take)) return TurnEnd::kWindowFull;
  count(frame);
  if (about_->feed != nullptr && frame.accepted > 0) log(frame, KeyState::kJoined);
  acks_.add(frame, result, refused_, true);
  return waited ? TurnEnd::kBudget : TurnEnd::kNeedInput;
}

bool settle_labels(const ModelContext& about, ServerState& state) noexcept {
  std::uint64_t most = 256;
  ServedModel& model = *about.model;
  if (model.engine->labels().pending() == 0) return false;
  if (about.feed != nullptr) most = std::min(most, about.feed->most_rows());
  // Frames that wait for room go first: there may be outcomes among them that came in time.
  const bool room = about.feed == nullptr || about.feed->has_room(most);
  if (!room || model.first_in_line != nullptr) return false;
  const std::uint64_t head = model.engine->head();
  const ObserveResult result = model.engine->labels().settle(most);
  if (const std::uint64_t rows = result.accepted + result.refused; rows > 0) {
    state.counters.add(IoCounter::kRowsReceived, rows);
    state.counters.add(IoCounter::kRowsAccepted, result.accepted);
    state.counters.add(IoCounter::kRowsRefused, result.refused);
  }
  if (about.feed != nullptr && result.accepted > 0) {
    about.feed->push({0, 0, 0, result.accepted, result.refused, 0, head, KeyState::kTimedOut});
  }
  return result.timed_out > 0;
}

TurnEnd RowIntake::observe(std::uint64_t id, const ObserveRequest& request,
                           ReplyBuffer& replies) noexcept {
  const std::uint64_t rows = request.batch.rows;
  TurnEnd why_not = TurnEnd::kNeedInput;
  if (!may_judge(rows, replies, why_not)) return why_not;
  JudgedFrame frame;
  frame.id = id;
  frame.producer = request.producer;
  ObserveResult result;
  if (rows == 0) {
    if (frame.producer != 0) frame.next = about_->producers->at(frame.producer).next;
    acks_.add(frame, result, refused_, false);
    return TurnEnd::kNeedInput;
  }
  ProducerEntry* producer = nullptr;
  if (frame.producer != 0) {
    std::uint64_t number = 0;
    const Refusal refusal = check_sequence(request, producer, number);
    if (refusal != Refusal::kNone) {
      if (!acks_.settle(replies, why_not)) return why_not;
      refuse_frame(id, rows, refusal, number, replies);
      return TurnEnd::kNeedInput;
    }
    if (producer->next > request.first_sequence) {
      frame.duplicate = std::min(rows, producer->next - request.first_sequence);
    }
  }
  const bool waited = first_in_line();
  const auto take = [&] {
    if (!fits_the_log(request.batch)) return ObserveResult{.status = Status::kTooLarge};
    ObservationBatch batch = request.batch;
    batch.first_row = frame.duplicate;
    return about_->model->engine->observe(batch, refused_);
  };
  // An older connection of a passing producer sends only duplicates: the newer one keeps speaking.
  const bool late = producer != nullptr && is_passing(frame.producer) && frame.duplicate == rows &&
                    producer->owner != nullptr && producer->owner != &claims_;
  if (!judge(rows, frame, result, take)) return TurnEnd::kWindowFull;
  if (late) {
    frame.next = producer->next;
  } else if (producer != nullptr) {
    const auto spoken = about_->producers->judged(*producer, frame.producer, claims_, turn_ns());
    if (spoken.taken_over) context_.state->counters.add(IoCounter::kProducersTakenOver);
    if (spoken.forgot) context_.state->counters.add(IoCounter::kProducersForgotten);
    producer = producer_ = &spoken.entry;
    if (producer->frames <= acks_.durable_frames()) producer->durable_next = producer->next;
    frame.next = producer->next = std::max(producer->next, request.first_sequence + rows);
  }
  count(frame);
  if (about_->feed != nullptr && frame.accepted + frame.refused > 0) {
    log(frame, KeyState::kPending);
    if (producer != nullptr) producer->frames = about_->feed->pushed();
  }
  // A request over HTTP speaks for a producer only while it lasts: all of HTTP has one connection
  // here, which may speak for a few producers alone.
  if (rights_.is_host()) about_->producers->release(claims_);
  acks_.add(frame, result, refused_, false);
  return waited ? TurnEnd::kBudget : TurnEnd::kNeedInput;  // others have waited as well
}

void RowIntake::count(const JudgedFrame& frame) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  counters.add(IoCounter::kRowsReceived, frame.accepted + frame.refused + frame.duplicate);
  counters.add(IoCounter::kRowsAccepted, frame.accepted);
  if (frame.refused > 0) counters.add(IoCounter::kRowsRefused, frame.refused);
  if (frame.duplicate > 0) counters.add(IoCounter::kRowsDuplicate, frame.duplicate);
}

TurnEnd RowIntake::producer_status(std::uint64_t id, std::uint64_t producer,
                                   ReplyBuffer& replies) noexcept {
  if (producer == 0) {
    refuse(id, refusal_of(Status::kInvalidArgument), 0, replies);
    return TurnEnd::kNeedInput;
  }
  const ProducerEntry& entry = about_->producers->at(producer);
  if (about_->feed != nullptr && !about_->feed->is_open()) return TurnEnd::kWindowFull;
  const bool logged = about_->model->durability == Durability::kLogged;
  const bool all_durable = entry.frames <= acks_.durable_frames();
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

void RowIntake::count_refused(std::uint64_t rows) noexcept {
  context_.state->counters.add(IoCounter::kRowsReceived, rows);
  context_.state->counters.add(IoCounter::kRowsRefused, rows);
}

void RowIntake::refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason,
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
}

Refusal RowIntake::why_it_waits() const noexcept {
  const bool log =
      acks_.wait_for_log() || (is_on() && about_->feed != nullptr && !about_->feed->has_room(1));
  return refusal_of(log ? Status::kLogFull : Status::kWindowFull);
}

}  // namespace windhover
