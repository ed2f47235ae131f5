#include "windhover/io/questions.h"

#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/model_directory.h"

namespace windhover {

// The handler of the model that answers: for a question about the posterior it may be another
// model.
QueryHandler& ConversationContext::handler(const ModelContext& about,
                                           RequestKind kind) const noexcept {
  const bool posterior = kind == RequestKind::kPredict || kind == RequestKind::kPosteriorSummary ||
                         kind == RequestKind::kDraws;
  if (!posterior) return *about.queries;
  return *models[about.model->answered_by.load(std::memory_order_relaxed)].queries;
}

void Questions::begin_turn(std::int64_t budget) noexcept {
  budget_ = budget;
  spent_ = 0;
  answered_ = 0;
  turn_ends_ns_ = 0;
}

void Questions::end(ModelContext* about) noexcept {
  if (context_.long_predict != nullptr) context_.long_predict->abandon(this);
  if (about != nullptr) about->queries->forget(this);
}

TurnEnd Questions::answer_about_models(const RequestView& request, ModelContext& about,
                                       const PeerRights& rights, ReplyBuffer& replies) noexcept {
  if (replies.room().size() < kStatusReplyBound + kSmallReplyBound) return TurnEnd::kNeedRoom;
  const std::span<std::byte> room = replies.room();
  const std::int64_t begin_ns = context_.state->now_ns();
  replies.append(windhover::answer_about_models(request, context_, rights, about, room));
  context_.state->counters.add(IoCounter::kQueries);
  const std::int64_t end_ns = context_.state->now_ns();
  spend(end_ns - begin_ns, begin_ns, end_ns);
  return TurnEnd::kNeedInput;
}

TurnEnd Questions::answer(const RequestView& request, ModelContext& about, const PeerRights& rights,
                          ReplyBuffer& replies) noexcept {
  if (about_models(request.kind)) return answer_about_models(request, about, rights, replies);
  QueryHandler& queries = context_.handler(about, request.kind);
  const std::size_t bound = queries.reply_bound(request);
  if (replies.room().size() < bound + kSmallReplyBound) return TurnEnd::kNeedRoom;
  const std::int64_t cost = queries.cost(request);
  const bool in_pieces = context_.long_predict != nullptr && request.kind == RequestKind::kPredict;
  if (in_pieces && cost > kTurnNs) return answer_piece(queries, request, about, replies);
  const auto answer = queries.answer(request, *about.model, this, replies.room());
  replies.append(answer.bytes);
  ++answered_;
  spend(cost, answer.begin_ns, answer.end_ns);
  return TurnEnd::kNeedInput;
}

TurnEnd Questions::answer_piece(QueryHandler& queries, const RequestView& request,
                                const ModelContext& about, ReplyBuffer& replies) noexcept {
  LongPredict& place = *context_.long_predict;
  if (place.asker() != nullptr && place.asker() != this) return TurnEnd::kPlace;
  const auto piece =
      queries.answer_piece(request, *about.model, place, this, budget_ - spent_, replies.room());
  spend(piece.cost, piece.begin_ns, piece.end_ns);
  if (piece.bytes == 0) return TurnEnd::kQuestion;
  replies.append(piece.bytes);
  ++answered_;
  return TurnEnd::kNeedInput;
}

// The estimate is charged. The turn is also over once it has lasted kTurnNs by the clock.
void Questions::spend(std::int64_t cost, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  spent_ += cost;
  if (turn_ends_ns_ == 0) turn_ends_ns_ = begin_ns + kTurnNs;
  if (end_ns >= turn_ends_ns_) budget_ = std::min(budget_, spent_);
}

}  // namespace windhover
