// Draws rows in proportion to what they count for by their age.
#ifndef WINDHOVER_RUNTIME_WINDOW_AGE_DRAWS_H_
#define WINDHOVER_RUNTIME_WINDOW_AGE_DRAWS_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/random.h"
#include "windhover/runtime/window/age_weights.h"

namespace windhover {

// Walker's alias method (1977), with tables as Vose (1991) makes them, over the steps in which
// weights fall: two random words, a comparison and two multiplications a row, 3.6 ns, a tenth of
// inverting the exponential; fill_indices(), for rows that all count the same, takes 1.1 ns. A
// row's probability is off by less than 2^-32, and by its own times the rows of a step / 2^32.
//
// Scratch: what it holds follows from the rows it was prepared for. One thread; 2.6 KB.
class AgeDraws {
 public:
  // From here on draws are from the rows [first, end). O(steps), about 1 us; does nothing if they
  // are already. REQUIRES: !ages.flat(), first < end, at most ages.rows() of them.
  void prepare(const AgeWeights& ages, std::uint64_t first, std::uint64_t end) noexcept;

  // Draws rows with replacement, and writes their numbers less `first`. A shorter draw from the
  // same position is the beginning of a longer one.
  void draw(std::uint64_t seed, const RandomPosition& position,
            std::span<std::uint32_t> out) const noexcept;

 private:
  // Above the most steps that 2 N rows lie in: 126, with N = 63 and steps of one row.
  static constexpr std::uint32_t kMostSteps = 128;

  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t rows = 0;
  };
  // A column has the probability 1 / columns_: the part share / 2^32 of it is its own piece's, the
  // rest another piece's.
  struct Column {
    std::uint32_t share = 0;
    std::array<Piece, 2> pieces;
  };

  AgeWeights ages_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint32_t columns_ = 0;
  std::array<Column, kMostSteps> table_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_AGE_DRAWS_H_
