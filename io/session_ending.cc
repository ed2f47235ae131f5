// How a session ends: drained, after its last replies, or at once.
#include "windhover/io/session.h"

namespace windhover {

void Session::drain() noexcept {
  if (stage_ != Stage::kHere || drain_.on) return;
  drain_.on = true;
  drain_.since_ns = context_.state->now_ns();
  // Operations under way come back as aborted, and their handlers go on with a turn. A turn that
  // waits for the window, for room or in a queue goes on by itself.
  drain_.until_ns = context_.state->now_ns() + context_.state->limits.drain_timeout_ns / 2;
  socket_->cancel();
  if (throttled_since_ns_ != 0) {
    throttled_since_ns_ = 0;
    schedule_turn();
  }
}

void Session::leave(const ModelContext& gone) noexcept {
  if (conversation_.leave(gone, outgoing_.buffer()) && stage_ == Stage::kHere) say_goodbye();
}

void Session::say_goodbye() noexcept {
  stage_ = Stage::kParting;
  write();
  if (stage_ == Stage::kParting && !outgoing_.is_under_way()) linger_when_settled();
}

// Acknowledgements that wait for the disk are sent before the connection closes.
void Session::linger_when_settled() noexcept {
  if (conversation_.rows().acks().wait_for_log()) return;
  // A peer that has long been quiet is not about to send, so closing at once resets nothing.
  const bool quiet = drain_.on && context_.state->now_ns() - deadlines_.heard_ns() > kQuietNs &&
                     socket_->available() == 0;
  if (peer_finished_ || quiet) return abort();
  stage_ = Stage::kLingers;
  deadlines_.lingers(context_.state->now_ns());
  socket_->shutdown_send();
  input_.clear();
  if (!read_.under_way) read();
}

void Session::fail() noexcept {
  context_.state->counters.add(IoCounter::kSocketErrors);
  abort();
}

void Session::abort() noexcept {
  if (stage_ == Stage::kNobody || stage_ == Stage::kIsClosed) return;
  stage_ = Stage::kIsClosed;
  socket_->close();
  conversation_.end();
  turns_->leave(*this);
  context_.state->counters.add(IoCounter::kConnectionsClosed);
  settle();
}

// Operations refer to this session's memory: it is free again when all have come back.
void Session::settle() noexcept {
  if (read_.under_way || outgoing_.is_under_way() || turn_.under_way) return;
  stage_ = Stage::kNobody;
  host_->on_free(*this);
}

}  // namespace windhover
