// One connection: a socket, a fixed read buffer, fixed room for replies, and a conversation.
#ifndef WINDHOVER_IO_SESSION_H_
#define WINDHOVER_IO_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "windhover/io/asio_types.h"
#include "windhover/io/connection_meter.h"
#include "windhover/io/conversation.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/occupant.h"
#include "windhover/io/outgoing_replies.h"
#include "windhover/io/peer_deadlines.h"
#include "windhover/io/peer_socket.h"
#include "windhover/io/read_buffer.h"
#include "windhover/platform/arena.h"

namespace windhover {

class Session;

// What a session tells the endpoint it belongs to.
class SessionHost {
 public:
  // The session waits (the window is full, or bytes are on their way): call session.resume() a
  // little later.
  virtual void on_pause(Session& session) noexcept = 0;
  // The session is over its limits: call session.read_on() now and then.
  virtual void on_throttle(Session& session) noexcept = 0;
  // The session is free again; none of its operations is under way.
  virtual void on_free(Session& session) noexcept = 0;

 protected:
  ~SessionHost() = default;
};

// Decides when a session's questions are answered.
class SessionTurns {
 public:
  // What questions may cost in a turn without a wait; 0: they have to wait for their turn.
  virtual std::int64_t budget() const noexcept = 0;
  // A turn of the session has cost `cost`.
  virtual void charge(const Session& session, std::int64_t cost) noexcept = 0;
  // A question waits: session.take_turn() is called when it is its turn, and with `needs_place` the
  // place of long questions is free.
  virtual void wait(const Session& session, bool needs_place) noexcept = 0;
  // The session is closed and waits for no turn any more.
  virtual void leave(const Session& session) noexcept = 0;

 protected:
  ~SessionTurns() = default;
};

// Reads, hands whole frames to the conversation, and writes its replies, in one write a turn. It
// reads on while a write waits for the peer, so that a peer that does not read its acknowledgements
// is still heard; it stops reading, so that TCP pushes back, while the window is full or replies
// find no room. Everything happens on the endpoint's thread. Only bind() allocates.
class Session {
 public:
  // Takes memory, writes nothing.
  Session(Arena& arena, const Limits& limits, const ConversationContext& context) noexcept;

  // Before use, once.
  void bind(IoContext& io, SessionHost& host, SessionTurns& turns);

  Occupant occupant() const noexcept;
  const Conversation& conversation() const noexcept { return conversation_; }

  // Takes a connected socket over. REQUIRES: occupant().is_free().
  void begin(Stream&& socket, PlaceKind place = PlaceKind::kEverybodys) noexcept;

  // Gives up the first place in line for room (ServedModel::first_in_line) if it has it and does
  // not wait for room any more.
  void leave_line_when_done() noexcept;

  // Goes on after on_pause(); no effect on sessions that do not wait.
  void resume() noexcept;
  // Goes on after on_throttle(), if it has tokens again.
  void read_on() noexcept;
  // Goes on after SessionTurns::wait().
  void take_turn() noexcept;
  // More is on disk: sends what waited for that, and goes on.
  void on_durable() noexcept;

  // A model leaves the server: a peer that has named it is refused, and the connection closes.
  void leave(const ModelContext& gone) noexcept;

  // Closes the connection if its peer has been silent, has not read, or has waited for too long.
  void check_timeouts(std::int64_t now_ns) noexcept;

  // Handles what the peer has sent so far, answers, and closes.
  void drain() noexcept;

  // Closes at once.
  void abort() noexcept;

 private:
  static constexpr std::int64_t kQuietNs = 100'000'000;  // silent for so long, a peer is quiet
  using Stage = Occupant::Stage;

  // At most one of each kind is under way.
  struct Operation {
    HandlerMemory memory;
    bool under_way = false;
  };
  // The server stops: what the peer has sent before is still handled.
  struct Drain {
    bool on = false;
    bool in_grace = false;  // waits for bytes that are still on their way
    std::int64_t since_ns = 0;
    std::int64_t until_ns = 0;
  };

  void turn(std::int64_t budget) noexcept;
  void read() noexcept;
  bool is_over_limits() noexcept;
  void read_now() noexcept;
  void on_read(const ErrorCode& error, std::size_t bytes) noexcept;
  void write() noexcept;
  void on_written(const ErrorCode& error, std::size_t bytes) noexcept;
  void schedule_turn() noexcept;
  void say_goodbye() noexcept;
  void linger_when_settled() noexcept;
  void fail() noexcept;
  void settle() noexcept;

  const ConversationContext& context_;
  SessionHost* host_ = nullptr;
  SessionTurns* turns_ = nullptr;
  std::optional<PeerSocket> socket_;
  Conversation conversation_;
  ReadBuffer input_;
  OutgoingReplies outgoing_;
  ConnectionMeter meter_;
  PeerDeadlines deadlines_;

  Stage stage_ = Stage::kNobody;
  Operation read_;
  Operation turn_;                            // the turn that is scheduled
  TurnEnd stopped_by_ = TurnEnd::kNeedInput;  // the last turn
  std::int64_t throttled_since_ns_ = 0;       // 0: not over its limits
  bool peer_finished_ = false;                // the peer has closed its direction
  std::uint64_t address_ = 0;
  Drain drain_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SESSION_H_
