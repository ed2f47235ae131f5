// One connection's half of the protocol, without the connection: bytes received in, replies out.
#ifndef WINDHOVER_IO_CONVERSATION_H_
#define WINDHOVER_IO_CONVERSATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "windhover/io/access/access.h"
#include "windhover/io/ack_queue.h"
#include "windhover/io/durable/frame_feed.h"
#include "windhover/io/messages.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/query_handler.h"
#include "windhover/io/replies.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/io/server_state.h"

namespace windhover {

// One model as one endpoint speaks of it; without a model a place that is free. `producers` is null
// where nothing is observed, `feed` where frames go no further than the window.
struct ModelContext {
  ServedModel* model = nullptr;
  QueryHandler* queries = nullptr;
  ProducerTable* producers = nullptr;
  FrameFeed* feed = nullptr;
};

class Conversation;

// Who may have a place, as an endpoint knows that sees all connections.
class Places {
 public:
  // How many other connections that have said Hello are of the same identity.
  virtual std::size_t of_same_identity(const Conversation& as) const noexcept = 0;
  // Whether an admin who has come when all is taken may stay.
  virtual bool admins_is_free() const noexcept = 0;

 protected:
  ~Places() = default;
};

// What every conversation of one endpoint shares.
struct ConversationContext {
  ServerState* state = nullptr;
  std::span<ModelContext> models;  // the first is that of a Hello that names none
  // Null: every question is answered at once.
  LongPredict* long_predict = nullptr;
  bool rows_only = false;             // no questions but Status and ProducerStatus
  PredictScratch* scratch = nullptr;  // of questions answered at once, and of outcomes
  const Places* places = nullptr;     // null: there are no others

  ModelContext* find(std::string_view name) const noexcept;  // null: there is none
  std::size_t count() const noexcept;                        // how many there are
  QueryHandler& handler(const ModelContext& about, RequestKind kind) const noexcept;
};

// One Observe with rows, or one Outcome, once it is known what becomes of each of them.
struct JudgedFrame {
  std::uint64_t id = 0;        // of the request
  std::uint64_t producer = 0;  // 0: of none
  std::uint64_t next = 0;      // the sequence number expected of it from now on; 0 without producer
  std::uint64_t accepted = 0;  // accepted + refused + duplicate are the frame's rows
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;  // rows accepted from everybody before it
};

// Why handle() stopped.
enum class TurnEnd : std::uint8_t {
  kNeedInput,   // the rest is not a whole frame
  kNeedRoom,    // the next answer does not fit until replies have been sent
  kWindowFull,  // the next Observe has to be tried again a little later
  kLogBehind,   // the next answer has to wait until more is on disk
  kBudget,      // enough rows for one turn; others wait
  kQuestion,    // a question, or the rest of one, waits for its turn
  kPlace,       // a long question waits until the one before it is answered
  kClose,       // a refusal that says why is the last reply; send it and close
};

// Some rows of the model whose key has timed out are let go, or are observations, as its
// configuration says. True: there may be more, for which there is room. The observe thread's.
bool settle_labels(const ModelContext& about, ServerState& state) noexcept;

class Conversation {
 public:
  explicit Conversation(const ConversationContext& context) noexcept : context_(context) {}

  // A new peer, and what is known of who it is.
  void begin(const Credential& peer = {}, PlaceKind place = PlaceKind::kEverybodys) noexcept;
  // kEverybodys also of an admin who has been let in.
  PlaceKind place() const noexcept { return place_; }

  // Handles whole frames from the beginning of `input`, in order. `consumed` bytes are done with;
  // what is left comes again, with more behind it. Acknowledgements stay pending until
  // flush_acknowledgements() or the next reply, which they precede. Questions are answered until
  // they have cost `budget`, or taken so many nanoseconds: none if that is 0. Rows cost nothing
  // here, because the window holds their senders up.
  struct Turn {
    TurnEnd end = TurnEnd::kNeedInput;
    std::size_t consumed = 0;
    bool secret = false;          // there was a token in them: wipe them
    std::int64_t cost = 0;        // to be charged
    std::uint32_t frames = 0;     // that are done with
    std::uint32_t questions = 0;  // among them
  };
  Turn handle(std::span<const std::byte> input, ReplyBuffer& replies,
              std::int64_t budget = kTurnNs) noexcept;

  // Appends the pending acknowledgements that fit and whose frames are as durable as they say.
  void flush_acknowledgements(ReplyBuffer& replies) noexcept;
  // Whether one waits for the disk.
  bool waits_for_log() const noexcept {
    return !acks_.empty() && !acks_.is_ready(durable_frames());
  }

  // What has come to the disk of what this is about.
  std::uint64_t durable_frames() const noexcept {
    return about_ != nullptr && about_->feed != nullptr ? about_->feed->durable_frames() : 0;
  }
  // Whether it has the place of a long question.
  bool is_answering() const noexcept {
    return context_.long_predict != nullptr && context_.long_predict->asker() == this;
  }
  // See PeerRights.
  std::optional<OwnLimits> new_limits() noexcept { return rights_.new_limits(); }
  bool is_greeted() const noexcept { return about_ != nullptr; }
  // Whether it has said Hello where rows are taken.
  bool observes() const noexcept { return about_ != nullptr && about_->producers != nullptr; }
  bool same_identity_as(const Conversation& other) const noexcept {
    return rights_.who().same_as(other.rights_.who());
  }

  // Why a frame that waits for room does: the window is full, or the log is.
  Refusal why_it_waits() const noexcept;
  // Refuses as below, and forgets the acknowledgements that still wait for the disk: their rows
  // have been taken, and nobody was told.
  void give_up(Refusal reason, ReplyBuffer& replies) noexcept;

  // Appends a refusal after which the connection closes, if it fits.
  void refuse_and_close(Refusal reason, std::uint64_t number, ReplyBuffer& replies,
                        std::uint64_t id = 0) noexcept;

  // The peer is gone: its producers may be claimed by others.
  void end() noexcept;

  // A model leaves the server. Where this is about it: what can be acknowledged is, the refusal
  // UNKNOWN_MODEL says why it ends, and nothing of the model is touched any more. True: it was, and
  // the connection is to close.
  bool leave(const ModelContext& gone, ReplyBuffer& replies) noexcept;

  // Whether this is the one that the window's next room is for. Those that only ask never are, and
  // their thread must not look.
  bool first_in_line() const noexcept { return observes() && about_->model->first_in_line == this; }
  // Lets others have it.
  void leave_line() noexcept {
    if (first_in_line()) about_->model->first_in_line = nullptr;
  }

 private:
  bool answers(RequestKind kind) const noexcept;
  TurnEnd dispatch(const RequestView& request, ReplyBuffer& replies) noexcept;
  RoleSet roles_on(const ModelContext* model) noexcept {
    return rights_.on_model(static_cast<std::size_t>(model - context_.models.data()));
  }
  bool may_come(const ModelContext* named) noexcept;
  bool has_place(std::uint64_t& most) const noexcept;
  ProducerOwner owner() noexcept;
  bool may_stay() noexcept;
  bool may(const RequestView& request, Role& needed) noexcept;
  TurnEnd not_permitted(const RequestView& request, Role needed, ReplyBuffer& replies) noexcept;
  TurnEnd hello(std::uint64_t id, const HelloRequest& hello, ReplyBuffer& replies) noexcept;
  void welcome(std::uint64_t id, ReplyBuffer& replies) noexcept;
  TurnEnd observe(std::uint64_t id, const ObserveRequest& request, ReplyBuffer& replies) noexcept;
  TurnEnd outcome(std::uint64_t id, const OutcomeQuery& query, ReplyBuffer& replies) noexcept;
  TurnEnd producer_status(std::uint64_t id, std::uint64_t producer, ReplyBuffer& replies) noexcept;
  bool may_cost(const RequestView& request) const noexcept;
  TurnEnd query(const RequestView& request, ReplyBuffer& replies) noexcept;
  TurnEnd directory(const RequestView& request, ReplyBuffer& replies) noexcept;
  TurnEnd long_query(QueryHandler& queries, const RequestView& request,
                     ReplyBuffer& replies) noexcept;
  void spend(std::int64_t cost, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
  void refuse(std::uint64_t id, Refusal reason, std::uint64_t number,
              ReplyBuffer& replies) noexcept;
  TurnEnd refuse_frame(std::uint64_t id, std::size_t rows, Refusal reason, std::uint64_t number,
                       ReplyBuffer& replies) noexcept;
  Refusal check_sequence(const ObserveRequest& request, ProducerEntry*& entry,
                         std::uint64_t& number) noexcept;
  bool may_judge(std::uint64_t rows, ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  // `take` hands the rows to the engine and gives what came of them.
  template <class Take>
  bool judge(std::uint64_t rows, JudgedFrame& frame, ObserveResult& result, Take&& take) noexcept;
  void log(const JudgedFrame& frame) noexcept;
  void count(const JudgedFrame& frame) noexcept;
  void count_refused(std::uint64_t rows) noexcept;
  void acknowledge(const JudgedFrame& frame, const ObserveResult& result,
                   bool of_outcome = false) noexcept;
  bool settled(ReplyBuffer& replies, TurnEnd& why_not) noexcept;
  std::int64_t turn_ns() noexcept;

  const ConversationContext& context_;
  PeerRights rights_;
  ModelContext* about_ = nullptr;  // what Hello has named; null before it
  PlaceKind place_ = PlaceKind::kEverybodys;
  std::int64_t budget_ = 0;                      // of this turn
  std::int64_t spent_ = 0;                       // of it
  std::uint32_t questions_ = 0;                  // answered in it
  std::int64_t turn_ends_ns_ = 0;                // 0: no question has been answered in it yet
  std::int64_t turn_ns_ = 0;                     // when this turn looked at the clock; 0: not yet
  Durability durability_ = Durability::kMemory;  // what an acknowledgement here stands for
  ProducerClaims claims_;
  ProducerEntry* producer_ = nullptr;  // that of the newest Observe
  AckQueue acks_;
  std::array<RefusedRow, ObserveAckReply::kMaxListed> refused_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONVERSATION_H_
