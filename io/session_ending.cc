// How a session ends: drained, with a goodbye, for a silent peer, or at once.
#include <poll.h>

#include "windhover/io/session.h"

namespace windhover {
namespace {

// How long a peer may take to notice that we said goodbye. Closing with unread bytes would reset
// the connection, and the peer might lose the refusal that says why.
constexpr std::int64_t kLingerNs = 1'000'000'000;

}  // namespace

void Session::drain() noexcept {
  if (state_ != State::kOpen || drain_.on) return;
  drain_.on = true;
  drain_.since_ns = now();
  // Operations under way come back as aborted and go on from there; a turn that waits for the
  // window, for room or for its place in the queue goes on by itself.
  ErrorCode ignored;
  drain_.until_ns = now() + context_.state->limits.drain_timeout_ns / 2;
  socket_->cancel(ignored);
}

void Session::say_goodbye() noexcept {
  state_ = State::kLastWords;
  write();
  if (state_ == State::kLastWords && !write_.under_way) linger_when_settled();
}

// What the disk has not confirmed yet is said before the connection closes.
void Session::linger_when_settled() noexcept {
  if (!conversation_.waits_for_log()) linger();
}

void Session::linger() noexcept {
  ErrorCode ignored;
  // A peer that has long been quiet is not about to send, so closing at once resets nothing.
  const bool quiet = drain_.on && now() - heard_ns_ > kQuietNs && socket_->available(ignored) == 0;
  if (peer_finished_ || quiet) return abort();
  state_ = State::kLingering;
  lingering_since_ns_ = now();
  socket_->shutdown(Stream::shutdown_send, ignored);
  input_.clear();
  if (!read_.under_way) read();
}

void Session::fail() noexcept {
  context_.state->counters.add(IoCounter::kSocketErrors);
  abort();
}

void Session::abort() noexcept {
  if (state_ == State::kFree || state_ == State::kClosed) return;
  state_ = State::kClosed;
  ErrorCode ignored;
  socket_->close(ignored);
  conversation_.end();
  host_->on_closed(*this);
  context_.state->counters.add(IoCounter::kConnectionsClosed);
  settle();
}

// The operations refer to this session's memory: it is free when all have come back.
void Session::settle() noexcept {
  if (read_.under_way || write_.under_way || turn_.under_way) return;
  state_ = State::kFree;
  host_->on_free(*this);
}

// While a turn waits nothing is read, so that the end of the connection is not seen either: a peer
// that is gone, or has said all it had to say and waits longer than it might be silent, keeps no
// place.
bool Session::peer_is_gone(std::int64_t now_ns) noexcept {
  if (state_ != State::kOpen || waiting_since_ns_ == 0) return false;
  pollfd peer{socket_->native_handle(), POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) <= 0) return false;
  if ((peer.revents & (POLLHUP | POLLERR)) != 0) return true;
  return now_ns - waiting_since_ns_ > context_.state->limits.idle_timeout_ns;
}

void Session::check_timeouts(std::int64_t now_ns) noexcept {
  const Limits& limits = context_.state->limits;
  switch (state_) {
    case State::kLingering:
      if (now_ns - lingering_since_ns_ > kLingerNs) abort();
      return;
    case State::kOpen:
    case State::kLastWords:
      break;
    default:
      return;
  }
  const bool unread = write_.under_way && now_ns - written_ns_ > limits.write_timeout_ns;
  // While it waits for the window or for room the session does not listen.
  const bool waits_for_log = stopped_by_ == TurnEnd::kLogBehind || conversation_.waits_for_log();
  const bool silent = read_.under_way && !write_.under_way && !waits_for_log &&
                      now_ns - heard_ns_ > limits.idle_timeout_ns;
  // A disk that confirms nothing keeps nobody's place who has said goodbye.
  const bool gone =
      state_ == State::kLastWords && waits_for_log && now_ns - heard_ns_ > limits.idle_timeout_ns;
  if (!unread && !silent && !gone && !peer_is_gone(now_ns)) return;
  context_.state->counters.add(IoCounter::kTimeouts);
  if (silent) {
    conversation_.refuse_and_close(refusal_of(Status::kTimeout), 0, replies_);
    write();
  }
  abort();
}

}  // namespace windhover
