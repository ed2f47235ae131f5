// Rows of the window as bytes, without padding and unchanged to the bit, for a log and a
// checkpoint.
#ifndef WINDHOVER_RUNTIME_WINDOW_PACKED_ROWS_H_
#define WINDHOVER_RUNTIME_WINDOW_PACKED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/platform/status.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// Little-endian, one row after another, no padding:
//   dense:  features x float64, target float64, extras x float64
//   sparse: count uint32, target float64, extras x float64, count x float64 values,
//           count x uint32 indices
// Extras are those of samplers/rows.h that rows are sent with; the learner's weight is left out,
// and set to the given one again by unpack(). The bits of the numbers are those of the rows, NaN
// included. A value type; any thread.
class PackedRows {
 public:
  explicit PackedRows(const RowLayout& layout) noexcept : layout_(layout) {}

  // How many bytes the largest possible row takes.
  std::size_t largest() const noexcept { return bytes_of_count(layout_.max_nonzeros()); }
  // How many bytes so many rows take; of sparse ones, with so many values together.
  std::size_t bytes_of(std::uint64_t rows, std::uint64_t values) const noexcept {
    return rows * bytes_of_count(0) + (layout_.sparse() ? values * kValueBytes : 0);
  }
  // How many bytes this row of the window takes.
  std::size_t bytes_of(const double* row) const noexcept;
  // Writes bytes_of(row) bytes.
  void pack(const double* row, std::byte* out) const noexcept;

  // How many bytes the first row of `bytes` takes, or 0 where they are no whole row.
  std::size_t first_row(std::span<const std::byte> bytes) const noexcept;
  // How many bytes the first `rows` rows take; nothing: there are not so many. Complexity, here and
  // below: O(1) dense, O(rows) sparse.
  std::optional<std::size_t> first_rows(std::span<const std::byte> bytes,
                                        std::uint64_t rows) const noexcept;
  // Whether `bytes` are exactly `rows` rows.
  bool holds(std::span<const std::byte> bytes, std::uint64_t rows) const noexcept {
    return first_rows(bytes, rows) == bytes.size();
  }

  // Writes the first row of `bytes` into a slot of the window. After kTooManyNonzeros,
  // kIndexOutOfRange or kIndicesNotIncreasing what the slot holds is not defined. Does not check
  // the values of the numbers. REQUIRES: first_row() is not 0.
  Status unpack(std::span<const std::byte> bytes, double* row) const noexcept;

 private:
  static constexpr std::size_t kValueBytes = sizeof(double) + sizeof(std::uint32_t);  // and index

  std::size_t bytes_of_count(std::size_t count) const noexcept;
  // How many numbers target and extras are.
  std::size_t of_target() const noexcept { return 1 + layout_.extras(); }

  RowLayout layout_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_PACKED_ROWS_H_
