#include "windhover/io/fair_queue.h"

#include <algorithm>
#include <memory>

namespace windhover {

FairQueue::FairQueue(Arena& arena, std::size_t places) noexcept
    : ends_(arena.allocate<std::uint64_t>(places)),
      lines_{arena.allocate<Waiting>(places), arena.allocate<Waiting>(places)} {}

void FairQueue::reset() noexcept {
  now_ = kCreditNs;
  arrivals_ = 0;
  std::fill(ends_.begin(), ends_.end(), now_);
  for (const std::span<Waiting> line : lines_) {
    std::uninitialized_default_construct(line.begin(), line.end());
  }
  sizes_ = {};
}

std::uint64_t FairQueue::start_of(std::uint32_t who) const noexcept {
  return std::max(now_ - kCreditNs, ends_[who]);
}

void FairQueue::charge(std::uint32_t who, std::int64_t cost) noexcept {
  const std::uint64_t start = start_of(who);
  ends_[who] = start + static_cast<std::uint64_t>(cost);
  // A turn that is had while nobody waits must not count against the connection when others come.
  if (empty()) now_ = std::max(now_, start);
}

void FairQueue::pass(std::int64_t ns) noexcept {
  const std::uint64_t share = static_cast<std::uint64_t>(ns) / (sizes_[0] + sizes_[1]);
  now_ += share;
  for (const Line line : {Line::kAny, Line::kForPlace}) {
    for (Waiting& waiting : waiting_in(line)) {
      waiting.start += share;
      ends_[waiting.who] = waiting.start;
    }
  }
}

void FairQueue::wait(std::uint32_t who, Line line) noexcept {
  const auto at = static_cast<std::size_t>(line);
  lines_[at][sizes_[at]++] = {start_of(who), arrivals_++, who};
  const std::span<Waiting> heap = waiting_in(line);
  std::push_heap(heap.begin(), heap.end(), later);
}

// Connections that waited for the place get no credit for it: they did not wait for the thread.
std::uint32_t FairQueue::next(bool place_is_free) noexcept {
  const std::span<Waiting> any = waiting_in(Line::kAny);
  const std::span<Waiting> for_place = waiting_in(Line::kForPlace);
  const bool may = place_is_free && !for_place.empty();
  if (any.empty() && !may) return kNobody;
  const std::uint64_t place_start = may ? std::max(for_place.front().start, now_) : 0;
  const bool takes_place = may && (any.empty() || place_start < any.front().start);
  const std::span<Waiting> line = takes_place ? for_place : any;
  std::pop_heap(line.begin(), line.end(), later);
  --sizes_[static_cast<std::size_t>(takes_place ? Line::kForPlace : Line::kAny)];
  now_ = std::max(now_, line.back().start);
  return line.back().who;
}

void FairQueue::leave(std::uint32_t who) noexcept {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const std::span<Waiting> line = lines_[at].first(sizes_[at]);
    const auto found = std::ranges::find(line, who, &Waiting::who);
    if (found == line.end()) continue;
    *found = line.back();
    --sizes_[at];
    std::make_heap(line.begin(), line.end() - 1, later);
  }
}

}  // namespace windhover
