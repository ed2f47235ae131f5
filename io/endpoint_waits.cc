#include "windhover/io/endpoint_waits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace windhover {
namespace {

// How soon a frame that found the window full is tried again; the learner advances its lease at
// least every millisecond.
constexpr auto kRetryAfter = std::chrono::microseconds(500);
// How soon one over its limits is looked at again.
constexpr auto kTokensAfter = std::chrono::milliseconds(5);

}  // namespace

void EndpointWaits::for_room() noexcept {
  room_.set(kRetryAfter, [this] { retry(); });
}

void EndpointWaits::for_tokens() noexcept {
  tokens_.set(kTokensAfter, [this] {
    for (Session& session : sessions_) session.read_on();
  });
}

// From the session that is first in line on, round about: every one has its turn.
void EndpointWaits::retry() noexcept {
  const auto first = std::ranges::find_if(
      sessions_, [](const Session& s) { return s.conversation().rows().first_in_line(); });
  leave_lines();
  const auto offset = first == sessions_.end() ? 0 : first - sessions_.begin();
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    sessions_[(static_cast<std::size_t>(offset) + i) % sessions_.size()].resume();
  }
}

void EndpointWaits::leave_lines() noexcept {
  for (Session& session : sessions_) session.leave_line_when_done();
}

}  // namespace windhover
