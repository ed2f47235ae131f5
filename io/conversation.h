// The server's half of the protocol on one connection, without its socket: bytes in, replies out.
#ifndef WINDHOVER_IO_CONVERSATION_H_
#define WINDHOVER_IO_CONVERSATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/access/access.h"
#include "windhover/io/conversation_context.h"
#include "windhover/io/messages.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/questions.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/io/row_intake.h"

namespace windhover {

// Who the peer is and which model it has named; rows and questions are parts of it. Invariant:
// nothing but Hello is handled before a Hello. The endpoint's thread.
class Conversation {
 public:
  explicit Conversation(const ConversationContext& context) noexcept
      : context_(context), rows_(context, rights_), questions_(context) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Begins with a new peer; `peer` is what is known of it.
  void begin(const Credential& peer = {}, PlaceKind place = PlaceKind::kEverybodys) noexcept;
  // kEverybodys also for an admin who has been let in.
  PlaceKind place() const noexcept { return place_; }

  // Handles whole frames from the beginning of `input`, in order. `consumed` bytes are done with;
  // the caller gives the rest again, with more behind it. Acknowledgements stay pending until
  // flush_acknowledgements() or the next reply, which they precede. Questions are answered until
  // they have cost `budget` or taken kTurnNs; none if `budget` is 0. Rows cost nothing here,
  // because a full window holds their senders up.
  struct Turn {
    TurnEnd end = TurnEnd::kNeedInput;
    std::size_t consumed = 0;
    bool secret = false;          // a token was in the consumed bytes: wipe them
    std::int64_t cost = 0;        // to be charged
    std::uint32_t frames = 0;     // how many are done with
    std::uint32_t questions = 0;  // among them
  };
  Turn handle(std::span<const std::byte> input, ReplyBuffer& replies,
              std::int64_t budget = kTurnNs) noexcept;

  // Appends the pending acknowledgements that fit and whose frames are as durable as they say.
  void flush_acknowledgements(ReplyBuffer& replies) noexcept { rows_.acks().flush(replies); }

  RowIntake& rows() noexcept { return rows_; }
  const RowIntake& rows() const noexcept { return rows_; }
  const Questions& questions() const noexcept { return questions_; }
  // See PeerRights.
  std::optional<OwnLimits> new_limits() noexcept { return rights_.new_limits(); }
  bool is_greeted() const noexcept { return about_ != nullptr; }
  bool same_identity_as(const Conversation& other) const noexcept {
    return rights_.who().same_as(other.rights_.who());
  }

  // Refuses as below, with the reason why frames wait, and drops the acknowledgements that still
  // wait for the disk: their rows have been taken, but the peer is not told.
  void give_up(ReplyBuffer& replies) noexcept;

  // Appends a refusal after which the connection closes, if it fits.
  void refuse_and_close(Refusal reason, std::uint64_t number, ReplyBuffer& replies,
                        std::uint64_t id = 0) noexcept;

  // The peer is gone: other connections may claim its producers.
  void end() noexcept;

  // A model leaves the server. If the peer has named it, what can be acknowledged is, the refusal
  // UNKNOWN_MODEL follows, and nothing of the model is touched afterwards. True: the connection is
  // to close.
  bool leave(const ModelContext& gone, ReplyBuffer& replies) noexcept;

 private:
  TurnEnd dispatch(const RequestView& request, ReplyBuffer& replies) noexcept;
  RoleSet roles_on(const ModelContext* model) noexcept {
    return rights_.on_model(static_cast<std::size_t>(model - context_.models.data()));
  }
  bool may_cost(const RequestView& request) const noexcept;
  bool has_place(std::uint64_t& most) const noexcept;
  bool may_stay() noexcept;
  TurnEnd not_permitted(const RequestView& request, Role needed, ReplyBuffer& replies) noexcept;
  TurnEnd hello(std::uint64_t id, const HelloRequest& hello, ReplyBuffer& replies) noexcept;

  const ConversationContext& context_;
  PeerRights rights_;
  ModelContext* about_ = nullptr;  // what Hello has named; null before it
  PlaceKind place_ = PlaceKind::kEverybodys;
  RowIntake rows_;
  Questions questions_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONVERSATION_H_
