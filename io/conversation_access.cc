// Which model a conversation is about, and what its peer may do.
#include <algorithm>

#include "windhover/io/conversation.h"

namespace windhover {

// Complexity O(models); a Hello comes once a connection.
ModelContext* ConversationContext::find(std::string_view name) const noexcept {
  if (name.empty()) return models.data();
  const auto found = std::ranges::find_if(models, [&](const ModelContext& context) {
    return context.model != nullptr && context.model->name() == name;
  });
  return found == models.end() ? nullptr : &*found;
}

std::size_t ConversationContext::count() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      models, [](const ModelContext& context) { return context.model != nullptr; }));
}

// Who has no role anywhere does not learn which models there are either.
bool Conversation::may_come(const ModelContext* named) noexcept {
  return named != nullptr ? roles_on(named).any() : rights_.anywhere().any();
}

// Where it may have so many connections as there are; `most` is that otherwise. Who is nobody's
// identity is not counted: without a file of them there is none.
bool Conversation::has_place(std::uint64_t& most) const noexcept {
  const Access* const access = context_.state->access;
  if (context_.places == nullptr || access == nullptr || !access->has_file()) return true;
  const std::uint64_t limit =
      rights_.limits().in_place_of(context_.state->limits.connection).connections;
  if (limit == 0 || context_.places->of_same_identity(*this) < limit) return true;
  most = limit;
  return false;
}

// Whose the producers are that it speaks for. What comes over HTTP says who sent it.
ProducerOwner Conversation::owner() noexcept {
  if (rights_.is_host()) return about_->model->over_http.owner();
  return rights_.owner(context_.state->limits.connection);
}

// One that has come when all is taken: an admin stays, if there is none already.
bool Conversation::may_stay() noexcept {
  if (place_ == PlaceKind::kEverybodys) return true;
  const Access* const access = context_.state->access;
  const bool admin = access != nullptr && access->has_file() && rights_.is_admin();
  if (admin && context_.places != nullptr && context_.places->admins_is_free()) {
    place_ = PlaceKind::kEverybodys;
  }
  return place_ != PlaceKind::kAdmins;
}

// `needed` is set where it may not; 0 stands for any role. Who asks with keys brings half a row, or
// a whole one where silence is an outcome.
bool Conversation::may(const RequestView& request, Role& needed) noexcept {
  const RoleSet roles = roles_on(about_);
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
      return rights_.everywhere().has(needed);
    default:
      return roles.any();
  }
}

// Who has no role any more is let go.
TurnEnd Conversation::not_permitted(const RequestView& request, Role needed,
                                    ReplyBuffer& replies) noexcept {
  TurnEnd why_not = TurnEnd::kNeedInput;
  if (!settled(replies, why_not)) return why_not;
  leave_line();
  const auto number = static_cast<std::uint64_t>(needed);
  const Refusal reason = refusal_of(Status::kNotPermitted);
  const bool closing = !roles_on(about_).any();
  if (request.kind == RequestKind::kObserve && observes()) {
    count_refused(request.observe.batch.rows);
  }
  if (request.kind == RequestKind::kOutcome && observes()) {
    count_refused(request.outcome.keys.count);
  }
  context_.state->counters.add(IoCounter::kNotPermitted);
  if (closing) {
    refuse_and_close(reason, number, replies, request.id);
    return TurnEnd::kClose;
  }
  refuse(request.id, reason, number, replies);
  return TurnEnd::kNeedInput;
}

}  // namespace windhover
