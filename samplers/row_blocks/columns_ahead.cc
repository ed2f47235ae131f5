#include "windhover/samplers/row_blocks/columns_ahead.h"

#include <algorithm>

#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

namespace {

// In how many pieces the numbers of a row's columns are fetched.
constexpr std::size_t kPieces = 8;

// The lines are fetched for reading: to say that they will be written is slower (tried.md).
void fetch_lines(const void* numbers, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const auto* first = static_cast<const std::byte*>(numbers);
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(first + i);
}

}  // namespace

void ColumnsAhead::fetch(const double* row, std::uint32_t slot) const noexcept {
  parts_.kept.fetch(slot);
  constexpr std::size_t kMostNumbers = 128;  // the rest comes by itself
  const std::size_t numbers = std::min(parts_.layout.stride(), kMostNumbers);
  for (std::size_t i = 0; i < numbers; i += 8) __builtin_prefetch(row + i);
}

void ColumnsAhead::fetch_columns(const double* row) noexcept {
  fetch_some(columns_.size());
  const SparseRow sparse(parts_.layout, row);
  columns_ = {sparse.indices, sparse.count};
  together_ = (sparse.count + kPieces - 1) / kPieces;
}

// Fetches the next of the columns that are wanted soon. A core waits for some dozen lines at a
// time: what is asked for beyond that holds up all else.
void ColumnsAhead::fetch_some(std::size_t count) noexcept {
  const auto columns = columns_.first(std::min(count, columns_.size()));
  columns_ = columns_.subspan(columns.size());
  const std::size_t bytes = 2 * sizeof(float) * parts_.chains;
  for (const std::uint32_t column : columns) {
    fetch_lines(parts_.positions.theta(column), bytes);
    parts_.columns.fetch(column);
  }
  if (parts_.prior.past().kept()) {
    for (const std::uint32_t column : columns) parts_.prior.fetch(column);
  }
  if (!parts_.weighs_rows()) return;
  for (const std::uint32_t column : columns) {
    fetch_lines(parts_.exact.force_of(column), sizeof(Quanta) * parts_.chains);
    parts_.weights.prefetch(column);
  }
}

}  // namespace windhover
