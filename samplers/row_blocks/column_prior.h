// What holds each of many columns beside the rows that are there.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_PRIOR_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_PRIOR_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/row_blocks/chain_positions.h"
#include "windhover/samplers/row_blocks/column_table.h"
#include "windhover/samplers/row_blocks/condensed_past.h"
#include "windhover/samplers/row_blocks/learned_precision.h"
#include "windhover/samplers/row_blocks/past_memory.h"
#include "windhover/samplers/row_blocks/row_noise.h"

namespace windhover {

// A prior precision that all columns but the intercept share, given or learned, times a factor for
// each column (its relevance); and what rows that have left have said of the columns.
//
// Invariant: the precision of each column is positive, and the past fades by the memory that has
// predicted best. One thread. Memory: that of CondensedPast and PastMemory.
class ColumnPrior {
 public:
  // `past`: how many rows those that have left may be worth at most; 0 keeps nothing of them. The
  // references after `past` outlive this object.
  ColumnPrior(Arena& arena, const ModelConfig& model, std::uint64_t past,
              const ChainPositions& positions, const ColumnTable& columns,
              const RowNoise& noise) noexcept;
  void reset() noexcept;

  // lambda_j.
  double of(std::uint32_t column) const noexcept {
    if (positions_.is_intercept(column)) return intercept_;
    return precision_.value() * double{columns_.of(column).relevance};
  }
  // What holds the column beside its rows: dispersion x lambda_j + p_j, in units of dispersion 1.
  double pull(std::uint32_t column) const noexcept {
    const double pull = of(column) * noise_.dispersion().value();
    return past_.kept() ? pull + past_.of(column).precision : pull;
  }
  // Where a learned precision begins, for rows with `nonzeros` non-zeros.
  double start(double nonzeros) const noexcept;
  bool is_learned() const noexcept { return learned_; }
  // The prior of all columns but the intercept: the precision of a column without rows, and its
  // tails.
  LearnedPrecision& precision() noexcept { return precision_; }
  const LearnedPrecision& precision() const noexcept { return precision_; }

  CondensedPast& past() noexcept { return past_; }
  const CondensedPast& past() const noexcept { return past_; }
  // The most rows that the past may be worth now; 0 where none is kept.
  double memory() const noexcept { return past_.kept() ? memory_.rows() : 0; }
  // Takes a row that has come. REQUIRES: the past is kept.
  void take(const RowColumns& row) noexcept;
  // A hint that the past of a column is wanted soon.
  void fetch(std::uint32_t column) const noexcept {
    __builtin_prefetch(&past_.of(column));
    memory_.fetch(column);
  }

  // Shows its numbers in the section that is open, and in sections of its own.
  void visit_past(StateVisitor& visitor) noexcept;
  void visit_precision(StateVisitor& visitor) noexcept { precision_.visit_state(visitor); }

 private:
  const ChainPositions& positions_;
  const ColumnTable& columns_;
  const RowNoise& noise_;
  LearnedPrecision precision_;
  CondensedPast past_;
  PastMemory memory_;
  std::uint64_t longest_past_;
  std::uint32_t max_nonzeros_;
  bool learned_;
  double given_;
  double intercept_;
  double least_;
  double most_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_PRIOR_H_
