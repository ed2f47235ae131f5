#include "windhover/io/peer_deadlines.h"

#include "windhover/io/operator_place.h"

namespace windhover {

void PeerDeadlines::begin(std::int64_t now_ns) noexcept {
  begun_ns_ = heard_ns_ = now_ns;
  frame_since_ns_ = room_since_ns_ = log_since_ns_ = 0;
}

void PeerDeadlines::listens_again(std::int64_t now_ns) noexcept {
  heard_ns_ = now_ns;
  if (frame_since_ns_ != 0) frame_since_ns_ = now_ns;
}

void PeerDeadlines::handled(bool some, bool left, bool needs_rest) noexcept {
  if (some || !left) frame_since_ns_ = 0;
  if (needs_rest && frame_since_ns_ == 0 && left) frame_since_ns_ = heard_ns_;
}

void PeerDeadlines::waits_for_room(std::int64_t now_ns) noexcept {
  if (room_since_ns_ == 0) room_since_ns_ = now_ns;
}

bool PeerDeadlines::is_late(const Doing& doing, const Limits& limits,
                            std::int64_t now_ns) const noexcept {
  if (doing.on_trial && now_ns - begun_ns_ > kOperatorLifeNs) return true;
  if (!doing.reads) return false;
  if (doing.handles) {
    if (!doing.greeted && now_ns - begun_ns_ > limits.hello_timeout_ns) return true;
    if (frame_since_ns_ != 0 && now_ns - frame_since_ns_ > limits.frame_timeout_ns) return true;
  }
  return !doing.writes && !doing.waits_for_log && is_silent(limits, now_ns);
}

bool PeerDeadlines::has_waited_long(bool waits_for_log, std::uint64_t durable_frames,
                                    const Limits& limits, std::int64_t now_ns) noexcept {
  const std::int64_t most = limits.wait_timeout_ns;
  if (room_since_ns_ != 0 && now_ns - room_since_ns_ > most) return true;
  if (!waits_for_log) {
    log_since_ns_ = 0;
  } else if (log_since_ns_ == 0 || durable_frames != log_seen_) {
    log_seen_ = durable_frames;
    log_since_ns_ = now_ns;
  }
  return log_since_ns_ != 0 && now_ns - log_since_ns_ > most;
}

}  // namespace windhover
