// Which of several forecasters predicts best, of a stream that may change.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Holds, for every two forecasters, by how many nats the one has predicted better since that sum
// was least (Page's CUSUM): never below 0, never above kEnough. A forecaster that is kEnough ahead
// of another has beaten it.
//
// All rows of a take are predicted by the same forecasts, so an error that they have in common, a
// day's weather, counts as often as there are rows. They are one piece of evidence, not thousands,
// and how much it varies from one take to the next says what it is worth. So the differences of
// takes are scaled down where the usual one (root mean square, over some ten takes and the newest)
// is above three quarters of kEnough: a take of the usual size decides nothing by itself, an
// unusual one does so at once. Rows that come one at a time are hardly ever scaled.
//
// One batch counts for kMostABatch at most, so that one outlying row decides nothing.
//
// Invariant: how far one is ahead of another is between 0 and kEnough, and none is ahead of itself.
//
// One thread. O(kMost^2) a batch.
class MemoryEvidence {
 public:
  static constexpr std::uint32_t kMost = 14;
  static constexpr double kEnough = 20;

  void reset() noexcept { *this = {}; }
  // Adds each forecaster's -log p of a batch.
  void add(std::span<const double, kMost> losses) noexcept;
  void end_take() noexcept;
  // Among the first `count`: `chosen` if none has beaten it; otherwise goes on from one that has,
  // and so on. Of several that have beaten it, one that is ahead of those before it.
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
  // Sums over takes, faded: squared differences, and takes. A take in which the two have said the
  // same, as at the start, does not count.
  Pairs squares_{};
  Pairs takes_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_EVIDENCE_H_
