// What one connection has sent and asked, against its limits.
#ifndef WINDHOVER_IO_CONNECTION_METER_H_
#define WINDHOVER_IO_CONNECTION_METER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "windhover/io/connection_limits.h"
#include "windhover/io/token_bucket.h"

namespace windhover {

// One thread. Costs nothing where there are no limits.
class ConnectionMeter {
 public:
  // Begins with a new connection.
  void begin(const ConnectionLimits& limits) noexcept {
    limits_ = limits;
    frames_.reset();
    bytes_.reset();
    questions_.reset();
    cost_.reset();
  }

  // Sets the limits. Where they differ from those before the meter begins anew: what the connection
  // owes counts no more.
  void change(const ConnectionLimits& limits) noexcept {
    if (!(limits == limits_)) begin(limits);
  }

  // Takes the peer's own limits once it is known who it is; `all` are everybody's.
  void take_up(const std::optional<OwnLimits>& own, const ConnectionLimits& all) noexcept {
    if (own) change(own->in_place_of(all));
  }

  // The most bytes to read at once, so that the next read is at most a second away.
  std::size_t most_bytes(std::size_t wanted) const noexcept {
    return limits_.bytes == 0 ? wanted : std::min<std::size_t>(wanted, limits_.bytes);
  }

  void read(std::size_t bytes, std::int64_t now_ns) noexcept {
    bytes_.take(bytes, limits_.bytes, now_ns);
  }
  void handled(std::uint32_t frames, std::uint32_t questions, std::int64_t cost_ns,
               std::int64_t now_ns) noexcept {
    constexpr std::uint64_t kNs = 1000;
    frames_.take(frames, limits_.frames, now_ns);
    questions_.take(questions, limits_.questions, now_ns);
    cost_.take(static_cast<std::uint64_t>(cost_ns), std::min(limits_.cost, UINT64_MAX / kNs) * kNs,
               now_ns);
  }

  // Charges a peer that was refused because it was over its limits: see TokenBucket::fine().
  void refused(std::uint32_t frames, std::size_t bytes, std::int64_t now_ns) noexcept {
    frames_.fine(frames, limits_.frames, now_ns);
    bytes_.fine(bytes, limits_.bytes, now_ns);
  }

  // How long the connection must not be read; 0: it may be.
  std::int64_t wait_ns(std::int64_t now_ns) const noexcept {
    return std::max({frames_.wait_ns(now_ns), bytes_.wait_ns(now_ns), questions_.wait_ns(now_ns),
                     cost_.wait_ns(now_ns)});
  }
  bool is_on() const noexcept { return limits_.any(); }

 private:
  ConnectionLimits limits_;
  TokenBucket frames_;
  TokenBucket bytes_;
  TokenBucket questions_;
  TokenBucket cost_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CONNECTION_METER_H_
