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
  producer_ = nullptr;
  durability_ = Durability::kMemory;
  acks_.clear();
}

void Conversation::end() noexcept {
  if (context_.producers != nullptr) context_.producers->release(claims_);
  if (first_in_line()) context_.state->first_in_line = nullptr;
  producer_ = nullptr;
}

Conversation::Turn Conversation::handle(std::span<const std::byte> input,
                                        ReplyBuffer& replies) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  Turn turn;
  queries_left_ = kQueriesPerTurn;
  turn_ends_ns_ = 0;
  turn_ns_ = 0;
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
    const bool readable = scan.kind != FrameScan::kTooLarge && scan.kind != FrameScan::kMalformed &&
                          ok(decode_request(scan.frame, request));
    // Only an acknowledgement may follow one that waits for the disk.
    const bool observes = readable && request.kind == RequestKind::kObserve;
    if (!observes && !settled(replies, turn.end)) break;
    if (scan.kind == FrameScan::kTooLarge) {
      counters.add(IoCounter::kOversizedFrames);
      refuse_and_close(refusal_of(Status::kTooLarge), context_.state->limits.frame_cap, replies);
      turn.end = TurnEnd::kClose;
      break;
    }
    if (!readable) {
      counters.add(IoCounter::kMalformedFrames);
      refuse_and_close(refusal_of(Status::kMalformed), 0, replies);
      turn.end = TurnEnd::kClose;
      break;
    }
    turn.end = dispatch(request, replies);
    if (turn.end == TurnEnd::kNeedRoom || turn.end == TurnEnd::kWindowFull ||
        turn.end == TurnEnd::kLogBehind) {
      break;
    }
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
  if (request.kind == RequestKind::kProducerStatus && context_.producers != nullptr) {
    return producer_status(request.id, request.producer_status.producer, replies);
  }
  if (request.kind == RequestKind::kObserve || request.kind == RequestKind::kProducerStatus ||
      request.kind == RequestKind::kUnknown) {
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
  } else if (hello.durability > static_cast<std::uint32_t>(Durability::kLogged)) {
    refusal = refusal_of(Status::kUnsupported);
    number = kProtocolVersion;
  } else if (static_cast<Durability>(hello.durability) == Durability::kLogged &&
             state.durability != Durability::kLogged) {
    refusal = Refusal::kNotDurable;
  }
  if (refusal != Refusal::kNone) {
    context_.state->counters.add(IoCounter::kHelloRefused);
    refuse_and_close(refusal, number, replies, id);
    return TurnEnd::kClose;
  }
  const auto asked = static_cast<Durability>(hello.durability);
  durability_ = asked == Durability::kUnspecified ? state.durability : asked;
  WelcomeReply welcome;
  welcome.features = state.limits.features;
  welcome.dimension = state.limits.dimension;
  welcome.frame_cap = state.limits.frame_cap;
  welcome.reply_cap = state.limits.reply_cap;
  welcome.max_rows = state.limits.max_rows;
  welcome.max_nonzeros = state.limits.max_nonzeros;
  welcome.max_query_rows = state.limits.max_query_rows;
  // Also while the log is being learned again.
  welcome.head = std::max(state.engine->head(), state.log.durable_head.load());
  welcome.fingerprint = fingerprint;
  welcome.model = kind_of(state.engine->config().model.name);
  welcome.classes = state.limits.classes;
  welcome.observes = context_.producers != nullptr;
  welcome.instance_id = state.instance_id;
  welcome.durability = durability_;
  welcome.durable_through = state.log.durable_head.load(std::memory_order_acquire);
  if (welcome.observes) {
    welcome.max_producers = static_cast<std::uint32_t>(context_.producers->claims_per_connection());
  }
  replies.append(encode(id, welcome, replies.room()));
  greeted_ = true;
  return TurnEnd::kNeedInput;
}

TurnEnd Conversation::query(const RequestView& request, ReplyBuffer& replies) noexcept {
  const std::size_t bound = context_.queries->reply_bound(request);
  if (replies.room().size() < bound + kSmallReplyBound) return TurnEnd::kNeedRoom;
  const auto answer = context_.queries->answer(request, this, replies.room());
  replies.append(answer.bytes);
  if (turn_ends_ns_ == 0) turn_ends_ns_ = answer.begin_ns + kTurnNs;
  const bool more = --queries_left_ > 0 && answer.end_ns < turn_ends_ns_;
  return more ? TurnEnd::kNeedInput : TurnEnd::kBudget;
}

void Conversation::refuse(std::uint64_t id, Refusal reason, std::uint64_t number,
                          ReplyBuffer& replies) noexcept {
  replies.append(encode(id, RefusalReply{reason, number, false}, replies.room()));
}

void Conversation::refuse_and_close(Refusal reason, std::uint64_t number, ReplyBuffer& replies,
                                    std::uint64_t id) noexcept {
  flush_acknowledgements(replies);
  replies.append(encode(id, RefusalReply{reason, number, true}, replies.room()));
}

}  // namespace windhover
