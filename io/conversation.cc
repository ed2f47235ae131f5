#include "windhover/io/conversation.h"

#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/model_directory.h"
#include "windhover/samplers/registry.h"

namespace windhover {

void Conversation::begin(const Credential& peer, PlaceKind place) noexcept {
  rights_.begin(context_.state->access, peer);
  place_ = place;
  about_ = nullptr;
  producer_ = nullptr;
  durability_ = Durability::kMemory;
  acks_.clear();
}

void Conversation::end() noexcept {
  if (context_.long_predict != nullptr) context_.long_predict->abandon(this);
  if (about_ != nullptr) about_->queries->forget(this);
  if (observes()) about_->producers->release(claims_);
  leave_line();
  producer_ = nullptr;
}

bool Conversation::leave(const ModelContext& gone, ReplyBuffer& replies) noexcept {
  if (about_ != &gone) return false;
  refuse_and_close(Refusal::kUnknownModel, context_.count(), replies);
  end();
  acks_.clear();
  about_ = nullptr;
  return true;
}

Conversation::Turn Conversation::handle(std::span<const std::byte> input, ReplyBuffer& replies,
                                        std::int64_t budget) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  Turn turn;
  budget_ = budget;
  spent_ = 0;
  questions_ = 0;
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
    const bool observes = readable && brings_rows(request.kind);
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
    if (!may_cost(request)) {
      turn.end = TurnEnd::kQuestion;
      break;
    }
    turn.end = dispatch(request, replies);
    turn.secret =
        turn.secret || (request.kind == RequestKind::kHello && !request.hello.token.empty());
    if (turn.end != TurnEnd::kNeedInput && turn.end != TurnEnd::kBudget &&
        turn.end != TurnEnd::kClose) {
      break;
    }
    turn.consumed += scan.consumed;
    ++turn.frames;
    counters.add(IoCounter::kFrames);
    if (turn.end != TurnEnd::kNeedInput) break;
  }
  turn.cost = spent_;
  turn.questions = questions_;
  return turn;
}

// Whether it may be handled in this turn. Rows may; what is done at once may until a whole turn is
// spent, also where no question may be answered.
bool Conversation::may_cost(const RequestView& request) const noexcept {
  switch (request.kind) {
    case RequestKind::kObserve:
    case RequestKind::kOutcome:
      return observes() || spent_ < kTurnNs;
    case RequestKind::kHello:
    case RequestKind::kProducerStatus:
    case RequestKind::kUnknown:
      return spent_ < kTurnNs;
    default:
      return spent_ < budget_ || about_ == nullptr;
  }
}

// Whether this endpoint answers such questions.
bool Conversation::answers(RequestKind kind) const noexcept {
  switch (kind) {
    case RequestKind::kUnknown:
    case RequestKind::kObserve:
    case RequestKind::kOutcome:
    case RequestKind::kProducerStatus:
      return false;
    case RequestKind::kStatus:
      return true;
    default:
      return !context_.rows_only;
  }
}

TurnEnd Conversation::dispatch(const RequestView& request, ReplyBuffer& replies) noexcept {
  if (!brings_rows(request.kind) || !observes()) spent_ += QuestionCost::kFrameNs;
  if (request.kind == RequestKind::kHello) return hello(request.id, request.hello, replies);
  if (about_ == nullptr) {
    context_.state->counters.add(IoCounter::kHelloMissing);
    refuse_and_close(Refusal::kHelloRequired, 0, replies, request.id);
    return TurnEnd::kClose;
  }
  if (place_ != PlaceKind::kEverybodys && request.kind != RequestKind::kStatus) {
    refuse_and_close(refusal_of(Status::kUnavailable), context_.state->limits.max_sessions, replies,
                     request.id);
    return TurnEnd::kClose;
  }
  if (Role needed{}; !may(request, needed)) return not_permitted(request, needed, replies);
  if (request.kind == RequestKind::kObserve && observes()) {
    return observe(request.id, request.observe, replies);
  }
  if (request.kind == RequestKind::kOutcome && observes()) {
    return outcome(request.id, request.outcome, replies);
  }
  if (request.kind == RequestKind::kProducerStatus && observes()) {
    return producer_status(request.id, request.producer_status.producer, replies);
  }
  if (!answers(request.kind)) {
    context_.state->counters.add(IoCounter::kUnsupportedRequests);
    refuse(request.id, refusal_of(Status::kUnsupported), kProtocolVersion, replies);
    return TurnEnd::kNeedInput;
  }
  return query(request, replies);
}

TurnEnd Conversation::hello(std::uint64_t id, const HelloRequest& hello,
                            ReplyBuffer& replies) noexcept {
  if (!hello.token.empty()) rights_.show_token(hello.token);
  ModelContext* const named = context_.find(hello.model);
  const auto asked = static_cast<Durability>(hello.durability);
  Refusal refusal = Refusal::kNone;
  std::uint64_t number = 0;
  IoCounter counter = IoCounter::kHelloRefused;
  if (hello.version_min > kProtocolVersion || hello.version_max < kProtocolVersion ||
      hello.durability > static_cast<std::uint32_t>(Durability::kLogged)) {
    refusal = refusal_of(Status::kUnsupported);
    number = kProtocolVersion;
  } else if (!may_come(named)) {
    counter = IoCounter::kNotPermitted;
    refusal = refusal_of(Status::kNotPermitted);
  } else if (!may_stay()) {
    refusal = refusal_of(Status::kUnavailable);
    number = context_.state->limits.max_sessions;
  } else if (!has_place(number)) {
    counter = IoCounter::kPlacesRefused;
    refusal = refusal_of(Status::kUnavailable);
  } else if (named == nullptr) {
    refusal = Refusal::kUnknownModel;
    number = context_.count();
  } else if (hello.model_fingerprint != 0 &&
             hello.model_fingerprint != named->model->engine->fingerprint()) {
    refusal = Refusal::kFingerprintMismatch;
    number = named->model->engine->fingerprint();
  } else if (asked == Durability::kLogged && named->model->durability != Durability::kLogged) {
    refusal = Refusal::kNotDurable;
  }
  if (refusal != Refusal::kNone) {
    context_.state->counters.add(counter);
    refuse_and_close(refusal, number, replies, id);
    return TurnEnd::kClose;
  }
  if (named != about_) end();  // what it spoke for was another model's
  about_ = named;
  durability_ = asked == Durability::kUnspecified ? named->model->durability : asked;
  welcome(id, replies);
  return TurnEnd::kNeedInput;
}

void Conversation::welcome(std::uint64_t id, ReplyBuffer& replies) noexcept {
  const ServedModel& model = *about_->model;
  WelcomeReply welcome;
  welcome.features = model.limits.features;
  welcome.dimension = model.limits.dimension;
  welcome.frame_cap = context_.state->limits.frame_cap;
  welcome.reply_cap = model.limits.reply_cap;
  welcome.max_rows = model.limits.max_rows;
  welcome.max_nonzeros = model.limits.max_nonzeros;
  welcome.max_query_rows = model.limits.max_query_rows;
  // Also while the log is being learned again.
  welcome.head = std::max(model.engine->head(), model.log.durable_head.load());
  welcome.fingerprint = model.engine->fingerprint();
  welcome.model = model_kind(model.engine->config().model.name);
  welcome.classes = model.limits.classes;
  welcome.network = find_model(model.engine->config().model.name)->network;
  welcome.observes = observes();
  welcome.instance_id = model.instance_id;
  welcome.durability = durability_;
  welcome.durable_through = model.log.durable_head.load(std::memory_order_acquire);
  welcome.model_name = model.name();
  welcome.takes_keys = model.limits.pending_keys > 0;
  welcome.takes_offsets = model.engine->config().model.offset;
  welcome.takes_weights = model.engine->config().model.weight;
  welcome.takes_trials = model.engine->config().model.has_trials();
  if (welcome.observes) {
    welcome.max_producers = static_cast<std::uint32_t>(about_->producers->claims_per_connection());
    welcome.forgotten = about_->producers->forgotten();
    welcome.forgets_drawn = true;
    welcome.start_id = model.start_id;
  }
  replies.append(encode(id, welcome, replies.room()));
}

// The handler of the model that answers: of a question about the posterior it may be another one.
QueryHandler& ConversationContext::handler(const ModelContext& about,
                                           RequestKind kind) const noexcept {
  const bool posterior = kind == RequestKind::kPredict || kind == RequestKind::kPosteriorSummary ||
                         kind == RequestKind::kDraws;
  if (!posterior) return *about.queries;
  return *models[about.model->answered_by.load(std::memory_order_relaxed)].queries;
}

TurnEnd Conversation::directory(const RequestView& request, ReplyBuffer& replies) noexcept {
  if (replies.room().size() < kStatusReplyBound + kSmallReplyBound) return TurnEnd::kNeedRoom;
  const std::span<std::byte> room = replies.room();
  const std::int64_t begin_ns = context_.state->clock->now_ns();
  replies.append(answer_about_models(request, context_, rights_, *about_, room));
  context_.state->counters.add(IoCounter::kQueries);
  const std::int64_t end_ns = context_.state->clock->now_ns();
  spend(end_ns - begin_ns, begin_ns, end_ns);
  return TurnEnd::kNeedInput;
}

TurnEnd Conversation::query(const RequestView& request, ReplyBuffer& replies) noexcept {
  if (about_models(request.kind)) return directory(request, replies);
  QueryHandler& queries = context_.handler(*about_, request.kind);
  const std::size_t bound = queries.reply_bound(request);
  if (replies.room().size() < bound + kSmallReplyBound) return TurnEnd::kNeedRoom;
  const std::int64_t cost = queries.cost(request);
  const bool in_pieces = context_.long_predict != nullptr && request.kind == RequestKind::kPredict;
  if (in_pieces && cost > kTurnNs) return long_query(queries, request, replies);
  const auto answer = queries.answer(request, *about_->model, this, replies.room());
  replies.append(answer.bytes);
  ++questions_;
  spend(cost, answer.begin_ns, answer.end_ns);
  return TurnEnd::kNeedInput;
}

TurnEnd Conversation::long_query(QueryHandler& queries, const RequestView& request,
                                 ReplyBuffer& replies) noexcept {
  LongPredict& place = *context_.long_predict;
  if (place.asker() != nullptr && place.asker() != this) return TurnEnd::kPlace;
  const auto piece =
      queries.answer_piece(request, *about_->model, place, this, budget_ - spent_, replies.room());
  spend(piece.cost, piece.begin_ns, piece.end_ns);
  if (piece.bytes == 0) return TurnEnd::kQuestion;
  replies.append(piece.bytes);
  ++questions_;
  return TurnEnd::kNeedInput;
}

// The estimate is what is charged; the turn is over as well when it has lasted long enough.
void Conversation::spend(std::int64_t cost, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  spent_ += cost;
  if (turn_ends_ns_ == 0) turn_ends_ns_ = begin_ns + kTurnNs;
  if (end_ns >= turn_ends_ns_) budget_ = std::min(budget_, spent_);
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
