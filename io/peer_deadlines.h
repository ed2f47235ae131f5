// What a peer may take its time for, and since when it does.
#ifndef WINDHOVER_IO_PEER_DEADLINES_H_
#define WINDHOVER_IO_PEER_DEADLINES_H_

#include <cstdint>

#include "windhover/io/server_state.h"

namespace windhover {

// Invariant: each time that is kept is when what it is named after began, or 0 while it does not go
// on. It looks at no clock and at no socket. The endpoint's thread.
class PeerDeadlines {
 public:
  // How long a peer may take to notice that we said goodbye. Closing with unread bytes would reset
  // the connection, and the peer might lose the refusal that says why.
  static constexpr std::int64_t kLingerNs = 1'000'000'000;

  // What the connection is at.
  struct Doing {
    bool handles = false;        // what comes
    bool greeted = false;        // the peer has said Hello
    bool on_trial = false;       // see Occupant
    bool reads = false;          // it listens
    bool writes = false;         // the peer has something to take
    bool waits_for_log = false;  // the next answer, or an acknowledgement
  };

  // A new peer.
  void begin(std::int64_t now_ns) noexcept;

  // The peer has sent or taken something, or we have let it go on: it is not silent.
  void heard(std::int64_t now_ns) noexcept { heard_ns_ = now_ns; }
  // It was not listened to for a while, in which it could finish no frame either.
  void listens_again(std::int64_t now_ns) noexcept;
  // Bytes were handled, or none; a part of a frame is left, or nothing, and the rest of it is what
  // is needed, or something else.
  void handled(bool some, bool left, bool needs_rest) noexcept;
  // The next frame waits for room in the window or the log, or not any more.
  void waits_for_room(std::int64_t now_ns) noexcept;
  void has_room() noexcept { room_since_ns_ = 0; }
  // All is said.
  void lingers(std::int64_t now_ns) noexcept { lingers_since_ns_ = now_ns; }

  std::int64_t begun_ns() const noexcept { return begun_ns_; }
  std::int64_t heard_ns() const noexcept { return heard_ns_; }
  std::int64_t room_since_ns() const noexcept { return room_since_ns_; }  // 0: it does not wait

  // Whether it has taken too long for a Hello, for the rest of a frame, to say anything, or on a
  // place where it is on trial. While it waits for the window, for room or for its turn nobody
  // listens, and it is late for nothing but that place.
  bool is_late(const Doing& doing, const Limits& limits, std::int64_t now_ns) const noexcept;
  // Whether it has been silent for longer than a peer may be.
  bool is_silent(const Limits& limits, std::int64_t now_ns) const noexcept {
    return now_ns - heard_ns_ > limits.idle_timeout_ns;
  }
  bool lingers_too_long(std::int64_t now_ns) const noexcept {
    return now_ns - lingers_since_ns_ > kLingerNs;
  }
  // Whether the peer has waited too long for room in the window or the log, or, as long as an
  // acknowledgement waits, for a disk that confirms nothing at all: `durable_frames` stands still.
  // Asked now and then.
  bool has_waited_long(bool waits_for_log, std::uint64_t durable_frames, const Limits& limits,
                       std::int64_t now_ns) noexcept;

 private:
  std::int64_t begun_ns_ = 0;
  std::int64_t heard_ns_ = 0;
  std::int64_t frame_since_ns_ = 0;  // one that is not whole
  std::int64_t room_since_ns_ = 0;
  std::int64_t lingers_since_ns_ = 0;
  std::int64_t log_since_ns_ = 0;
  std::uint64_t log_seen_ = 0;  // where it stood then
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PEER_DEADLINES_H_
