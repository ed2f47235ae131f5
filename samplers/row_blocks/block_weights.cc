#include "windhover/samplers/row_blocks/block_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

namespace windhover {

namespace {

constexpr double kEvenShare = 0.5;
// The largest weight that ingestion lets through.
constexpr double kMostWeight = 1e6;
// The weight of the newest square in a mean of scatter: for each chain that looked, and at most.
constexpr float kNewestVisit = 1.0F / 16;
constexpr float kNewestVisits = 1.0F / 2;
// The most that a step counts for in the mean of its column.
constexpr double kMostLength = 4;

// Quanta in a weight of 1: sums over all slots stay below 2^63, with a bit to spare.
double quanta_a_weight(std::uint64_t slots) noexcept {
  const double most = std::max(1.0, static_cast<double>(slots)) * kMostWeight;
  return std::exp2(std::floor(62 - std::log2(most)));
}

}  // namespace

BlockWeights::BlockWeights(Arena& arena, std::uint32_t columns, std::uint64_t slots) noexcept
    : column_count_(slots > 0 ? columns : 0),
      slot_count_(slots),
      quanta_a_weight_(quanta_a_weight(slots)),
      slots_(arena, slots),
      scatter_(arena.allocate<float>(slot_count_).data()),
      columns_(arena.allocate<Column>(column_count_).data()) {}

void BlockWeights::reset() noexcept {
  slots_.reset();
  octaves_ = {};
  std::fill_n(scatter_, slot_count_, 0.0F);
  std::uninitialized_fill_n(columns_, column_count_, Column{0, 0, 0, 0, 0, 0});
  total_ = 0;
  rows_ = 0;
  share_draws();
}

// The row's quanta among the draws that are in proportion to weights.
std::uint64_t BlockWeights::draws_of(const RowColumns& row) const noexcept {
  return static_cast<std::uint64_t>(std::max(1LL, std::llrint(row.weight * quanta_a_weight_)));
}

void BlockWeights::share_draws() noexcept {
  const auto total = static_cast<double>(slots_.total());
  even_ = total > 0 ? kEvenShare : 1;
  per_quantum_ = total > 0 ? (1 - kEvenShare) * static_cast<double>(rows_) / total : 0;
}

double BlockWeights::mean() const noexcept {
  if (rows_ == 0) return 1;
  return number_of(total_) / kWeightQuanta / static_cast<double>(rows_);
}

double BlockWeights::share_beyond(std::uint64_t heaviest) const noexcept {
  if (slots_.total() == 0) return 1;
  double beyond = 0;
  for (std::size_t bits = octaves_.size(); bits-- > 0;) {
    const Octave& octave = octaves_[bits];
    if (octave.rows == 0) continue;
    const std::uint64_t taken = std::min(heaviest, octave.rows);
    heaviest -= taken;
    const auto left = static_cast<double>(octave.rows - taken);
    beyond += static_cast<double>(octave.weight) * left / static_cast<double>(octave.rows);
  }
  return beyond / static_cast<double>(slots_.total());
}

// A slot without a row weighs nothing.
void BlockWeights::weigh(std::uint32_t slot, std::uint64_t quanta) noexcept {
  const std::uint64_t before = slots_.weight(slot);
  Octave& old = octaves_[static_cast<std::size_t>(std::bit_width(before))];
  old.weight -= before;
  if (before > 0) --old.rows;
  Octave& now = octaves_[static_cast<std::size_t>(std::bit_width(quanta))];
  now.weight += quanta;
  if (quanta > 0) ++now.rows;
  slots_.set(slot, quanta);
}

// iota is concave in w, so that this is at least the mean of iota over the rows, counted by weight.
double BlockWeights::length_of(std::uint32_t column) const noexcept {
  const double weight = columns_[column].mean;
  return weight / (even_ + per_quantum_ * quanta_a_weight_ * weight);
}

// Adds the row's weight to all sums, or, with sign -1, takes it from them.
void BlockWeights::count(const RowColumns& row, int sign) noexcept {
  const Quanta weight = sign * quanta_of(row.weight * kWeightQuanta);
  const Quanta square = sign * quanta_of(row.weight * row.weight * kSquareQuanta);
  total_ += weight;
  for (std::size_t k = 0; k < row.count; ++k) {
    Column& column = columns_[row.column(k)];
    column.weight += weight;
    column.squares += square;
    column.together = number_of(column.weight) / kWeightQuanta;
    const double squares = number_of(column.squares) / kSquareQuanta;
    column.mean = column.together > 0 ? squares / column.together : 0;
  }
}

void BlockWeights::enter(const RowColumns& row, std::uint32_t slot, float scatter) noexcept {
  ++rows_;
  weigh(slot, draws_of(row));
  share_draws();
  count(row, 1);
  scatter_[slot] = scatter;
  for (std::size_t k = 0; k < row.count; ++k) {
    Column& column = columns_[row.column(k)];
    const double newest = row.value(k) * row.value(k) * scatter;
    // The mean over rows that enter counts each of them once.
    column.scatter += (newest - column.scatter) / static_cast<double>(++column.rows);
  }
}

void BlockWeights::leave(const RowColumns& row, std::uint32_t slot) noexcept {
  --rows_;
  weigh(slot, 0);
  share_draws();
  count(row, -1);
  for (std::size_t k = 0; k < row.count; ++k) --columns_[row.column(k)].rows;
}

void BlockWeights::enter_aside() noexcept {
  ++rows_;
  share_draws();
}

void BlockWeights::leave_aside() noexcept {
  --rows_;
  share_draws();
}

void BlockWeights::follow_scatter(const RowColumns& row, std::uint32_t slot, float square,
                                  std::uint32_t chains) noexcept {
  const float newest = std::min(kNewestVisits, static_cast<float>(chains) * kNewestVisit);
  // A column is visited more often than a row, and some visits count for more than one.
  const double newest_of_column = newest / kMostLength;
  const float scatter = scatter_[slot];
  const double length = length_of(row, slot);
  for (std::size_t k = 0; k < row.count; ++k) {
    Column& column = columns_[row.column(k)];
    const double counts = std::min(length / length_of(row.column(k)), kMostLength);
    const double value = row.value(k);
    column.scatter +=
        newest_of_column * counts * (counts * value * value * scatter - column.scatter);
  }
  scatter_[slot] += newest * (square - scatter);
}

void BlockWeights::visit_state(StateVisitor& visitor) noexcept {
  visitor.value(rows_);
  slots_.visit_state(visitor);
  visitor.visit({reinterpret_cast<std::uint32_t*>(scatter_), slot_count_});
  visit_quanta(visitor, &total_, 1);
  static_assert(sizeof(Column) == 8 * sizeof(std::uint64_t));
  visitor.visit({reinterpret_cast<std::uint64_t*>(columns_), std::size_t{8} * column_count_});
  for (Octave& octave : octaves_) visitor.values(octave.rows, octave.weight);
  if (visitor.restores()) share_draws();
}

}  // namespace windhover
