// How many of the newest rows the posterior should stand on: as many as have predicted best.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_

#include <array>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// Memories of N, N / 2, N / 4, ... rows are each followed by its centre alone: Newton steps with
// the posterior's A, of rate 2 / rows, which forget as rows that count by their age do (variance 1
// / rows, mean age rows / 2). All rows that are taken in together are predicted before any of them
// is learned from, as the answers were that were served meanwhile: who is allowed to learn from
// half of them first takes what they share for a reason to remember little. Where the sum of what
// another memory has predicted better by passes kEvidence nats, from wherever it was least (Page's
// CUSUM), that one is chosen. Of rows with weights information and evidence are those of as many
// equal rows as the average is as certain as (AnchorSums::weight_ratio()).
//
// Invariant: evidence is never negative. One thread, in pieces of kMostRows rows at most. Memory
// about D doubles a memory; time a row about that of moving chains on as many rows as there are
// memories, and D^2 / 4 a memory.
class MemoryChoice {
 public:
  static constexpr std::uint32_t kMost = 12;
  // Rows that depend on one another say more than they know: half of it has a stream of flights,
  // late or not, change its mind twice as often, and costs it 0.0015 nats a row.
  static constexpr double kEvidence = 20;
  static constexpr std::uint64_t kMostRows = 4096;

  MemoryChoice(Arena& arena, const EngineConfig& config, const Estimator& estimator) noexcept;

  void reset() noexcept;
  // All begin at the estimator's mode, that of the cursor's rows, and the longest is chosen.
  void start(const WindowCursor& cursor) noexcept;
  // Until then the longest is.
  void forget() noexcept { chosen_ = 0; }
  // The published rows [first, head) are about to be taken in: the newest kMostRows of them count.
  // Whether rows() is another one now.
  bool take(const WindowCursor& cursor, std::uint64_t first, std::uint64_t head,
            LearnerWorker& worker) noexcept;

  std::uint64_t rows() const noexcept { return memories_[chosen_].rows; }
  // All rows alike where the longest memory is chosen, otherwise by their age.
  AgeWeights ages() const noexcept {
    return chosen_ == 0 ? AgeWeights() : AgeWeights(rows(), spread_);
  }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr std::uint64_t kBatch = 8;  // rows between two steps

  struct Memory {
    std::uint64_t rows = 0;
    double* centre = nullptr;
    // Of each parameter, what the rows of this half and of the half before say about it, as sums of
    // squared gradients: of a window of between rows / 2 and rows.
    double* information = nullptr;
    double* information_before = nullptr;
    std::uint64_t half = 0;  // how many halves have passed
    double variance = 1;     // of y about the centre's predictions, if the dispersion is learned
    double evidence = 0;     // nats that it has predicted better by than the chosen one
    double loss = 0;         // of the batch
  };

  void add_information(const RowBatch& batch, std::uint64_t end, Model& model) noexcept;
  void forget(Memory& memory) noexcept;
  void compare() noexcept;
  // `weight`: what the rows of the batch count as; `rate`: of the memory, what the batch counts
  // for.
  double score(const Memory& memory, const RowBatch& batch, double weight,
               Model& model) const noexcept;
  void learn(Memory& memory, const RowBatch& batch, double weight, double rate,
             Model& model) noexcept;
  bool has_variance(const Model& model) const noexcept;
  void learn_variance(Memory& memory, const RowBatch& batch, double weight, double rate,
                      double loss) const noexcept;
  double objective(const Memory& memory, const double* theta, const RowBatch& batch,
                   double loss) const noexcept;

  const Estimator& estimator_;
  std::uint32_t dimension_;
  ForgettingSpread spread_;
  std::uint32_t count_ = 0;
  std::uint32_t chosen_ = 0;
  double learned_rows_ = 0;  // that the longest memory stands on, before any fade
  std::array<Memory, kMost> memories_;
  double* gradient_;  // dimension: scratch, each
  double* squares_;
  double* step_;
  double* moved_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_
