// How much each of several forecasters is believed, of a stream that may change.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_WEIGHTS_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_WEIGHTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/memory_evidence.h"

namespace windhover {

// The probability that each forecaster is the one to believe, by what they have said of the rows so
// far (fixed share: Herbster and Warmuth 1998). In as many rows as those that are believed stand
// on, kShare goes to all alike, so that none is ever out of it: a stream that has stood still for
// long is expected to go on so for long. What the short ones add to the variance of a long one is
// then some 2 kShare / D of it, and more by chance.
//
// Rows of a take have errors in common: as in MemoryEvidence, a take of the usual size counts for
// kMostATake at most. Only the first `usual` forecasters say what is usual: by one that is far
// behind in all large takes the differences of the others would be scaled to next to nothing.
//
// Invariant: no weight is negative, and they add up to 1. One thread. O(count) a batch.
class MemoryWeights {
 public:
  static constexpr std::size_t kMost = MemoryEvidence::kMost + 4;
  static constexpr double kShare = 0.1;
  static constexpr double kMostATake = 3;  // nats
  static constexpr double kLeast = 0.002;

  MemoryWeights(std::size_t count, std::size_t usual) noexcept : count_(count), usual_(usual) {
    reset();
  }
  // The first is believed most, each further one `ratio` times as much as the one before: memories
  // all say the same of the first rows, and short ones have then learned least of them.
  void reset(double ratio = 0.5) noexcept;
  // Adds each forecaster's -log p of a batch of so many rows. The weights change only at
  // end_take().
  void add(const std::array<double, kMost>& losses, std::size_t rows) noexcept;
  // Ends a take. `worth`: how many rows each forecaster stands on.
  void end_take(std::span<const double> worth) noexcept;

  // The weight of each in an average, after the takes that have ended. A weight below kLeast
  // becomes 0: one that is far off, as after a jump, would drag mean and variance of an average by
  // more than its weight. Those that do not take part have 0. REQUIRES: the first takes part.
  std::array<double, kMost> served(const std::array<bool, kMost>& takes_part) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::size_t count_;
  std::size_t usual_;
  std::array<double, kMost> weights_{};
  // Sums over takes, faded: squares of how far the best and the worst were apart, and takes.
  double squares_ = 0;
  double takes_ = 0;
  // Sums over the take at hand.
  std::array<double, kMost> losses_{};
  std::size_t rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_WEIGHTS_H_
