#include "windhover/runtime/engine_queue.h"

#include <algorithm>

#include "windhover/platform/check.h"

namespace windhover {
namespace {

// Rounds between two looks at the clock with one engine alone, which has none to give way to.
constexpr int kRoundsAlone = 16;
constexpr double kMostUrgent = 8;

// 1 where no row waits, 8 where the writer is about to be held up.
double urgency(const Engine& engine) noexcept {
  const auto waiting = static_cast<double>(engine.progress().waiting_rows());
  const auto room = static_cast<double>(engine.config().window_slack);
  return 1 + (kMostUrgent - 1) * std::min(1.0, waiting / room);
}

}  // namespace

void EngineQueue::add(Engine& engine) noexcept {
  WINDHOVER_CHECK(entries_.size() < room_.size());
  entries_ = room_.first(entries_.size() + 1);
  entries_.back() = {.engine = &engine, .served_ns = floor_ns_};
}

void EngineQueue::remove(const Engine& engine) noexcept {
  const auto found = std::ranges::find(entries_, &engine, &Entry::engine);
  WINDHOVER_CHECK(found != entries_.end());
  *found = entries_.back();
  entries_.back() = {};
  entries_ = entries_.first(entries_.size() - 1);
}

int EngineQueue::serve() noexcept {
  int rounds = 0;
  const std::int64_t now_ns = clock_.now_ns();
  while (Entry* entry = next(now_ns)) {
    poll(*entry, now_ns, rounds);
    if (rounds > 0) break;
  }
  return rounds;
}

EngineQueue::Entry* EngineQueue::next(std::int64_t now_ns) noexcept {
  Entry* first = nullptr;
  double least = 0;
  for (Entry& entry : entries_) {
    if (!has_something(entry, now_ns)) continue;
    const std::int64_t age_ns = std::min(now_ns - entry.shown_ns, kMostAgeNs);
    const double claim = entry.served_ns - static_cast<double>(age_ns);
    if (first != nullptr && claim >= least) continue;
    first = &entry;
    least = claim;
  }
  return first;
}

bool EngineQueue::has_something(Entry& entry, std::int64_t now_ns) const noexcept {
  if (entry.at_work) return true;
  if (entry.engine->progress().offered_rows() == entry.offered && now_ns < entry.look_again_ns)
    return false;
  entry.at_work = true;
  entry.served_ns = std::max(entry.served_ns, floor_ns_);
  entry.shown_ns = now_ns;
  return true;
}

void EngineQueue::poll(Entry& entry, std::int64_t begin_ns, int& rounds) noexcept {
  Engine& engine = *entry.engine;
  const double weight = urgency(engine);
  const int at_a_time = entries_.size() == 1 ? kRoundsAlone : 1;
  const std::uint64_t offered = engine.progress().offered_rows();
  const auto answers = [&] { return engine.counters().get(RuntimeCounter::kSnapshots); };
  const std::uint64_t before = answers();
  floor_ns_ = std::max(floor_ns_, entry.served_ns);
  std::int64_t now_ns = begin_ns;
  do {
    const int done = engine.poll(at_a_time);
    rounds += done;
    now_ns = clock_.now_ns();
    entry.at_work = done > 0;
  } while (entry.at_work && now_ns - begin_ns < kSliceNs && answers() == before);
  if (answers() != before) entry.shown_ns = now_ns;
  entry.offered = offered;
  entry.look_again_ns = now_ns + kLookAgainNs;
  entry.served_ns += static_cast<double>(now_ns - begin_ns) / weight;
}

}  // namespace windhover
