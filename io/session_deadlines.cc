// When a connection is closed because of its peer.
#include <poll.h>

#include "windhover/io/session.h"

namespace windhover {
namespace {

// While a turn waits the socket is not read, so the connection's end is not seen. This tells
// whether the peer is gone, or has closed its direction and waits `too_long`: such a peer loses its
// place.
bool is_gone(int socket, bool too_long) noexcept {
  pollfd peer{socket, POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) <= 0) return false;
  return (peer.revents & (POLLHUP | POLLERR)) != 0 || too_long;
}

}  // namespace

void Session::check_timeouts(std::int64_t now_ns) noexcept {
  if (stage_ == Stage::kLingers && deadlines_.lingers_too_long(now_ns)) return abort();
  if (stage_ != Stage::kHere && stage_ != Stage::kParting) return;
  const Limits& limits = context_.state->limits;
  Counters<IoCounter>& counters = context_.state->counters;
  const bool here = stage_ == Stage::kHere;
  if (here && socket_->shakes_hands_too_long(now_ns)) {
    counters.add(IoCounter::kTlsTimeouts);
    return abort();
  }
  const Acknowledgements& acks = conversation_.rows().acks();
  const bool log = acks.wait_for_log();
  if (here && deadlines_.has_waited_long(log, acks.durable_frames(), limits, now_ns)) {
    counters.add(IoCounter::kWaitTimeouts);
    conversation_.give_up(outgoing_.buffer());
    return say_goodbye();
  }
  const PeerDeadlines::Doing doing = {.handles = here,
                                      .greeted = conversation_.is_greeted(),
                                      .on_trial = conversation_.place() != PlaceKind::kEverybodys,
                                      .reads = read_.under_way,
                                      .writes = outgoing_.is_under_way(),
                                      .waits_for_log = log || stopped_by_ == TurnEnd::kLogBehind};
  const auto is_excused = [&] {
    return !doing.on_trial && socket_->available() > 0 &&
           !deadlines_.is_late(doing, limits, now_ns - PeerSocket::kHeldUpNs);
  };
  const bool late = deadlines_.is_late(doing, limits, now_ns) && !is_excused();
  // A parting peer does not keep its place for a disk that confirms nothing.
  const bool unheard = !here && log && deadlines_.is_silent(limits, now_ns);
  const auto is_gone_while_waiting = [&] {
    const std::int64_t room = deadlines_.room_since_ns();
    const std::int64_t since_ns = room != 0 ? room : throttled_since_ns_;
    return here && since_ns != 0 &&
           is_gone(socket_->native_handle(), now_ns - since_ns > limits.idle_timeout_ns);
  };
  if (!late && !unheard && !outgoing_.is_stuck(limits, now_ns) && !is_gone_while_waiting()) return;
  counters.add(IoCounter::kTimeouts);
  if (late) {
    conversation_.refuse_and_close(refusal_of(Status::kTimeout), 0, outgoing_.buffer());
    write();
  }
  abort();
}

}  // namespace windhover
