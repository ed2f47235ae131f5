// Hints for rows of many columns that are wanted soon.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

struct RowBlockParts;

// A row's numbers are fetched first, then what belongs to its columns, bit by bit while others
// enter, leave or move.
//
// Invariant: the columns that are waited for are the last ones of a row that stays in place. One
// thread.
class ColumnsAhead {
 public:
  // The parts outlive it.
  explicit ColumnsAhead(const RowBlockParts& parts) noexcept : parts_(parts) {}

  // That row is wanted soon.
  void fetch(const double* row, std::uint32_t slot) const noexcept;
  // And its columns sooner; those of the one before are fetched now. REQUIRES: that row stays until
  // there is another, or forget().
  void fetch_columns(const double* row) noexcept;
  // Some of them.
  void fetch_some() noexcept { fetch_some(together_); }
  void forget() noexcept { columns_ = {}; }
  std::size_t waiting() const noexcept { return columns_.size(); }

 private:
  void fetch_some(std::size_t count) noexcept;

  const RowBlockParts& parts_;
  std::span<const std::uint32_t> columns_;
  std::size_t together_ = 0;  // so many at a time
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_
