// Hints for rows of many columns that are wanted soon.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

struct RowBlockParts;

// First a row's numbers are fetched, then what belongs to its columns, piece by piece while other
// rows enter, leave or move.
//
// Invariant: the columns still to be fetched are the last ones of a row that stays in place. One
// thread.
class ColumnsAhead {
 public:
  // The parts outlive it.
  explicit ColumnsAhead(const RowBlockParts& parts) noexcept : parts_(parts) {}

  // Fetches a row that is wanted soon.
  void fetch(const double* row, std::uint32_t slot) const noexcept;
  // Begins to fetch the columns of the row that is wanted next; what is left of the row before is
  // fetched at once. REQUIRES: the row stays until the next such call, or forget().
  void fetch_columns(const double* row) noexcept;
  // Fetches some of these columns.
  void fetch_some() noexcept { fetch_some(together_); }
  void forget() noexcept { columns_ = {}; }
  std::size_t waiting() const noexcept { return columns_.size(); }

 private:
  void fetch_some(std::size_t count) noexcept;

  const RowBlockParts& parts_;
  std::span<const std::uint32_t> columns_;
  std::size_t together_ = 0;  // how many fetch_some() takes
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMNS_AHEAD_H_
