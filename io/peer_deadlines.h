// How long a peer may take for each thing, and since when it has been at it.
#ifndef WINDHOVER_IO_PEER_DEADLINES_H_
#define WINDHOVER_IO_PEER_DEADLINES_H_

#include <cstdint>

#include "windhover/io/server_state.h"

namespace windhover {

// Invariant: each member is the time at which what it is named after began, or 0 while that does
// not go on. It reads neither clock nor socket. The endpoint's thread.
class PeerDeadlines {
 public:
  // How long a session lingers after the last reply. Closing with unread bytes would reset the
  // connection, and the peer might lose the refusal that says why.
  static constexpr std::int64_t kLingerNs = 1'000'000'000;

  // What the session does.
  struct Doing {
    bool handles = false;        // it handles what comes
    bool greeted = false;        // the peer has said Hello
    bool on_trial = false;       // see Occupant
    bool reads = false;          // it waits for bytes of the peer
    bool writes = false;         // the peer has something to take
    bool waits_for_log = false;  // the next answer waits for the log, or an acknowledgement does
  };

  // Begins with a new peer.
  void begin(std::int64_t now_ns) noexcept;

  // The peer has sent or taken something, or has been let go on: it is not silent.
  void heard(std::int64_t now_ns) noexcept { heard_ns_ = now_ns; }
  // The peer was not read for a while, in which it could not finish a frame either.
  void listens_again(std::int64_t now_ns) noexcept;
  // A turn has ended. `some`: bytes were handled; `left`: some bytes remain; `needs_rest`: they are
  // a part of a frame, whose rest has to come.
  void handled(bool some, bool left, bool needs_rest) noexcept;
  // The next frame begins to wait for room in the window or the log, or waits no more.
  void waits_for_room(std::int64_t now_ns) noexcept;
  void has_room() noexcept { room_since_ns_ = 0; }
  // All replies are sent.
  void lingers(std::int64_t now_ns) noexcept { lingers_since_ns_ = now_ns; }

  std::int64_t begun_ns() const noexcept { return begun_ns_; }
  std::int64_t heard_ns() const noexcept { return heard_ns_; }
  std::int64_t room_since_ns() const noexcept { return room_since_ns_; }  // 0: it does not wait

  // Whether the peer has taken too long for a Hello, for the rest of a frame, to send anything, or
  // on a place where it is on trial. While a frame waits for the window, for room or for its turn
  // the peer is not read, and can be late only on such a place.
  bool is_late(const Doing& doing, const Limits& limits, std::int64_t now_ns) const noexcept;
  // Whether the peer has been silent for longer than idle_timeout.
  bool is_silent(const Limits& limits, std::int64_t now_ns) const noexcept {
    return now_ns - heard_ns_ > limits.idle_timeout_ns;
  }
  bool lingers_too_long(std::int64_t now_ns) const noexcept {
    return now_ns - lingers_since_ns_ > kLingerNs;
  }
  // Whether the peer has waited for wait_timeout: for room in the window or the log, or, while an
  // acknowledgement waits, for a disk that confirms nothing (`durable_frames` stands still). Called
  // now and then.
  bool has_waited_long(bool waits_for_log, std::uint64_t durable_frames, const Limits& limits,
                       std::int64_t now_ns) noexcept;

 private:
  std::int64_t begun_ns_ = 0;
  std::int64_t heard_ns_ = 0;
  std::int64_t frame_since_ns_ = 0;  // a frame that is not whole
  std::int64_t room_since_ns_ = 0;
  std::int64_t lingers_since_ns_ = 0;
  std::int64_t log_since_ns_ = 0;
  std::uint64_t log_seen_ = 0;  // durable_frames then
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PEER_DEADLINES_H_
