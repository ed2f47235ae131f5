// Which of several engines that one thread polls has its turn.
#ifndef WINDHOVER_RUNTIME_ENGINE_QUEUE_H_
#define WINDHOVER_RUNTIME_ENGINE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// Weighted fair queueing that looks at the age of answers too: of the engines that have something
// to do, the one is polled that has had the least time, less the time for which its answer has not
// shown what it has done, at most kMostAgeNs. It has its turn until a new answer is out, a slice or
// a round at most, whichever is longer: a turn that ended before would have its answer wait for the
// next one. Time counts for less, down to an eighth, the more rows wait: a sender that is about to
// be held up comes first, and nobody starves. An engine that has rested begins where the one that
// was polled last stands, and its answer has no age: rest is not saved up. One that had nothing to
// do is looked at again when it has rows, and every 10 ms.
// Invariant: `served_ns` of an engine that is at work is never below `floor_ns_` by more than
// kMostAgeNs and a slice. The learner's thread only.
class EngineQueue {
 public:
  // An engine, and how it has been served.
  struct Entry {
    Engine* engine = nullptr;
    double served_ns = 0;       // weighted
    std::int64_t shown_ns = 0;  // when a new answer was out, or it had something to do again
    std::int64_t look_again_ns = 0;
    std::uint64_t offered = 0;  // rows, when it last had nothing to do
    bool at_work = false;
  };
  static constexpr std::int64_t kSliceNs = 1'000'000;
  static constexpr std::int64_t kMostAgeNs = 100'000'000;
  static constexpr std::int64_t kLookAgainNs = 10'000'000;

  EngineQueue(std::span<Entry> entries, Clock& clock) noexcept
      : EngineQueue(entries, entries.size(), clock) {}
  // The first `count` entries of `room` are engines already.
  EngineQueue(std::span<Entry> room, std::size_t count, Clock& clock) noexcept
      : room_(room), entries_(room.first(count)), clock_(clock) {}

  // Adds or removes an engine, between two calls of serve(). A newcomer begins where the one polled
  // last stands. REQUIRES: add() has room, remove() has the engine.
  void add(Engine& engine) noexcept;
  void remove(const Engine& engine) noexcept;

  // Polls one engine for a slice. Returns rounds done; 0: none has anything to do now.
  // Complexity O(engines) and the slice.
  int serve() noexcept;

 private:
  Entry* next(std::int64_t now_ns) noexcept;
  bool has_something(Entry& entry, std::int64_t now_ns) const noexcept;
  void poll(Entry& entry, std::int64_t begin_ns, int& rounds) noexcept;

  std::span<Entry> room_;
  std::span<Entry> entries_;  // the first ones of it
  Clock& clock_;
  double floor_ns_ = 0;  // what the one had that was served last
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_ENGINE_QUEUE_H_
