// Rows drawn as often as they count by their age.
#ifndef WINDHOVER_RUNTIME_WINDOW_AGE_DRAWS_H_
#define WINDHOVER_RUNTIME_WINDOW_AGE_DRAWS_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/random.h"
#include "windhover/runtime/window/age_weights.h"

namespace windhover {

// Walker's alias method (1977), with tables as Vose (1991) makes them, over the steps in which
// weights fall: two words, a comparison and a multiplication a row, 3.6 ns, a tenth of
// inverting the exponential; fill_indices(), for rows that all count the same, takes 1.1. A row's
// probability is off by less than 2^-32, and by its own times the rows of a step / 2^32.
//
// Scratch: what it holds follows from the rows it was prepared for. One thread; 5 KB.
class AgeDraws {
 public:
  // Draws are from the rows [first, end) from here on. O(steps), about 1 us; does nothing where
  // they are already. REQUIRES: !ages.flat(), first < end, at most ages.rows() of them.
  void prepare(const AgeWeights& ages, std::uint64_t first, std::uint64_t end) noexcept;

  // Draws rows with replacement, and writes their numbers less `first`. A shorter draw from the
  // same position is the beginning of a longer one.
  void draw(std::uint64_t seed, const RandomPosition& position,
            std::span<std::uint32_t> out) const noexcept;

 private:
  // The most steps that 2 N rows lie in: reached where a step is of one row and N just below 64.
  static constexpr std::uint32_t kMostSteps = 128;

  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t rows = 0;
  };
  // A column has the probability 1 / columns_: up to `share` 2^-32 of it is its own piece's, the
  // rest another's.
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
