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
#include "windhover/io/peer_socket.h"
#include "windhover/io/read_buffer.h"
#include "windhover/io/reply_buffer.h"
#include "windhover/platform/arena.h"

namespace windhover {

class Session;

// What a session tells the endpoint it belongs to.
class SessionHost {
 public:
  // Nothing can go on for now (the window is full, bytes are on their way): call session.resume() a
  // little later.
  virtual void on_pause(Session& session) noexcept = 0;
  // It is over its limits: call session.read_on() now and then.
  virtual void on_throttle(Session& session) noexcept = 0;
  // What questions of it may cost without a wait; 0: others wait already.
  virtual std::int64_t budget() const noexcept = 0;
  // Its turn has cost so much.
  virtual void on_cost(Session& session, std::int64_t cost) noexcept = 0;
  // A question waits: call session.take_turn() when it is its turn, for a long one when the place
  // is free.
  virtual void on_question(Session& session, bool needs_place) noexcept = 0;
  // It is closed, waits for no turn any more, and keeps no place.
  virtual void on_closed(Session& session) noexcept = 0;
  // The session is free again; none of its operations is under way.
  virtual void on_free(Session& session) noexcept = 0;

 protected:
  ~SessionHost() = default;
};

// Reads, hands whole frames to the conversation, writes what it replied, in one write a turn; reads
// on while a write waits for the peer, so a peer that does not read its acknowledgements is still
// heard, and stops reading (TCP pushes back) while the window is full or replies find no room.
// Everything happens on the endpoint's thread. No allocation: the socket object is made by bind().
class Session {
 public:
  // Takes memory, writes nothing.
  Session(Arena& arena, const Limits& limits, const ConversationContext& context) noexcept;

  // Before use, once.
  void bind(IoContext& io, SessionHost& host);

  bool is_free() const noexcept { return state_ == State::kFree; }
  bool is_open() const noexcept { return state_ == State::kOpen; }

  // Takes a connected socket over. REQUIRES: is_free().
  void begin(Stream&& socket, PlaceKind place = PlaceKind::kEverybodys) noexcept;

  bool is_greeted() const noexcept { return conversation_.is_greeted(); }
  // Whether it is on a place kept for who looks after the server, and not an admin.
  bool is_on_trial() const noexcept { return conversation_.place() != PlaceKind::kEverybodys; }
  // Whether nobody is known at it, or all is said: then it may be let go for one that comes.
  bool gives_way() const noexcept {
    return state_ == State::kLingering ||
           ((state_ == State::kOpen || state_ == State::kLastWords) && !is_greeted());
  }
  bool is_lingering() const noexcept { return state_ == State::kLingering; }
  bool is_closing() const noexcept { return state_ == State::kClosed; }
  bool is_stranger() const noexcept { return gives_way() && !is_lingering() && !is_greeted(); }
  // Of where the peer is, see Credential::of_address(): what tells addresses apart.
  std::uint64_t address() const noexcept { return address_; }
  const Conversation& conversation() const noexcept { return conversation_; }
  // Whether its peer has not sent a byte yet.
  bool is_mute() noexcept;
  std::int64_t begun_ns() const noexcept { return begun_ns_; }

  // Whether it waits for room in the window or the log, and before all others: see
  // ServedModel::first_in_line.
  bool waits_for_window() const noexcept {
    return state_ == State::kOpen && stopped_by_ == TurnEnd::kWindowFull;
  }
  bool first_in_line() const noexcept { return conversation_.first_in_line(); }
  void leave_line() noexcept { conversation_.leave_line(); }

  // Goes on after on_pause(); nothing for other sessions.
  void resume() noexcept;
  // Goes on after on_throttle(), if it has tokens again.
  void read_on() noexcept;
  // Goes on after on_question().
  void take_turn() noexcept;
  // More is on disk: sends what waited for that, and goes on.
  void on_durable() noexcept;

  // A model leaves the server: who speaks of it is told, and let go.
  void leave(const ModelContext& gone) noexcept;

  // Looks at the clock: a peer that has been silent or has not read for too long is let go.
  void check_timeouts(std::int64_t now_ns) noexcept;

  // Handles what the peer has sent so far, answers, and closes.
  void drain() noexcept;

  // Closes at once.
  void abort() noexcept;

 private:
  // How long a peer may take to notice that we said goodbye. Closing with unread bytes would reset
  // the connection, and the peer might lose the refusal that says why.
  static constexpr std::int64_t kLingerNs = 1'000'000'000;
  static constexpr std::int64_t kQuietNs = 100'000'000;  // a peer silent for so long is quiet

  enum class State : std::uint8_t {
    kFree,
    kOpen,       // reading and answering
    kLastWords,  // nothing more is handled; replies are being sent
    kLingering,  // all is sent; what the peer still sends is thrown away until it closes
    kClosed,     // operations under way are coming back
  };

  // One at a time of a kind.
  struct Operation {
    HandlerMemory memory;
    bool under_way = false;
  };
  // What a peer has sent before the end is still handled.
  struct Drain {
    bool on = false;
    bool in_grace = false;  // waits for bytes that are still on their way
    std::int64_t since_ns = 0;
    std::int64_t until_ns = 0;
  };

  void turn() noexcept { turn(host_->budget()); }
  void turn(std::int64_t budget) noexcept;
  void read() noexcept;
  void take_up_limits() noexcept;
  bool is_over_limits() noexcept;
  void read_now() noexcept;
  void on_read(const ErrorCode& error, std::size_t bytes) noexcept;
  void write() noexcept;
  void on_written(const ErrorCode& error, std::size_t bytes) noexcept;
  void schedule_turn() noexcept;
  void say_goodbye() noexcept;
  void linger_when_settled() noexcept;
  bool peer_is_gone(std::int64_t now_ns) noexcept;
  bool peer_is_late(std::int64_t now_ns) const noexcept;
  bool peer_does_not_read(std::int64_t now_ns) const noexcept;
  bool has_waited_long(std::int64_t now_ns) noexcept;
  void has_taken(std::size_t bytes) noexcept;
  void linger() noexcept;
  void fail() noexcept;
  void settle() noexcept;
  std::int64_t now() const noexcept { return context_.state->clock->now_ns(); }

  const ConversationContext& context_;
  SessionHost* host_ = nullptr;
  std::optional<PeerSocket> socket_;
  Conversation conversation_;
  ReadBuffer input_;
  ReplyBuffer replies_;
  ConnectionMeter meter_;

  State state_ = State::kFree;
  Operation read_;
  Operation write_;
  Operation turn_;                            // that is scheduled
  TurnEnd stopped_by_ = TurnEnd::kNeedInput;  // the last turn
  std::int64_t throttled_since_ns_ = 0;       // 0: it is read
  std::int64_t waiting_since_ns_ = 0;         // for the window or the disk; 0: not
  bool peer_finished_ = false;                // the peer has closed its direction
  std::int64_t heard_ns_ = 0;                 // when the peer last sent or let us go on
  std::int64_t written_ns_ = 0;  // when the peer last took something, or had nothing to take
  std::int64_t lingering_since_ns_ = 0;
  std::int64_t begun_ns_ = 0;
  std::uint64_t address_ = 0;
  std::int64_t frame_since_ns_ = 0;  // when the frame that is not whole began to come; 0: none
  // Bytes of replies that had to wait at one time, of which so many are left; those that came
  // behind them are looked at when these are taken.
  std::size_t owed_bytes_ = 0;
  std::int64_t owed_since_ns_ = 0;
  std::uint64_t log_seen_ = 0;  // where the log stood when an acknowledgement was found waiting
  std::int64_t log_waiting_since_ns_ = 0;  // 0: none does
  Drain drain_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SESSION_H_
