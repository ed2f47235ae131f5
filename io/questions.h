// What a connection asks, within what a turn of it may cost.
#ifndef WINDHOVER_IO_QUESTIONS_H_
#define WINDHOVER_IO_QUESTIONS_H_

#include <cstdint>

#include "windhover/io/access/access.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/messages.h"
#include "windhover/io/question_cost.h"
#include "windhover/io/reply_buffer.h"

namespace windhover {

// Invariant: a turn's questions are answered until they have cost its budget, or lasted a turn's
// time; at most the last goes beyond. The address of this is who asks, for the place of long
// questions and for snapshots that are paged through. The thread of the endpoint.
class Questions {
 public:
  explicit Questions(const ConversationContext& context) noexcept : context_(context) {}

  // A turn of the connection begins, in which questions may cost so much.
  void begin_turn(std::int64_t budget) noexcept;
  // What is done at once and is no question has cost so much.
  void charge(std::int64_t cost) noexcept { spent_ += cost; }
  // Whether one more may be answered in this turn; and what is done at once, which may until a
  // whole turn is spent, also where no question may be answered.
  bool may_ask() const noexcept { return spent_ < budget_; }
  bool may_go_on() const noexcept { return spent_ < kTurnNs; }
  std::int64_t spent() const noexcept { return spent_; }
  std::uint32_t answered() const noexcept { return answered_; }  // in this turn

  // Answers, or does a part of it (kQuestion); otherwise it has to come again. REQUIRES: may_ask(),
  // and the request may be asked here.
  TurnEnd answer(const RequestView& request, ModelContext& about, const PeerRights& rights,
                 ReplyBuffer& replies) noexcept;

  // Whether a long question of it has the place for these.
  bool is_answering() const noexcept {
    return context_.long_predict != nullptr && context_.long_predict->asker() == this;
  }
  // Nobody asks any more; `about`: what was asked about, or null.
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
  std::int64_t turn_ends_ns_ = 0;  // 0: no question has been answered in it yet
  std::uint32_t answered_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_QUESTIONS_H_
