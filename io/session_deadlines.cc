// What a peer may take its time for, and when it is let go.
#include <poll.h>

#include "windhover/io/operator_place.h"
#include "windhover/io/session.h"

namespace windhover {

// While a turn waits nothing is read, so that the end of the connection is not seen either: a peer
// that is gone, or has said all it had to say and waits longer than it might be silent, keeps no
// place.
bool Session::peer_is_gone(std::int64_t now_ns) noexcept {
  const std::int64_t since_ns = waiting_since_ns_ != 0 ? waiting_since_ns_ : throttled_since_ns_;
  if (state_ != State::kOpen || since_ns == 0) return false;
  pollfd peer{socket_->native_handle(), POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) <= 0) return false;
  if ((peer.revents & (POLLHUP | POLLERR)) != 0) return true;
  return now_ns - since_ns > context_.state->limits.idle_timeout_ns;
}

// While it waits for the window, for room or for its turn the session does not listen.
bool Session::peer_is_late(std::int64_t now_ns) const noexcept {
  const Limits& limits = context_.state->limits;
  if (is_on_trial() && now_ns - begun_ns_ > kOperatorLifeNs) return true;
  if (!read_.under_way) return false;
  if (state_ == State::kOpen) {
    if (!conversation_.is_greeted() && now_ns - begun_ns_ > limits.hello_timeout_ns) return true;
    if (frame_since_ns_ != 0 && now_ns - frame_since_ns_ > limits.frame_timeout_ns) return true;
  }
  const bool waits_for_log = stopped_by_ == TurnEnd::kLogBehind || conversation_.waits_for_log();
  return !write_.under_way && !waits_for_log && now_ns - heard_ns_ > limits.idle_timeout_ns;
}

bool Session::peer_does_not_read(std::int64_t now_ns) const noexcept {
  const Limits& limits = context_.state->limits;
  return write_.under_way && (now_ns - written_ns_ > limits.write_timeout_ns ||
                              now_ns - owed_since_ns_ > limits.answer_timeout_ns);
}

// For room in the window or the log, or for a disk that confirms nothing at all.
bool Session::has_waited_long(std::int64_t now_ns) noexcept {
  if (state_ != State::kOpen) return false;
  const std::int64_t most = context_.state->limits.wait_timeout_ns;
  if (waiting_since_ns_ != 0 && now_ns - waiting_since_ns_ > most) return true;
  const std::uint64_t durable = conversation_.durable_frames();
  if (!conversation_.waits_for_log()) {
    log_waiting_since_ns_ = 0;
  } else if (log_waiting_since_ns_ == 0 || durable != log_seen_) {
    log_seen_ = durable;
    log_waiting_since_ns_ = now_ns;
  }
  return log_waiting_since_ns_ != 0 && now_ns - log_waiting_since_ns_ > most;
}

void Session::check_timeouts(std::int64_t now_ns) noexcept {
  if (state_ == State::kLingering && now_ns - lingering_since_ns_ > kLingerNs) return abort();
  if (state_ != State::kOpen && state_ != State::kLastWords) return;
  Counters<IoCounter>& counters = context_.state->counters;
  if (state_ == State::kOpen && socket_->shakes_hands_too_long(now_ns)) {
    counters.add(IoCounter::kTlsTimeouts);
    return abort();
  }
  if (has_waited_long(now_ns)) {
    counters.add(IoCounter::kWaitTimeouts);
    conversation_.give_up(conversation_.why_it_waits(), replies_);
    return say_goodbye();
  }
  const auto is_excused = [this, now_ns] {
    return !is_on_trial() && socket_->available() > 0 &&
           !peer_is_late(now_ns - PeerSocket::kHeldUpNs);
  };
  const bool late = peer_is_late(now_ns) && !is_excused();
  // A disk that confirms nothing keeps nobody's place who has said goodbye.
  const bool gone = state_ == State::kLastWords && conversation_.waits_for_log() &&
                    now_ns - heard_ns_ > context_.state->limits.idle_timeout_ns;
  if (!late && !gone && !peer_does_not_read(now_ns) && !peer_is_gone(now_ns)) return;
  counters.add(IoCounter::kTimeouts);
  if (late) {
    conversation_.refuse_and_close(refusal_of(Status::kTimeout), 0, replies_);
    write();
  }
  abort();
}

}  // namespace windhover
