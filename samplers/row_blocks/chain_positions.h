// Where the chains of many columns are.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_POSITIONS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_POSITIONS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover {

// The variance over the chains of one number each.
inline float variance_of(std::span<const float> numbers) noexcept {
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const float number : numbers) squares += (number - mean) * (number - mean);
  return static_cast<float>(squares / count);
}

// Holds for each column theta of all chains, and beside them G of all (row_block_langevin.h).
//
// Invariant: met() lists the columns that have had a row, in the order of their first rows; theta
// of all other columns is NaN. Numbers are in single precision. Every row touches the intercept, so
// its G is in double precision, and the one beside its theta is a copy. One thread. Memory: 8 bytes
// a chain and column, 4 a column. No function but reset() takes time in proportion to the columns.
class ChainPositions {
 public:
  ChainPositions(Arena& arena, std::uint32_t columns, std::uint32_t chains,
                 bool has_intercept) noexcept
      : columns_(columns),
        chains_(chains),
        has_intercept_(has_intercept),
        numbers_(arena.allocate<float>(std::size_t{2} * columns * chains).data()),
        intercept_force_(arena.allocate<double>(chains).data()),
        met_(arena.allocate<std::uint32_t>(columns).data()) {}
  void reset() noexcept {
    met_count_ = 0;
    std::fill_n(intercept_force_, chains_, 0.0);
    for (std::uint32_t column = 0; column < columns_; ++column) {
      std::fill_n(theta(column), chains_, std::numeric_limits<float>::quiet_NaN());
      std::fill_n(force(column), chains_, 0.0F);
    }
  }

  std::uint32_t columns() const noexcept { return columns_; }
  // The intercept is the last column, where there is one.
  bool has_intercept() const noexcept { return has_intercept_; }
  std::uint32_t intercept() const noexcept { return columns_ - 1; }
  bool is_intercept(std::uint32_t column) const noexcept {
    return has_intercept_ && column + 1 == columns_;
  }

  float* theta(std::uint32_t column) const noexcept {
    return numbers_ + std::size_t{2} * column * chains_;
  }
  float* force(std::uint32_t column) const noexcept { return theta(column) + chains_; }
  // Theta of column 0; theta of the next column is 2 x chains floats further on.
  const float* first() const noexcept { return numbers_; }
  // The mean over the chains of one number each.
  double mean(const float* numbers) const noexcept {
    return std::accumulate(numbers, numbers + chains_, 0.0) / chains_;
  }

  // These add to G of one chain, add to the intercept's G of each chain, and set G of all chains of
  // a column.
  void add_force(std::uint32_t column, std::uint32_t chain, double more) noexcept {
    float& of_chain = force(column)[chain];
    if (is_intercept(column)) {
      intercept_force_[chain] += more;
      of_chain = static_cast<float>(intercept_force_[chain]);
    } else {
      of_chain += static_cast<float>(more);
    }
  }
  void add_to_intercept(const float* more) noexcept {
    float* of_chains = force(intercept());
    for (std::uint32_t c = 0; c < chains_; ++c) {
      intercept_force_[c] += more[c];
      of_chains[c] = static_cast<float>(intercept_force_[c]);
    }
  }
  void set_force(std::uint32_t column, float all) noexcept {
    std::fill_n(force(column), chains_, all);
    if (is_intercept(column)) std::fill_n(intercept_force_, chains_, double{all});
  }

  bool is_met(std::uint32_t column) const noexcept { return !std::isnan(*theta(column)); }
  // A column has its first row: theta is to be written next.
  void meet(std::uint32_t column) noexcept { met_[met_count_++] = column; }
  std::span<const std::uint32_t> met() const noexcept { return {met_, met_count_}; }

  // Calls use(columns) for those that have had a row, kSurveyedColumns at a time. Before, it calls
  // fetch(column), for a hint at what else the caller wants of the column.
  template <class Fetch, class Use>
  void for_met(const Fetch& fetch, const Use& use) const noexcept {
    std::array<std::uint32_t, kSurveyedColumns> columns;
    std::size_t count = 0;
    const auto add = [&](std::uint32_t column) {
      columns[count++] = column;
      if (count < kSurveyedColumns) return;
      use(std::span<const std::uint32_t>(columns));
      count = 0;
    };
    if (met_count_ >= columns_ / kScanned) {
      for (std::uint32_t column = 0; column < columns_; ++column) {
        const std::uint32_t ahead = std::min(column + kScannedAhead, columns_ - 1);
        __builtin_prefetch(theta(ahead));
        fetch(ahead);
        if (is_met(column)) add(column);
      }
    } else {
      for (const std::uint32_t column : met()) {
        __builtin_prefetch(theta(column));
        fetch(column);
        add(column);
      }
    }
    if (count > 0) use(std::span<const std::uint32_t>(columns).first(count));
  }

  // Both show their numbers in the section that is open: how many columns have had a row, and the
  // rest.
  void visit_count(StateVisitor& visitor) noexcept { visitor.values(met_count_); }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.visit(std::span(met_, columns_));
    visitor.visit(
        std::span(reinterpret_cast<std::uint32_t*>(numbers_), std::size_t{2} * columns_ * chains_));
    visitor.visit(intercept_force_, chains_);
  }

 private:
  // Where at least one column in kScanned has had a row, for_met() goes through all columns in
  // memory order: neighbours are read three times as fast.
  static constexpr std::uint32_t kScanned = 4;
  // How far ahead it fetches: processors do not read on by themselves where a page of memory ends.
  static constexpr std::uint32_t kScannedAhead = 96;

  std::uint32_t columns_;
  std::uint32_t chains_;
  bool has_intercept_;
  float* numbers_;
  double* intercept_force_;
  std::uint32_t* met_;
  std::uint32_t met_count_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_POSITIONS_H_
