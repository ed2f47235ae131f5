#include "windhover/io/conversation.h"

#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"

namespace windhover {
namespace {

ModelKind kind_of(std::string_view model) noexcept {
  if (model == "linear") return ModelKind::kLinear;
  if (model == "logistic") return ModelKind::kLogistic;
  if (model == "poisson") return ModelKind::kPoisson;
  if (model == "student-t") return ModelKind::kStudentT;
  if (model == "softmax") return ModelKind::kSoftmax;
  if (model == "mlp-linear") return ModelKind::kLinear;
  if (model == "mlp-logistic") return ModelKind::kLogistic;
  if (model == "mlp-softmax" || model == "drbm") return ModelKind::kSoftmax;
  return ModelKind::kOther;
}

}  // namespace

void Conversation::begin() noexcept {
  greeted_ = false;
  claimed_ = false;
  producer_ = nullptr;
  acknowledgement_.frames = 0;
  acknowledgement_.listed_count = 0;
}

void Conversation::end() noexcept {
  if (claimed_) context_.producers->release(this);
  if (first_in_line()) context_.state->first_in_line = nullptr;
  producer_ = nullptr;
}

Conversation::Turn Conversation::handle(std::span<const std::byte> input,
                                        ReplyBuffer& replies) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  Turn turn;
  queries_left_ = kQueriesPerTurn;
  turn_ends_ns_ = 0;
  RequestView request;
  for (;;) {
    const FrameScan scan =
        scan_frame(input.subspan(turn.consumed), context_.state->limits.frame_cap);
    if (scan.kind == FrameScan::kNeedMore) break;
    // An acknowledgement and a refusal always have to fit behind what is there.
    if (replies.room().size() < 2 * kSmallReplyBound) {
      turn.end = TurnEnd::kNeedRoom;
      break;
    }
    if (scan.kind == FrameScan::kTooLarge) {
      counters.add(IoCounter::kOversizedFrames);
      refuse_and_close(refusal_of(Status::kTooLarge), context_.state->limits.frame_cap, replies);
      turn.end = TurnEnd::kClose;
      break;
    }
    if (scan.kind == FrameScan::kMalformed || !ok(decode_request(scan.frame, request))) {
      counters.add(IoCounter::kMalformedFrames);
      refuse_and_close(refusal_of(Status::kMalformed), 0, replies);
      turn.end = TurnEnd::kClose;
      break;
    }
    turn.end = dispatch(request, replies);
    if (turn.end == TurnEnd::kNeedRoom || turn.end == TurnEnd::kWindowFull) break;
    turn.consumed += scan.consumed;
    counters.add(IoCounter::kFrames);
    if (turn.end != TurnEnd::kNeedInput) break;
  }
  return turn;
}

TurnEnd Conversation::dispatch(const RequestView& request, ReplyBuffer& replies) noexcept {
  if (request.kind == RequestKind::kHello) return hello(request.id, request.hello, replies);
  if (!greeted_) {
    context_.state->counters.add(IoCounter::kHelloMissing);
    refuse_and_close(Refusal::kHelloRequired, 0, replies, request.id);
    return TurnEnd::kClose;
  }
  if (request.kind == RequestKind::kObserve && context_.producers != nullptr) {
    return observe(request.id, request.observe, replies);
  }
  if (request.kind == RequestKind::kObserve || request.kind == RequestKind::kUnknown) {
    context_.state->counters.add(IoCounter::kUnsupportedRequests);
    refuse(request.id, refusal_of(Status::kUnsupported), kProtocolVersion, replies);
    return TurnEnd::kNeedInput;
  }
  return query(request, replies);
}

TurnEnd Conversation::hello(std::uint64_t id, const HelloRequest& hello,
                            ReplyBuffer& replies) noexcept {
  const ServerState& state = *context_.state;
  const std::uint64_t fingerprint = state.engine->fingerprint();
  Refusal refusal = Refusal::kNone;
  std::uint64_t number = 0;
  if (hello.version_min > kProtocolVersion || hello.version_max < kProtocolVersion) {
    refusal = refusal_of(Status::kUnsupported);
    number = kProtocolVersion;
  } else if (hello.model_id != 0) {
    refusal = refusal_of(Status::kUnavailable);
  } else if (hello.model_fingerprint != 0 && hello.model_fingerprint != fingerprint) {
    refusal = Refusal::kFingerprintMismatch;
    number = fingerprint;
  }
  if (refusal != Refusal::kNone) {
    context_.state->counters.add(IoCounter::kHelloRefused);
    refuse_and_close(refusal, number, replies, id);
    return TurnEnd::kClose;
  }
  WelcomeReply welcome;
  welcome.features = state.limits.features;
  welcome.dimension = state.limits.dimension;
  welcome.frame_cap = state.limits.frame_cap;
  welcome.reply_cap = state.limits.reply_cap;
  welcome.max_rows = state.limits.max_rows;
  welcome.max_nonzeros = state.limits.max_nonzeros;
  welcome.max_query_rows = state.limits.max_query_rows;
  welcome.head = state.engine->head();
  welcome.fingerprint = fingerprint;
  welcome.model = kind_of(state.engine->config().model.name);
  welcome.classes = state.limits.classes;
  welcome.observes = context_.producers != nullptr;
  flush_acknowledgement(replies);
  replies.append(encode(id, welcome, replies.room()));
  greeted_ = true;
  return TurnEnd::kNeedInput;
}

Refusal Conversation::find_producer(const ObserveRequest& request,
                                    ProducerTable::Entry*& entry) noexcept {
  if (request.producer == 0) return Refusal::kNone;
  if (producer_ != nullptr && producer_->producer == request.producer) {
    entry = producer_;
    return Refusal::kNone;
  }
  const Refusal refusal =
      context_.producers->claim(request.producer, request.first_sequence, this, entry);
  if (refusal == Refusal::kNone) {
    producer_ = entry;
    claimed_ = true;
  }
  return refusal;
}

TurnEnd Conversation::observe(std::uint64_t id, const ObserveRequest& request,
                              ReplyBuffer& replies) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  const std::uint64_t rows = request.batch.rows;
  ProducerTable::Entry* producer = nullptr;
  if (const Refusal refusal = find_producer(request, producer); refusal != Refusal::kNone) {
    counters.add(IoCounter::kFramesRefusedProducer);
    refuse_frame(id, rows, refusal, 0, replies);
    return TurnEnd::kNeedInput;
  }
  std::uint64_t duplicate = 0;
  if (producer != nullptr && rows > 0) {
    const bool wraps = request.first_sequence > UINT64_MAX - rows;
    if (request.first_sequence > producer->next || wraps) {
      counters.add(IoCounter::kFramesRefusedGap);
      refuse_frame(id, rows, Refusal::kSequenceGap, producer->next, replies);
      return TurnEnd::kNeedInput;
    }
    duplicate = std::min(rows, producer->next - request.first_sequence);
  }

  ObserveResult result;
  bool waited = false;
  if (rows > duplicate) {
    ObservationBatch batch = request.batch;
    batch.first_row = duplicate;
    // Room that others took as it comes would never be enough for a large frame.
    const void*& first_in_line = context_.state->first_in_line;
    const bool mine = first_in_line == nullptr || first_in_line == this;
    if (mine) result = context_.state->engine->observe(batch, refused_);
    if (!mine || result.status == Status::kWindowFull) {
      if (mine) first_in_line = this;
      counters.add(IoCounter::kWindowFullWaits);
      return TurnEnd::kWindowFull;
    }
    waited = first_in_line == this;
    first_in_line = nullptr;
    // A frame that is wrong as a whole has been judged, row by row: sending it again is no use.
    if (!ok(result.status)) {
      result.refused = rows - duplicate;
      list_refused(id, ObserveAckReply::kWholeFrame, result.status);
    } else {
      for (std::size_t i = 0; i < std::min(result.refused, refused_.size()); ++i) {
        list_refused(id, refused_[i].row, refused_[i].reason);
      }
    }
    if (producer != nullptr) producer->next = request.first_sequence + rows;
  }

  ObserveAckReply& ack = acknowledgement_;
  if (ack.frames == 0) {
    ack.accepted = ack.refused = ack.duplicate = 0;
  }
  ++ack.frames;
  ack.id = id;
  ack.producer_next = producer != nullptr ? producer->next : 0;
  ack.accepted += result.accepted;
  ack.refused += result.refused;
  ack.duplicate += duplicate;

  counters.add(IoCounter::kRowsReceived, rows);
  counters.add(IoCounter::kRowsAccepted, result.accepted);
  if (result.refused > 0) counters.add(IoCounter::kRowsRefused, result.refused);
  if (duplicate > 0) counters.add(IoCounter::kRowsDuplicate, duplicate);
  return waited ? TurnEnd::kBudget : TurnEnd::kNeedInput;  // others have waited as well
}

void Conversation::list_refused(std::uint64_t id, std::uint32_t row, Status reason) noexcept {
  ObserveAckReply& ack = acknowledgement_;
  if (ack.listed_count < ack.listed.size()) ack.listed[ack.listed_count++] = {id, row, reason};
}

TurnEnd Conversation::query(const RequestView& request, ReplyBuffer& replies) noexcept {
  const std::size_t bound = context_.queries->reply_bound(request);
  if (replies.room().size() < bound + 2 * kSmallReplyBound) return TurnEnd::kNeedRoom;
  flush_acknowledgement(replies);
  const auto answer = context_.queries->answer(request, this, replies.room());
  replies.append(answer.bytes);
  if (turn_ends_ns_ == 0) turn_ends_ns_ = answer.begin_ns + kTurnNs;
  const bool more = --queries_left_ > 0 && answer.end_ns < turn_ends_ns_;
  return more ? TurnEnd::kNeedInput : TurnEnd::kBudget;
}

void Conversation::flush_acknowledgement(ReplyBuffer& replies) noexcept {
  if (acknowledgement_.frames == 0) return;
  acknowledgement_.head = context_.state->engine->head();
  const std::size_t bytes = encode(acknowledgement_, replies.room());
  if (bytes == 0) return;
  replies.append(bytes);
  acknowledgement_.frames = 0;
  acknowledgement_.listed_count = 0;
  context_.state->counters.add(IoCounter::kAcknowledgements);
}

void Conversation::refuse(std::uint64_t id, Refusal reason, std::uint64_t number,
                          ReplyBuffer& replies) noexcept {
  flush_acknowledgement(replies);
  replies.append(encode(id, RefusalReply{reason, number, false}, replies.room()));
}

void Conversation::refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason,
                                std::uint64_t number, ReplyBuffer& replies) noexcept {
  context_.state->counters.add(IoCounter::kRowsReceived, rows);
  context_.state->counters.add(IoCounter::kRowsRefused, rows);
  refuse(id, reason, number, replies);
}

void Conversation::refuse_and_close(Refusal reason, std::uint64_t number, ReplyBuffer& replies,
                                    std::uint64_t id) noexcept {
  flush_acknowledgement(replies);
  replies.append(encode(id, RefusalReply{reason, number, true}, replies.room()));
}

}  // namespace windhover
