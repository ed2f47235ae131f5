// What weights of rows change in row blocks: how often a row is drawn, and how long its step is.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_BLOCK_WEIGHTS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_BLOCK_WEIGHTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/exact_sum.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/weighted_slots.h"

namespace windhover {

// Half of the draws take any row alike, half take rows in proportion to weights. A row of weight w
// is drawn
//   q = 1/2 + w / (2 mean weight)
// times in as many draws as there are rows, and its step is as long as iota = w / q says: by weight
// over draws all steps together are of the whole posterior, and neither a row that weighs next to
// nothing nor one that weighs nearly all is drawn too rarely. q and iota are those of the rows that
// are there now.
//
// All sums are of whole numbers: a row that leaves takes all that it brought, to the bit. Rows are
// drawn by weights rounded to quanta that a window of the heaviest fills (2^-26 for 100,000 rows),
// one at least; q is what they are then drawn, and w is not rounded.
//
// Memory: 20 to 36 bytes a row, 64 a column. One thread.
class BlockWeights {
 public:
  // `slots` 0: rows have no weights; nothing but reset() may be called.
  BlockWeights(Arena& arena, std::uint32_t columns, std::uint64_t slots) noexcept;
  void reset() noexcept;

  // A row comes, or goes. `scatter`: mean square of what its residual changes by between two looks,
  // as a guess. O(non-zeros + log slots).
  void enter(const RowColumns& row, std::uint32_t slot, float scatter) noexcept;
  void leave(const RowColumns& row, std::uint32_t slot) noexcept;
  // Likewise for a row that is drawn with all others but says nothing.
  void enter_aside() noexcept;
  void leave_aside() noexcept;

  // The slot for a uniform number u, where `any` is one of all rows alike. O(log slots).
  std::uint32_t slot_of(double u, std::uint32_t any) const noexcept {
    return u < even_ ? any : slots_.at((u - even_) / (1 - even_));
  }

  // iota of a row; and of the rows of a column, at the mean weight that a step is for, which is no
  // less than their mean.
  double length_of(const RowColumns& row, std::uint32_t slot) const noexcept {
    return row.weight / (even_ + per_quantum_ * static_cast<double>(slots_.weight(slot)));
  }
  double length_of(std::uint32_t column) const noexcept;
  // The mean weight of the rows; 1 without rows.
  double mean() const noexcept;
  // The share of all weight that is not that of the so many heaviest rows, to a factor of 2.
  double share_beyond(std::uint64_t heaviest) const noexcept;

  // The sum of the weights of the rows of a column.
  double weight_of(std::uint32_t column) const noexcept { return columns_[column].together; }

  // The mean square of the change of a residual between two looks: of one row; and over the rows of
  // a column, each times the square of its value and its iota over the column's.
  float scatter_of(std::uint32_t slot) const noexcept { return scatter_[slot]; }
  double scatter_of_column(std::uint32_t column) const noexcept { return columns_[column].scatter; }
  // Follows the scatter of a row that `chains` chains have looked at and whose residual has changed
  // by the root of `square`.
  void follow_scatter(const RowColumns& row, std::uint32_t slot, float square,
                      std::uint32_t chains) noexcept;

  void prefetch(std::uint32_t column) const noexcept { __builtin_prefetch(columns_ + column); }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // Quanta in 1, for sums of w and of w^2 over 10^9 rows of any weight.
  static constexpr double kWeightQuanta = 0x1p48;
  static constexpr double kSquareQuanta = 0x1p48;

  struct Column {
    Quanta squares;   // sum of w^2
    Quanta weight;    // sum of w
    double together;  // the latter
    double mean;     // squares over weight: the mean weight where rows count as often as they weigh
    double scatter;  // see scatter_of_column()
    std::uint64_t rows;
  };

  // The rows whose quanta have the same number of bits.
  struct Octave {
    std::uint64_t rows = 0;
    std::uint64_t weight = 0;
  };

  void weigh(std::uint32_t slot, std::uint64_t quanta) noexcept;
  void count(const RowColumns& row, int sign) noexcept;
  std::uint64_t draws_of(const RowColumns& row) const noexcept;
  void share_draws() noexcept;

  std::uint32_t column_count_;
  std::uint64_t slot_count_;
  double quanta_a_weight_;
  WeightedSlots slots_;
  float* scatter_;   // slots
  Column* columns_;  // columns
  std::array<Octave, 65> octaves_;
  Quanta total_ = 0;        // of all weights
  std::uint64_t rows_ = 0;  // that can be drawn
  double even_ = 1;         // share of the draws that is of any row
  double per_quantum_ = 0;  // of weight, what q has beside
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_BLOCK_WEIGHTS_H_
