// Directions that no row says anything about: A v = 0, as with an indicator of every category
// beside an intercept.
#ifndef WINDHOVER_RUNTIME_LEARNING_NULL_DIRECTIONS_H_
#define WINDHOVER_RUNTIME_LEARNING_NULL_DIRECTIONS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/linear_algebra/interlude.h"

namespace windhover {

// A row's gradient lies in the span of A, so that its covariance has the same null directions.
// Invariant: the directions are orthonormal in units in which every column's A_jj is 1. One thread.
// Memory 66 D doubles at most.
class NullDirections {
 public:
  // The most directions that are looked for.
  static constexpr std::uint32_t kMost = 64;

  NullDirections(Arena& arena, std::uint32_t dimension) noexcept;

  // Finds those of the data curvature of `rows`; none where it is not finite. `room`: D x D numbers
  // to work in. A column that is 0 in every row is no direction here: its noise is 0 by itself.
  // Takes one Cholesky factorisation, and O(D^2) a direction.
  void find(const AnchorSums& rows, double* room, Interlude* interlude) noexcept;
  std::uint32_t count() const noexcept { return count_; }

  // Projects `covariance` (D x D, symmetric) so that it is 0 along the directions. O(D^2) a
  // direction.
  void remove_from(double* covariance, Interlude* interlude) const noexcept;

 private:
  double* direction(std::uint32_t i) const noexcept { return directions_ + i * dimension_; }
  bool close_in(double* u, const double* factor, Interlude* interlude) const noexcept;

  std::uint32_t dimension_;
  std::uint32_t count_ = 0;
  double* scale_;       // dimension: 1 / sqrt(A_jj), 0 where that is 0
  double* image_;       // dimension: scratch
  double* directions_;  // min(kMost, D) x dimension
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_NULL_DIRECTIONS_H_
