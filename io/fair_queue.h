// Fair queueing between the connections of one endpoint: whose turn it is.
#ifndef WINDHOVER_IO_FAIR_QUEUE_H_
#define WINDHOVER_IO_FAIR_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

// Start-time fair queueing (Goyal, Vin and Cheng 1996), all weights one. A turn starts, in virtual
// time, where the last one of the same connection ended, or kCreditNs ago if that is later, and
// lasts what it costs; the one that starts first is next, and virtual time is the start of the
// newest turn. So a connection that has had much waits behind those that have had little, one that
// asks little is next however many ask much, and none saves up more than kCreditNs: that is a few
// turns, because a question that is not answered in pieces may cost more than one. Connections
// whose next question needs the place of LongPredict stand in a line of their own. Fixed memory; a
// turn costs O(log waiting).
class FairQueue {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  static constexpr std::uint64_t kCreditNs = 200'000;
  enum class Line : std::uint8_t { kAny, kForPlace };

  // Takes memory, writes nothing but itself. Connections are numbered from 0 to `places` - 1.
  FairQueue(Arena& arena, std::size_t places) noexcept;

  // Before use.
  void reset() noexcept;

  // Begins with a new connection, which has had no turn yet.
  void begin(std::uint32_t who) noexcept { ends_[who] = now_; }
  // Charges the connection for a turn, whether or not it stood in a line for it.
  void charge(std::uint32_t who, std::int64_t cost) noexcept;

  // For `ns` nobody has had a turn although connections wait: counts as if each had had its share
  // of that time, so that virtual time goes on with the clock. O(waiting). REQUIRES: one waits.
  void pass(std::int64_t ns) noexcept;

  bool empty() const noexcept { return sizes_[0] + sizes_[1] == 0; }
  // REQUIRES: it does not stand in a line.
  void wait(std::uint32_t who, Line line) noexcept;
  // Takes out the connection that is next; one that waits for the place only if `place_is_free`.
  // kNobody: none.
  std::uint32_t next(bool place_is_free) noexcept;
  // Whether the first of those that do not wait for the place has had little of late.
  bool next_is_light() const noexcept {
    const std::span<Waiting> any = waiting_in(Line::kAny);
    return !any.empty() && any.front().start + kCreditNs / 2 <= now_;
  }
  // Takes a connection out of its line; no effect if it stands in none. O(waiting).
  void leave(std::uint32_t who) noexcept;

 private:
  struct Waiting {
    std::uint64_t start = 0;
    std::uint64_t number = 0;  // with equal starts the first that came is next
    std::uint32_t who = 0;
  };
  static bool later(const Waiting& a, const Waiting& b) noexcept {
    return a.start != b.start ? a.start > b.start : a.number > b.number;
  }
  std::span<Waiting> waiting_in(Line line) const noexcept {
    const auto at = static_cast<std::size_t>(line);
    return lines_[at].first(sizes_[at]);
  }
  std::uint64_t start_of(std::uint32_t who) const noexcept;

  std::span<std::uint64_t> ends_;            // where each connection's last turn ended
  std::array<std::span<Waiting>, 2> lines_;  // each a heap
  std::array<std::size_t, 2> sizes_{};
  std::uint64_t now_ = kCreditNs;
  std::uint64_t arrivals_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_FAIR_QUEUE_H_
