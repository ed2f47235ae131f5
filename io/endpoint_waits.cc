// Sessions of an endpoint that wait: for room in a window, or until they are within their limits.
#include <algorithm>
#include <chrono>
#include <span>

#include "windhover/io/endpoint.h"

namespace windhover {
namespace {

// How soon a frame that found the window full is tried again; the learner advances its lease at
// least every millisecond.
constexpr auto kRetryAfter = std::chrono::microseconds(500);
// How soon one over its limits is looked at again.
constexpr auto kTokensAfter = std::chrono::milliseconds(5);

}  // namespace

void Endpoint::on_pause(Session&) noexcept {
  if (retry_armed_) return;
  retry_armed_ = true;
  retry_.after(kRetryAfter, [this](const ErrorCode& error) {
    retry_armed_ = false;
    if (!error) retry();
  });
}

void Endpoint::on_throttle(Session&) noexcept {
  if (tokens_armed_) return;
  tokens_armed_ = true;
  tokens_.after(kTokensAfter, [this](const ErrorCode& error) {
    tokens_armed_ = false;
    if (error) return;
    for (Session& session : memory_.sessions) session.read_on();
  });
}

// From the session that is first in line on, round about: every one has its turn.
void Endpoint::retry() noexcept {
  const std::span<Session> sessions = memory_.sessions;
  const auto first =
      std::ranges::find_if(sessions, &Conversation::first_in_line, &Session::conversation);
  leave_lines();
  const auto offset = first == sessions.end() ? 0 : first - sessions.begin();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    sessions[(static_cast<std::size_t>(offset) + i) % sessions.size()].resume();
  }
}

// Whoever has come first in line and does not wait any more.
void Endpoint::leave_lines() noexcept {
  for (Session& session : memory_.sessions) session.leave_line_when_done();
}

}  // namespace windhover
