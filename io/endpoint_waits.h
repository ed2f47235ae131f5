// Sessions of an endpoint that wait for room in a window, or until they are within their limits.
#ifndef WINDHOVER_IO_ENDPOINT_WAITS_H_
#define WINDHOVER_IO_ENDPOINT_WAITS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ranges>

#include "windhover/io/asio_types.h"
#include "windhover/io/reminder.h"

namespace windhover {

// Invariant: while a session waits that has said so, all are looked at again a little later. It
// does not keep which ones wait. The endpoint's thread.
//
// Sessions: a view of what has conversation(), leave_line_when_done(), resume() and read_on().
template <std::ranges::random_access_range Sessions>
class EndpointWaits {
 public:
  using Session = std::ranges::range_value_t<Sessions>;

  // How soon a frame that found the window full is tried again.
  static constexpr std::chrono::microseconds kRetryAfter{500};
  // How soon a session over its limits is looked at again.
  static constexpr std::chrono::milliseconds kTokensAfter{5};

  EndpointWaits(IoContext& io, Sessions sessions, Counters<IoCounter>& counters)
      : sessions_(sessions), room_(io, counters), tokens_(io, counters) {}

  // A session has found no room in the window, or waits for bytes that are on their way.
  void for_room() noexcept {
    room_.set(kRetryAfter, [this] { retry(); });
  }
  // A session is over its limits.
  void for_tokens() noexcept {
    tokens_.set(kTokensAfter, [this] {
      for (Session& session : sessions_) session.read_on();
    });
  }
  // A session that is first in line for room and does not wait any more leaves the line.
  void leave_lines() noexcept {
    for (Session& session : sessions_) session.leave_line_when_done();
  }

  // Has Asio allocate for its timers, and ends their waits.
  void warm_up() {
    room_.warm_up();
    tokens_.warm_up();
  }
  void cool_down() noexcept {
    room_.cancel();
    tokens_.cancel();
  }

 private:
  // Resumes all sessions, beginning with one that is first in line, so that each has its turn.
  void retry() noexcept {
    const auto first = std::ranges::find_if(sessions_, [](const Session& session) {
      return session.conversation().rows().first_in_line();
    });
    leave_lines();
    const auto offset =
        first == sessions_.end() ? 0 : static_cast<std::size_t>(first - sessions_.begin());
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      sessions_[(offset + i) % sessions_.size()].resume();
    }
  }

  Sessions sessions_;
  Reminder room_;
  Reminder tokens_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_WAITS_H_
