// The questions of one connection, answered within what a turn may cost.
#ifndef WINDHOVER_IO_QUESTIONS_H_
#define WINDHOVER_IO_QUESTIONS_H_

#include <cstdint>

#include "windhover/io/access/access.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/messages.h"
#include "windhover/io/question_cost.h"
#include "windhover/io/reply_buffer.h"

namespace windhover {

// Invariant: a turn's questions are answered until they have cost its budget or taken kTurnNs; only
// the last may go beyond. The address of this object identifies the asker, for the place of long
// questions and for snapshots that are paged through. The endpoint's thread.
class Questions {
 public:
  explicit Questions(const ConversationContext& context) noexcept : context_(context) {}

  // A turn of the connection begins, in which questions may cost `budget`.
  void begin_turn(std::int64_t budget) noexcept;
  // Charges a request that is handled at once and is no question.
  void charge(std::int64_t cost) noexcept { spent_ += cost; }
  // Whether one more question may be answered in this turn.
  bool may_ask() const noexcept { return spent_ < budget_; }
  // Whether one more request that is handled at once may be: until a whole turn is spent, even if
  // the budget for questions is 0.
  bool may_go_on() const noexcept { return spent_ < kTurnNs; }
  std::int64_t spent() const noexcept { return spent_; }
  std::uint32_t answered() const noexcept { return answered_; }  // in this turn

  // Answers the request (kNeedInput) or a part of it (kQuestion); otherwise it has to come again.
  // REQUIRES: may_ask(), and this endpoint answers such requests.
  TurnEnd answer(const RequestView& request, ModelContext& about, const PeerRights& rights,
                 ReplyBuffer& replies) noexcept;

  // Whether a long question of this connection has the place for these.
  bool is_answering() const noexcept {
    return context_.long_predict != nullptr && context_.long_predict->asker() == this;
  }
  // The connection asks no more. `about`: the model that it had named, or null.
  void end(ModelContext* about) noexcept;

 private:
  TurnEnd answer_about_models(const RequestView& request, ModelContext& about,
                              const PeerRights& rights, ReplyBuffer& replies) noexcept;
  TurnEnd answer_piece(QueryHandler& queries, const RequestView& request, const ModelContext& about,
                       ReplyBuffer& replies) noexcept;
  void spend(std::int64_t cost, std::int64_t begin_ns, std::int64_t end_ns) noexcept;

  const ConversationContext& context_;
  std::int64_t budget_ = 0;
  std::int64_t spent_ = 0;         // part of the budget
  std::int64_t turn_ends_ns_ = 0;  // 0: this turn has answered no question yet
  std::uint32_t answered_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_QUESTIONS_H_
