// How many of the newest rows the posterior should stand on: as many as have predicted best.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/filtered_posterior.h"
#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/runtime/learning/level_filter.h"
#include "windhover/runtime/learning/memory_evidence.h"
#include "windhover/runtime/learning/memory_filter.h"
#include "windhover/runtime/learning/memory_weights.h"
#include "windhover/runtime/learning/noise_scales.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/window/window_cursor.h"

namespace windhover {

// Memories of N, N / 2, N / 4, ... rows are each followed by a filter. All rows that are taken in
// together (a take) are predicted before any of them is learned from, as the answers were that were
// served meanwhile: a filter that could learn from half of them first would take what they share
// for a reason to remember little. The memory that is chosen is one that no other has beaten
// (MemoryEvidence): the posterior is that of its rows. The shortest ones are never chosen, as their
// rows are too few for the chains.
//
// Beside them other filters (LevelFilter) follow a level that walks, with the longest memory, for
// errors that neighbours have in common, as in time series. Chains do not stand on these.
//
// Predictions are averaged over all of them (MemoryWeights; Hoeting et al. 1999, Bayesian model
// averaging), by mean and covariance: centred where the centres are on average, and wider by how
// much these differ. The rest of the covariance is that of the memory that the posterior stands on.
// As far as filters with a walking level are believed it is theirs: the variance of the level, with
// its covariances, as they have it, and the remainder in the shape of that memory's.
//
// Where the loss is not quadratic filters lag behind the mode of the rows that they remember, all
// alike. As a forecast the mode is the better one where the truth has just moved. Where labels stay
// the same for some dozens of rows it follows the last ones too far, and the filters, which were
// what the memories were compared by, are better. So an average has two origins, at the mean of the
// posterior and at that memory's filter, each believed by how well it has predicted.
//
// Rows with weights have the information and the evidence of as many equal rows as would make their
// average as certain (AnchorSums::weight_ratio()).
//
// Invariant: once begun, all filters have seen the same rows, and the chosen memory is choosable.
//
// One thread. Memory about 2 D^2 doubles a memory, and D^2 a filter with a walking level. Time
// about 4 D^2 a row and filter; at most most_rows() rows of a take are looked at.
class MemoryChoice {
 public:
  static constexpr std::uint32_t kMost = MemoryWeights::kMost;
  static constexpr std::uint64_t kMostRows = 4096;

  // How many memories an engine of this configuration has: 0, unless its horizon is adaptive.
  static std::uint32_t memories(const EngineConfig& config) noexcept;
  // The most columns of an average: one for each memory, and one for how far levels have gone or
  // how far its two origins are apart.
  static std::uint32_t columns(const EngineConfig& config) noexcept;

  MemoryChoice(Arena& arena, const EngineConfig& config, const Estimator& estimator) noexcept;

  void reset() noexcept;
  // Chains start. All filters begin at the estimator's posterior, that of the cursor's rows, unless
  // they have begun before.
  void start(const WindowCursor& cursor) noexcept;
  // The filters begin anew with the next start(), and the longest memory is chosen.
  void forget() noexcept {
    chosen_ = estimated_ = 0;
    running_ = false;
  }
  // The published rows [first, head) are about to be taken in: the newest most_rows() of them are
  // predicted, and then learned from. Returns whether rows() has changed.
  bool take(const WindowCursor& cursor, std::uint64_t first, std::uint64_t head,
            LearnerWorker& worker) noexcept;

  // The estimates are of the rows of the memory that is chosen now.
  void refreshed() noexcept { estimated_ = chosen_; }

  std::uint64_t rows() const noexcept { return posteriors_[chosen_]->memory(); }
  // Rows count alike where the longest memory is chosen, otherwise by their age.
  AgeWeights ages() const noexcept {
    return chosen_ == 0 ? AgeWeights() : AgeWeights(rows(), spread_);
  }

  // Whether filters with a walking level are believed more than all others.
  bool follows_level() const noexcept;

  // Fills in what predictions are averaged over, once the filters have begun, in transformed units;
  // and for a normal y with a learned variance the noise. The memory that the posterior stands on
  // is where the posterior is. The others are where their filters are. But where the loss is not
  // quadratic they are as far from that memory as its filter is from theirs, and it lies between
  // its filter and the posterior, as the origins are believed. O(filters x (draws + D) + filters x
  // D^2 of walking levels).
  void average(const Model& model, Posterior& posterior) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  using Numbers = std::array<double, kMost>;
  using Residuals = std::array<PredictiveResidual, FilteredPosterior::kMostRows>;

  bool normal() const noexcept { return is_normal(response_); }
  std::span<MemoryFilter* const> memories() const noexcept {
    return std::span(memories_).first(count_ - levels_);
  }
  std::span<LevelFilter* const> level_filters() const noexcept {
    return std::span(level_filters_).first(levels_);
  }
  // How many rows the intercept stands on.
  std::uint64_t level_rows(std::size_t memory) const noexcept {
    const std::size_t fading = count_ - levels_;
    return memory < fading ? posteriors_[memory]->memory()
                           : level_filters_[memory - fading]->level_rows();
  }
  // Whether it is far shorter than the newest take: rows at the end of one are far from all that
  // the memory knows.
  bool is_far_shorter(std::size_t memory) const noexcept {
    return 4 * level_rows(memory) < take_rows_;
  }
  // Filters that are far shorter than the newest take have weight 0, but for walking levels that
  // enough takes like the newest speak for.
  Numbers weights() const noexcept;
  // Filters that are far shorter have the noise of the last one before them that is not: their own
  // is that of rows that are predicted one by one.
  Numbers dispersions() const noexcept;
  NoiseMixture noise() const noexcept;
  void fill_normals() noexcept;
  // Adds as a column the level's variance and covariances by the filters whose level walks, as far
  // as they are believed. Returns the factor of the covariance of the memory that the posterior
  // stands on, beside that column.
  double add_levels(const Numbers& believed, MemoryAverage& average) noexcept;
  // The residual of one row by the average of all filters.
  PredictiveResidual averaged(const std::array<Residuals, kMost>& of, const Numbers& believed,
                              std::size_t row) const noexcept;
  // Works out both averages of a take that begins, each with an origin of its own: centres in the
  // scratch's `moved` (at the posterior) and `step` (at the filter), and in its `precision` the
  // covariance that both have. O(filters x D^2).
  void begin_origins(const Numbers& believed) noexcept;
  // Adds what a batch says of the two. O(D^2) a row.
  void compare_origins(const RowBatch& batch, Model& model) noexcept;
  // Moves the average to where it lies between its origins, and adds as a column how far these are
  // apart, if the filter is believed more than the posterior: on a still stream of few large takes,
  // which say little, a filter far behind would make predictions wide.
  void add_origins(Posterior& posterior) noexcept;
  // Works out the filters' losses for rows of a normal y, and learns the noise by the average that
  // was served.
  void compare_normal(const RowBatch& batch, Model& model, Numbers& losses) noexcept;
  // kMostRows, or fewer where there are so many parameters that chains and answers would wait long.
  std::uint64_t most_rows() const noexcept;

  const Estimator& estimator_;
  std::uint32_t dimension_;
  ForgettingSpread spread_;
  std::uint32_t count_;
  std::uint32_t levels_;     // the last so many, whose level walks
  std::uint32_t columns_;    // of an average, at most
  std::uint32_t choosable_;  // the first so many, the longest, can be chosen
  std::uint32_t chosen_ = 0;
  std::uint32_t estimated_ = 0;  // the memory whose rows the estimates are of
  bool running_ = false;
  std::uint64_t take_rows_ = 0;  // of the newest take
  FilterScratch scratch_;
  std::array<MemoryFilter*, MemoryEvidence::kMost> memories_{};
  std::array<LevelFilter*, kMost - MemoryEvidence::kMost> level_filters_{};
  std::array<const FilteredPosterior*, kMost> posteriors_{};  // of the memories, then of the levels
  MemoryEvidence evidence_;
  MemoryWeights weights_;
  MemoryWeights origins_{2, 2};  // at the posterior, at the filter; unless y is normal
  Response response_;
  NoiseScales noise_;
  std::uint64_t seed_;
  std::uint32_t draws_;
  double* normals_;  // draws x columns, by columns: of mean 0 and variance 1
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_CHOICE_H_
