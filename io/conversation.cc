#include "windhover/io/conversation.h"

#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

// Whether a peer with these roles on its model may send the request. If not, `needed` is the
// missing role, or 0 for any. A question with keys becomes rows, so it takes both roles.
bool may(const RequestView& request, RoleSet roles, const PeerRights& rights,
         Role& needed) noexcept {
  switch (request.kind) {
    case RequestKind::kObserve:
    case RequestKind::kOutcome:
    case RequestKind::kProducerStatus:
      needed = Role::kObserve;
      return roles.has(needed);
    case RequestKind::kPredict:
      needed =
          request.predict.keys.count > 0 && roles.has(Role::kQuery) ? Role::kObserve : Role::kQuery;
      return roles.has(needed);
    case RequestKind::kPosteriorSummary:
    case RequestKind::kDraws:
      needed = Role::kQuery;
      return roles.has(needed);
    case RequestKind::kTakeCheckpoint:
    case RequestKind::kChangeModel:
      needed = Role::kAdmin;
      return roles.has(needed);
    case RequestKind::kHostModel:
      needed = Role::kAdmin;
      return rights.everywhere().has(needed);
    default:
      return roles.any();
  }
}

// Whether this endpoint answers such questions.
bool answers(const ConversationContext& context, RequestKind kind) noexcept {
  switch (kind) {
    case RequestKind::kUnknown:
    case RequestKind::kObserve:
    case RequestKind::kOutcome:
    case RequestKind::kProducerStatus:
      return false;
    case RequestKind::kStatus:
      return true;
    default:
      return !context.rows_only;
  }
}

WelcomeReply welcome_to(const ModelContext& about, Durability durability,
                        const Limits& limits) noexcept {
  const ServedModel& model = *about.model;
  WelcomeReply welcome;
  welcome.features = model.limits.features;
  welcome.dimension = model.limits.dimension;
  welcome.frame_cap = limits.frame_cap;
  welcome.reply_cap = model.limits.reply_cap;
  welcome.max_rows = model.limits.max_rows;
  welcome.max_nonzeros = model.limits.max_nonzeros;
  welcome.max_query_rows = model.limits.max_query_rows;
  // While the log is being learned again its rows count already.
  welcome.head = std::max(model.engine->head(), model.log.durable_head.load());
  welcome.fingerprint = model.engine->fingerprint();
  welcome.schema_fingerprint = model.engine->config().schema_fingerprint;
  welcome.model = model_kind(model.engine->config().model.name);
  welcome.classes = model.limits.classes;
  welcome.network = find_model(model.engine->config().model.name)->network;
  welcome.observes = about.producers != nullptr;
  welcome.instance_id = model.instance_id;
  welcome.durability = durability;
  welcome.durable_through = model.log.durable_head.load(std::memory_order_acquire);
  welcome.model_name = model.name();
  welcome.takes_keys = model.limits.pending_keys > 0;
  welcome.takes_offsets = model.engine->config().model.offset;
  welcome.takes_weights = model.engine->config().model.weight;
  welcome.takes_trials = model.engine->config().model.has_trials();
  if (welcome.observes) {
    welcome.max_producers = static_cast<std::uint32_t>(about.producers->claims_per_connection());
    welcome.forgotten = about.producers->forgotten();
    welcome.forgets_drawn = true;
    welcome.start_id = model.start_id;
  }
  return welcome;
}

}  // namespace

void Conversation::begin(const Credential& peer, PlaceKind place) noexcept {
  rights_.begin(context_.state->access, peer);
  place_ = place;
  about_ = nullptr;
  rows_.begin();
}

void Conversation::end() noexcept {
  questions_.end(about_);
  rows_.end();
}

bool Conversation::leave(const ModelContext& gone, ReplyBuffer& replies) noexcept {
  if (about_ != &gone) return false;
  refuse_and_close(Refusal::kUnknownModel, context_.count(), replies);
  end();
  rows_.begin();
  about_ = nullptr;
  return true;
}

Conversation::Turn Conversation::handle(std::span<const std::byte> input, ReplyBuffer& replies,
                                        std::int64_t budget) noexcept {
  Counters<IoCounter>& counters = context_.state->counters;
  Turn turn;
  questions_.begin_turn(budget);
  rows_.begin_turn();
  RequestView request;
  for (;;) {
    const FrameScan scan =
        scan_frame(input.subspan(turn.consumed), context_.state->limits.frame_cap);
    if (scan.kind == FrameScan::kNeedMore) break;
    // There must always be room for an acknowledgement and a refusal.
    if (replies.room().size() < 2 * kSmallReplyBound) {
      turn.end = TurnEnd::kNeedRoom;
      break;
    }
    const bool readable = scan.kind != FrameScan::kTooLarge && scan.kind != FrameScan::kMalformed &&
                          ok(decode_request(scan.frame, request));
    // Only an acknowledgement may follow one that waits for the disk.
    const bool observes = readable && brings_rows(request.kind);
    if (!observes && !rows_.acks().settle(replies, turn.end)) break;
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
  turn.cost = questions_.spent();
  turn.questions = questions_.answered();
  return turn;
}

// Whether the request may be handled in this turn. Rows may.
bool Conversation::may_cost(const RequestView& request) const noexcept {
  switch (request.kind) {
    case RequestKind::kObserve:
    case RequestKind::kOutcome:
      return rows_.is_on() || questions_.may_go_on();
    case RequestKind::kHello:
    case RequestKind::kProducerStatus:
    case RequestKind::kUnknown:
      return questions_.may_go_on();
    default:
      return questions_.may_ask() || about_ == nullptr;
  }
}

TurnEnd Conversation::dispatch(const RequestView& request, ReplyBuffer& replies) noexcept {
  if (!brings_rows(request.kind) || !rows_.is_on()) questions_.charge(QuestionCost::kFrameNs);
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
  if (Role needed{}; !may(request, roles_on(about_), rights_, needed)) {
    return not_permitted(request, needed, replies);
  }
  if (request.kind == RequestKind::kObserve && rows_.is_on()) {
    return rows_.observe(request.id, request.observe, replies);
  }
  if (request.kind == RequestKind::kOutcome && rows_.is_on()) {
    return rows_.outcome(request.id, request.outcome, replies);
  }
  if (request.kind == RequestKind::kProducerStatus && rows_.is_on()) {
    return rows_.producer_status(request.id, request.producer_status.producer, replies);
  }
  if (!answers(context_, request.kind)) {
    context_.state->counters.add(IoCounter::kUnsupportedRequests);
    refuse(request.id, refusal_of(Status::kUnsupported), kProtocolVersion, replies);
    return TurnEnd::kNeedInput;
  }
  return questions_.answer(request, *about_, rights_, replies);
}

TurnEnd Conversation::hello(std::uint64_t id, const HelloRequest& hello,
                            ReplyBuffer& replies) noexcept {
  if (!hello.token.empty()) rights_.show_token(hello.token);
  ModelContext* const named = context_.find(hello.model);
  const auto asked = static_cast<Durability>(hello.durability);
  // Who has no role anywhere does not learn which models there are either.
  const RoleSet roles = named != nullptr ? roles_on(named) : rights_.anywhere();
  Refusal refusal = Refusal::kNone;
  std::uint64_t number = 0;
  IoCounter counter = IoCounter::kHelloRefused;
  if (hello.version_min > kProtocolVersion || hello.version_max < kProtocolVersion ||
      hello.durability > static_cast<std::uint32_t>(Durability::kLogged)) {
    refusal = refusal_of(Status::kUnsupported);
    number = kProtocolVersion;
  } else if (!roles.any()) {
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
  const Durability given = asked == Durability::kUnspecified ? named->model->durability : asked;
  rows_.enter(*named, given);
  const WelcomeReply welcome = welcome_to(*named, given, context_.state->limits);
  replies.append(encode(id, welcome, replies.room()));
  return TurnEnd::kNeedInput;
}

void Conversation::refuse_and_close(Refusal reason, std::uint64_t number, ReplyBuffer& replies,
                                    std::uint64_t id) noexcept {
  flush_acknowledgements(replies);
  refuse(id, reason, number, replies, true);
}

void Conversation::give_up(ReplyBuffer& replies) noexcept {
  const Refusal reason = rows_.why_it_waits();
  flush_acknowledgements(replies);
  rows_.acks().forget();
  refuse_and_close(reason, 0, replies);
}

}  // namespace windhover
