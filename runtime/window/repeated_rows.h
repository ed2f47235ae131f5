// Estimates the share of the window's rows that repeat one before them.
#ifndef WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_
#define WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_

#include <cstdint>
#include <limits>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A row sent twice counts twice, and the posterior is too narrow for it. Rows are equal when
// features, target and extras are, bit for bit: with few categories that happens of itself, with
// measured features hardly ever.
//
// Counts during a pass over the window, by distinct sampling (Gibbons 2001): either all rows of
// equal hash are counted, or none, and whenever the table is full half of its hashes are given up.
// Up to kMostKept distinct rows that is exact (where a table of that size was taken); beyond, the
// share p has a relative error of sqrt((1 - p) / p / kMostKept) to twice that: 3 to 7 % at p = 0.1.
// A pass begins with the share of hashes that the one before could keep, or twice that where half
// the table stayed empty. One thread. A row costs one hash.
class RepeatedRows {
 public:
  static constexpr std::uint32_t kMostKept = 8192;

  // Takes memory, writes nothing: 28 bytes for each of min(window_size, kMostKept) rows, rounded up
  // to a power of two.
  RepeatedRows(Arena& arena, std::uint64_t window_size) noexcept;
  void reset() noexcept;  // forgets the share, too

  void begin_pass() noexcept;
  void add(const RowLayout& layout, const RowBatch& rows) noexcept;
  void end_pass() noexcept;

  // Rows of the last pass that repeat another one, over all rows: (rows - distinct) / rows. NaN
  // before the first pass.
  double share() const noexcept { return share_; }

  // Shows hashes and counts; their places follow from them.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  void count(std::uint64_t hash) noexcept;
  std::uint32_t* place(std::uint64_t hash) noexcept;
  bool kept(std::uint64_t hash) const noexcept { return ((hash >> 32) & (stride_ - 1)) == 0; }
  void keep_half() noexcept;
  void clear_places() noexcept;
  void find_places() noexcept;

  std::uint32_t most_;
  std::uint64_t* hashes_;  // most_, in the order in which they came
  std::uint32_t* counts_;  // most_
  std::uint32_t* places_;  // 4 most_: index of the hash, by its low bits and linear probing
  std::uint32_t size_ = 0;
  std::uint64_t stride_ = 1;  // one hash in this many is kept
  double share_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_
