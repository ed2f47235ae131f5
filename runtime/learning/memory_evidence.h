// Which of several forecasters predicts best, of a stream that may change.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_

#include <array>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Of every two forecasters by how many nats the one has predicted better, from wherever that was
// least (Page's CUSUM): never below 0, never above kEnough. Who has so much over another has beaten
// it.
//
// All rows of a take are predicted by the same forecasts, so that an error they have in common, a
// day's weather, counts as often as there are rows: they are one piece of evidence, not thousands,
// and how much it varies from one take to the next says what it is worth. So the differences of
// takes are scaled down where the usual one (root mean square, over some ten takes and itself) is
// nearly kEnough: what is usual decides nothing by itself, what is unusual does so at once. Rows
// that come one at a time are as good as never scaled.
//
// Of one batch no more counts than kMostABatch, so that one outlying row decides nothing. Where
// noise has long tails a short memory predicts the usual rows better, and pays for it where a row
// is far from all that it remembers. So what did not count is added up by event, and fades over
// kTailRows rows. An event is a run of takes that the same one of two has failed at, each within
// kQuietRows of where the last one began; of larger takes each is one. The largest is left out, as
// a jump or a broken sensor may never come again, and of an event under way its largest take: no
// take decides alone. Who has lost kEnough by the others, less what it gained meanwhile in usual
// rows, is beaten, and has beaten nobody. Takes of more than kTailRows rows have no events.
//
// One thread. O(kMost^2) a batch.
class MemoryEvidence {
 public:
  static constexpr std::uint32_t kMost = 12;
  static constexpr double kEnough = 20;

  void reset() noexcept { *this = {}; }
  // -log p of a batch, of each forecaster.
  void add(const std::array<double, kMost>& losses) noexcept;
  // Of so many rows.
  void end_take(double rows) noexcept;
  // `chosen`, or one that has beaten it, or that has beaten that one, ... Of those that have not
  // beaten one another the first.
  std::uint32_t choose(std::uint32_t chosen, std::uint32_t count) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr double kMostABatch = 2;   // nats, outlying rows or not
  static constexpr double kKept = 0.9;       // of what is usual, from one take to the next
  static constexpr double kTailRows = 1000;  // over which events fade to 1 / e
  // That end an event: rows that go wrong together are closer, outliers of one in a hundred mostly
  // further apart.
  static constexpr double kQuietRows = 24;
  static constexpr double kMostATake = 1000;  // nats: what a row counts as in scores at worst
  static_assert(kMostABatch < kEnough);
  using Pairs = std::array<std::array<double, kMost>, kMost>;

  // Nats by events, as far as usual rows do not speak for the other.
  double won_by_events(std::uint32_t better, std::uint32_t worse) const noexcept;
  bool has_beaten(std::uint32_t better, std::uint32_t worse) const noexcept {
    const double events = won_by_events(better, worse);
    return events >= kEnough || (ahead_[better][worse] >= kEnough && events > -kEnough);
  }
  void add_to_event(std::uint32_t a, std::uint32_t b, double left_out, double rows) noexcept;

  Pairs gained_{};    // [better][worse]: of this take
  Pairs left_out_{};  // likewise, beyond kMostABatch
  Pairs ahead_{};
  Pairs recent_{};   // as ahead_ gained, but faded
  Pairs event_{};    // the last one, and ...
  Pairs take_{};     // ... the largest take of it, and ...
  Pairs quiet_{};    // ... rows since its last take began
  Pairs events_{};   // those before it, faded
  Pairs largest_{};  // of them, likewise: of those that `better` has won
  // Of takes, faded; those in which the two have said the same, as at the start, are none.
  Pairs squares_{};
  Pairs takes_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
