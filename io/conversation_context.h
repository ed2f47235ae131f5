// What the conversations of one endpoint share.
#ifndef WINDHOVER_IO_CONVERSATION_CONTEXT_H_
#define WINDHOVER_IO_CONVERSATION_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/durable/frame_feed.h"
#include "windhover/io/messages.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/query_handler.h"
#include "windhover/io/refusal.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/io/server_state.h"

namespace windhover {

// What one endpoint needs of one model. Without `model` the place is free; without `producers` the
// model takes no rows here; without `feed` frames go no further than the window.
struct ModelContext {
  ServedModel* model = nullptr;
  QueryHandler* queries = nullptr;
  ProducerTable* producers = nullptr;
  FrameFeed* feed = nullptr;
};

class Conversation;

// Answers who may have a place: the endpoint does, which sees all connections.
class Places {
 public:
  // How many other connections that have said Hello are of the same identity.
  virtual std::size_t of_same_identity(const Conversation& as) const noexcept = 0;
  // Whether an admin who has come when all places were taken may stay.
  virtual bool admins_is_free() const noexcept = 0;

 protected:
  ~Places() = default;
};

// What every conversation of one endpoint shares.
struct ConversationContext {
  ServerState* state = nullptr;
  std::span<ModelContext> models;  // a Hello that names none is about the first
  // Null: every question is answered in one go.
  LongPredict* long_predict = nullptr;
  bool rows_only = false;             // no questions but Status and ProducerStatus
  PredictScratch* scratch = nullptr;  // for questions answered at once, and for outcomes
  const Places* places = nullptr;     // null: there are no others

  ModelContext* find(std::string_view name) const noexcept;  // null: no such model
  std::size_t count() const noexcept;                        // of models
  QueryHandler& handler(const ModelContext& about, RequestKind kind) const noexcept;
};

// Why Conversation::handle() stopped.
enum class TurnEnd : std::uint8_t {
  kNeedInput,   // the rest is not a whole frame
  kNeedRoom,    // the next answer does not fit until replies have been sent
  kWindowFull,  // the next Observe has to be tried again a little later
  kLogBehind,   // the next answer has to wait until more is on disk
  kBudget,      // enough rows for one turn; others wait
  kQuestion,    // a question, or the rest of one, waits for its turn
  kPlace,       // a long question waits until the one before it is answered
  kClose,       // the last reply is a refusal that says why; send it and close
};

// Appends a refusal, if it fits; `closes`: the connection closes behind it.
void refuse(std::uint64_t id, Refusal reason, std::uint64_t number, ReplyBuffer& replies,
            bool closes = false) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_CONVERSATION_CONTEXT_H_
