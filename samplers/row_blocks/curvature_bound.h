// How long the steps of row blocks may be: the largest eigenvalue of E^1/2 (H + Lambda) E^1/2.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CURVATURE_BOUND_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CURVATURE_BOUND_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

// If all columns moved at once, the variance in the direction of an eigenvector of E^1/2 (H +
// Lambda) E^1/2 with eigenvalue rho would be 1 / (1 - rho / 2) times the posterior's; steps of
// blocks, which touch some of the columns each, are no worse. The largest rho is estimated by the
// power method, one row at a time: an iteration is a pass over the rows that are there. An estimate
// is never above rho. It comes close once iterations agree, but stays below where few rows a column
// make many eigenvalues nearly as large, or rows go before an iteration ends. Steps, and rho with
// them, vary from one iteration to the next, so the largest of the last few estimates counts. Where
// it is above kMost, the steps are scaled down.
//
// Invariant: scale() is at most 1, and scale() times the largest of the last estimates, each for
// steps at scale 1, is at most kMost. The first vector has no negative entry where the rows have
// none, so it has a part along the eigenvector of rho. One thread.
class CurvatureBound {
 public:
  static constexpr double kMost = 0.4;
  static constexpr std::size_t kMostCompared = 4;

  // `compared`: how many of the last estimates count, 1 to kMostCompared.
  CurvatureBound(Arena& arena, std::uint32_t columns, std::size_t compared) noexcept;
  void reset() noexcept;

  // Adds a row of curvature w h to the iteration, with the steps e_j of its columns at scale 1. The
  // iteration ends after `rows` rows, which is how many are there.
  void add(const RowColumns& row, double curvature, const float* steps, const float* precisions,
           std::uint64_t rows) noexcept;

  // A hint that a row with this column is wanted soon.
  void fetch(std::uint32_t column) const noexcept { __builtin_prefetch(entries_ + column); }

  double scale() const noexcept { return scale_; }
  // The variance over the posterior's in that direction; NaN while the newest estimate is far above
  // those before it.
  double law_ratio() const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // The entries of one column in the vector and in the matrix times it. `iteration` says which
  // iteration they are of.
  struct Entry {
    float vector;
    float product;
    std::uint32_t iteration;
  };

  Entry begun(const Entry& before, double step, double precision) const noexcept;
  void end_iteration() noexcept;
  double largest() const noexcept;

  std::uint32_t columns_;
  std::size_t compared_;
  Entry* entries_;
  double scale_ = 1;
  bool agreed_ = false;                         // the last iteration agreed with those before
  std::array<double, kMostCompared> newest_{};  // rho at scale 1, newest last; 0: none yet
  double length_ = 1;                           // of the product of the iteration before
  double squares_ = 0;                          // of the vector's entries in this iteration
  double product_squares_ = 0;                  // of the product's, kept up to date
  std::uint64_t rows_ = 0;                      // of this iteration so far
  std::uint32_t iteration_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CURVATURE_BOUND_H_
