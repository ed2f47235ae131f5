// Chooses which of several engines on one thread is polled next.
#ifndef WINDHOVER_RUNTIME_ENGINE_QUEUE_H_
#define WINDHOVER_RUNTIME_ENGINE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// Weighted fair queueing that takes the age of answers into account. Of the engines that have
// something to do, the one is polled for which this is least: the time that it has had, less the
// age of its newest answer (at most kMostAgeNs). Its turn lasts until a new answer is out, at most
// for a slice or one round, whichever is longer: ended before, it would leave the answer to the
// next turn. The more rows wait, the less its time counts, down to an eighth, so that a sender
// about to be held up comes first and no engine starves. An engine that has rested begins with the
// time of the one polled last, and its answer with no age: rest is not saved up. One that had
// nothing to do is looked at again when it has rows, and every 10 ms. Invariant: `served_ns` of an
// engine that is at work is never below `floor_ns_` by more than kMostAgeNs and a slice. One
// thread: the learner's.
class EngineQueue {
 public:
  // An engine, and how it has been served.
  struct Entry {
    Engine* engine = nullptr;
    double served_ns = 0;       // the time it has had, weighted
    std::int64_t shown_ns = 0;  // when a new answer was out, or it had something to do again
    std::int64_t look_again_ns = 0;
    std::uint64_t offered = 0;  // EngineProgress::offered_rows() before its last turn
    bool at_work = false;
  };
  static constexpr std::int64_t kSliceNs = 1'000'000;
  static constexpr std::int64_t kMostAgeNs = 100'000'000;
  static constexpr std::int64_t kLookAgainNs = 10'000'000;

  EngineQueue(std::span<Entry> entries, Clock& clock) noexcept
      : EngineQueue(entries, entries.size(), clock) {}
  // Has room for more engines than the first `count` entries, which are there already.
  EngineQueue(std::span<Entry> room, std::size_t count, Clock& clock) noexcept
      : room_(room), entries_(room.first(count)), clock_(clock) {}

  // Adds or removes an engine, between two calls of serve(). A new one begins with the time of the
  // one polled last. REQUIRES: for add() there is room, for remove() the engine is there.
  void add(Engine& engine) noexcept;
  void remove(const Engine& engine) noexcept;

  // Gives one engine its turn. Returns how many rounds it did; 0: none has anything to do now.
  // O(engines), and the turn.
  int serve() noexcept;

 private:
  Entry* next(std::int64_t now_ns) noexcept;
  bool has_something(Entry& entry, std::int64_t now_ns) const noexcept;
  void poll(Entry& entry, std::int64_t begin_ns, int& rounds) noexcept;

  std::span<Entry> room_;
  std::span<Entry> entries_;  // the first ones of it
  Clock& clock_;
  double floor_ns_ = 0;  // the largest `served_ns` of an engine at the beginning of its turn
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_QUEUE_H_
