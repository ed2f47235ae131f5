// The model that a conversation is about, and what its peer may do.
#include <algorithm>

#include "windhover/io/codec.h"
#include "windhover/io/conversation.h"

namespace windhover {

// O(models); called once for each Hello.
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

void refuse(std::uint64_t id, Refusal reason, std::uint64_t number, ReplyBuffer& replies,
            bool closes) noexcept {
  replies.append(encode(id, RefusalReply{reason, number, closes}, replies.room()));
}

// False: the identity has as many connections as it may, and `most` says how many that is. A peer
// without an identity is not counted: without a file there are none.
bool Conversation::has_place(std::uint64_t& most) const noexcept {
  const Access* const access = context_.state->access;
  if (context_.places == nullptr || access == nullptr || !access->has_file()) return true;
  const std::uint64_t limit =
      rights_.limits().in_place_of(context_.state->limits.connection).connections;
  if (limit == 0 || context_.places->of_same_identity(*this) < limit) return true;
  most = limit;
  return false;
}

// On a place kept for operators an admin becomes a peer like others, unless there is one already.
bool Conversation::may_stay() noexcept {
  if (place_ == PlaceKind::kEverybodys) return true;
  const Access* const access = context_.state->access;
  const bool admin = access != nullptr && access->has_file() && rights_.is_admin();
  if (admin && context_.places != nullptr && context_.places->admins_is_free()) {
    place_ = PlaceKind::kEverybodys;
  }
  return place_ != PlaceKind::kAdmins;
}

// A peer that has lost its last role is let go.
TurnEnd Conversation::not_permitted(const RequestView& request, Role needed,
                                    ReplyBuffer& replies) noexcept {
  TurnEnd why_not = TurnEnd::kNeedInput;
  if (!rows_.acks().settle(replies, why_not)) return why_not;
  rows_.leave_line();
  const auto number = static_cast<std::uint64_t>(needed);
  const Refusal reason = refusal_of(Status::kNotPermitted);
  const bool closing = !roles_on(about_).any();
  if (request.kind == RequestKind::kObserve && rows_.is_on()) {
    rows_.count_refused(request.observe.batch.rows);
  }
  if (request.kind == RequestKind::kOutcome && rows_.is_on()) {
    rows_.count_refused(request.outcome.keys.count);
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
