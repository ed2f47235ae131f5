// How many rows of the window say nothing new, because an equal row stands before them?
#ifndef WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_
#define WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_

#include <cstdint>
#include <limits>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A row sent twice under two sequence numbers counts twice, and the posterior is too narrow for it.
// Rows are equal when features, target and extras are, bit for bit: with few categories that
// happens of itself, with measured features hardly ever.
//
// Counts a pass over the window by distinct sampling (Gibbons 2001): all rows with equal hash are
// kept track of, or none, and half as many hashes as before whenever the table is full. Up to
// kMostKept distinct rows that is exact; beyond, a share p is off by sqrt((1 - p) / p / kMostKept)
// to twice that, relatively: 5 % at p = 0.1. A pass begins with what share of the hashes the one
// before could keep, and twice that where half the table stayed empty. One thread. A row costs one
// hash.
class RepeatedRows {
 public:
  static constexpr std::uint32_t kMostKept = 8192;

  // Takes memory, writes nothing. 28 bytes for each of min(window_size, kMostKept) rows, rounded up
  // to a power of two.
  RepeatedRows(Arena& arena, std::uint64_t window_size) noexcept;
  void reset() noexcept;  // forgets what is known, too

  void begin_pass() noexcept;
  void add(const RowLayout& layout, const RowBatch& rows) noexcept;
  void end_pass() noexcept;

  // Rows of the last pass that repeat another one, over all rows: (rows - distinct) / rows. NaN
  // before the first pass.
  double share() const noexcept { return share_; }

  // The places follow from the hashes and their order.
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
  std::uint32_t* places_;  // 4 most_: which hash, by its low bits and linear probing
  std::uint32_t size_ = 0;
  std::uint64_t stride_ = 1;  // one hash in this many is kept
  double share_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_REPEATED_ROWS_H_
