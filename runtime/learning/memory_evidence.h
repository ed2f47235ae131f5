// Which of several forecasters predicts best, of a stream that may change.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_

#include <array>
#include <cstdint>
#include <span>

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
// Of one batch no more counts than kMostABatch, so that one outlying row decides nothing.
//
// Invariant: how far one is ahead of another is within 0 and kEnough, and of one over itself 0.
//
// One thread. O(kMost^2) a batch.
class MemoryEvidence {
 public:
  static constexpr std::uint32_t kMost = 14;
  static constexpr double kEnough = 20;

  void reset() noexcept { *this = {}; }
  // -log p of a batch, of each forecaster.
  void add(std::span<const double, kMost> losses) noexcept;
  void end_take() noexcept;
  // `chosen`, or one that has beaten it, or that has beaten that one, ... Of those that have not
  // beaten one another the first.
  std::uint32_t choose(std::uint32_t chosen, std::uint32_t count) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr double kMostABatch = 5;  // nats, outlying rows or not
  static constexpr double kKept = 0.9;      // of what is usual, from one take to the next
  static_assert(kMostABatch < kEnough);
  using Pairs = std::array<std::array<double, kMost>, kMost>;

  bool has_beaten(std::uint32_t better, std::uint32_t worse) const noexcept {
    return ahead_[better][worse] >= kEnough;
  }

  Pairs gained_{};  // [better][worse]: of this take
  Pairs ahead_{};
  // Of takes, faded; those in which the two have said the same, as at the start, are none.
  Pairs squares_{};
  Pairs takes_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
