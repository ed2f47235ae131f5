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

// Half of the draws take every row alike, half take rows in proportion to their weights. A row of
// weight w is drawn
//   q = 1/2 + w / (2 mean weight)
// times in as many draws as there are rows, and its step is iota = w / q times as long. Together
// the steps then belong to the whole posterior, and no row is drawn too rarely, whether it weighs
// next to nothing or nearly all. q and iota are those of the rows that are there now.
//
// All sums are sums of whole numbers, so a row that leaves takes out exactly what it brought, to
// the bit. For the draws a weight is rounded to quanta, at least one, that a window of the heaviest
// rows fills (2^-25 for 100,000 rows). q is computed from the rounded weight; w is not rounded.
//
// Memory: 20 to 36 bytes a row, 64 a column. One thread.
class BlockWeights {
 public:
  // `slots` 0: rows have no weights; nothing but reset() may be called.
  BlockWeights(Arena& arena, std::uint32_t columns, std::uint64_t slots) noexcept;
  void reset() noexcept;

  // A row comes, or goes. `scatter` is a guess of the mean square by which its residual changes
  // between two looks. O(non-zeros + log slots).
  void enter(const RowColumns& row, std::uint32_t slot, float scatter) noexcept;
  void leave(const RowColumns& row, std::uint32_t slot) noexcept;
  // Likewise for a row that is drawn with all others but says nothing.
  void enter_aside() noexcept;
  void leave_aside() noexcept;

  // The slot for a uniform number u; `any` is a slot drawn from all rows alike. O(log slots).
  std::uint32_t slot_of(double u, std::uint32_t any) const noexcept {
    return u < even_ ? any : slots_.at((u - even_) / (1 - even_));
  }

  // iota: of a row, or of a column's rows at their mean weight, each counted by its weight. That
  // mean is no less than the plain one.
  double length_of(const RowColumns& row, std::uint32_t slot) const noexcept {
    return row.weight / (even_ + per_quantum_ * static_cast<double>(slots_.weight(slot)));
  }
  double length_of(std::uint32_t column) const noexcept;
  // The mean weight of the rows; 1 without rows.
  double mean() const noexcept;
  // The share of all weight that is left without that many heaviest rows, to a factor of 2.
  double share_beyond(std::uint64_t heaviest) const noexcept;

  // The sum of the weights of the rows of a column.
  double weight_of(std::uint32_t column) const noexcept { return columns_[column].together; }

  // The mean square of a residual's change between two looks: of one row, or over a column's rows,
  // each times the square of its value and its iota over the column's.
  float scatter_of(std::uint32_t slot) const noexcept { return scatter_[slot]; }
  double scatter_of_column(std::uint32_t column) const noexcept { return columns_[column].scatter; }
  // Follows the scatter of a row at which `chains` chains have looked; `square` is the mean square
  // by which its residual has changed.
  void follow_scatter(const RowColumns& row, std::uint32_t slot, float square,
                      std::uint32_t chains) noexcept;

  void prefetch(std::uint32_t column) const noexcept { __builtin_prefetch(columns_ + column); }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // Quanta in 1, chosen so that sums over 10^9 rows of any weight stay below 2^124.
  static constexpr double kWeightQuanta = 0x1p48;
  static constexpr double kSquareQuanta = 0x1p48;

  struct Column {
    Quanta squares;   // sum of w^2
    Quanta weight;    // sum of w
    double together;  // `weight` as a double
    double mean;      // squares / weight: the mean weight, where a row counts by its weight
    double scatter;   // see scatter_of_column()
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
  double even_ = 1;         // share of the draws that takes every row alike
  double per_quantum_ = 0;  // what a quantum of weight adds to q
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_BLOCK_WEIGHTS_H_
