// How many rows the past of many columns should be worth: as many as have predicted best.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_PAST_MEMORY_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_PAST_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

// Compares memories of N, N / 5 and N / 25 rows. Each is followed by a normal density for each
// column, which takes in each row as it comes and fades as CondensedPast does (assumed density
// filtering of a logistic model: Opper 1998). All three predict a row before they learn from it.
// Another memory is chosen once the sum of its lead in log score, counted from where that sum was
// least, passes kEvidence nats (Page's CUSUM). The longest is chosen at first.
//
// Invariant: evidence is never negative. One thread. Memory: 32 bytes a column; time a row in
// proportion to its non-zeros.
class PastMemory {
 public:
  static constexpr std::size_t kCount = 3;
  static constexpr double kEvidence = 20;

  // `columns`: 0 where nothing is compared; the last is the intercept where there is one.
  PastMemory(Arena& arena, std::uint32_t columns) noexcept;
  // Begins anew, with a longest memory of `rows` rows.
  void reset(double rows) noexcept;

  // Takes a row that has come; `precision` is the prior's, of all columns but the intercept.
  // Returns whether rows() has changed.
  bool take(const RowColumns& row, double precision, double intercept_precision) noexcept;
  double rows() const noexcept { return rows_[chosen_]; }
  void fetch(std::uint32_t column) const noexcept { __builtin_prefetch(columns_ + column); }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  template <class Number>
  using OfEach = std::array<Number, kCount>;

  struct Column {
    OfEach<float> centre;
    OfEach<float> precision;  // beside the prior's, as of ...
    std::uint64_t as_of;      // ... this many rows
  };

  void predict(const RowColumns& row) noexcept;
  void learn(const RowColumns& row) noexcept;
  bool compare(double target) noexcept;
  float prior_of(const RowColumns& row, std::size_t k) const noexcept {
    return k < row.sparse.count ? precision_ : intercept_precision_;
  }

  std::uint32_t count_;
  Column* columns_;
  OfEach<double> rows_{};
  OfEach<double> evidence_{};  // lead over the chosen memory, nats
  std::uint64_t taken_ = 0;
  std::uint32_t chosen_ = 0;
  float precision_ = 1;  // scratch, as are the members below
  float intercept_precision_ = 1;
  OfEach<double> eta_{};
  OfEach<double> variance_{};
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_PAST_MEMORY_H_
