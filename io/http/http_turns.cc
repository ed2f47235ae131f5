#include "windhover/io/http/http_turns.h"

#include <algorithm>

namespace windhover {

std::uint32_t HttpTurns::number_of(const HttpConnection& connection) const noexcept {
  const auto found =
      std::ranges::find_if(connections_, [&](const auto& c) { return &c == &connection; });
  return static_cast<std::uint32_t>(found - connections_.begin());
}

void HttpTurns::wait(const HttpConnection& connection) noexcept {
  queue_.wait(number_of(connection), FairQueue::Line::kAny);
  schedule_next();
}

void HttpTurns::schedule_next() noexcept {
  if (scheduled_) return;
  scheduled_ = true;
  asio::post(io_, with_memory(memory_, [this] {
               scheduled_ = false;
               if (queue_.empty()) return;
               connections_[queue_.next(true)].take_turn();
               if (!queue_.empty()) schedule_next();
             }));
}

}  // namespace windhover
