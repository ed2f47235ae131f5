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

// A step of all columns at once has a law whose variance is that of the posterior times
// 1 / (1 - rho / 2) in the direction of the eigenvalue rho of E^1/2 (H + Lambda) E^1/2; steps of
// blocks, of which each touches some of them, are no worse. rho is estimated by the power method,
// one row at a time: an iteration is a pass over the rows that are there. An estimate is never
// above rho, and close to it once iterations agree; where few rows a column make many eigenvalues
// nearly as large, or rows go before an iteration is over, it stays below. Where steps, and rho
// with them, become longer and shorter from one iteration to the next the largest of the last few
// estimates is what counts. Where it is above kMost the steps are scaled down.
//
// Invariant: scale() is at most 1, and the largest of the last estimates of rho, which are those of
// steps at scale 1, times scale() at most kMost. The first vector has no negative
// entry where the rows have none, so that the eigenvector belonging to rho is in it. One thread.
class CurvatureBound {
 public:
  static constexpr double kMost = 0.4;
  static constexpr std::size_t kMostCompared = 4;

  // `compared`: the largest of so many estimates counts, 1 to kMostCompared.
  CurvatureBound(Arena& arena, std::uint32_t columns, std::size_t compared) noexcept;
  void reset() noexcept;

  // Adds a row of curvature `curvature` to the iteration, with the steps e_j at scale 1 of its
  // columns; `rows`: how many are there, which is where an iteration ends.
  void add(const RowColumns& row, double curvature, const float* steps, const float* precisions,
           std::uint64_t rows) noexcept;

  // A hint that a row with this column is wanted soon.
  void fetch(std::uint32_t column) const noexcept { __builtin_prefetch(entries_ + column); }

  double scale() const noexcept { return scale_; }
  // NaN while the newest estimate is far above all others that count.
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
  bool agreed_ = false;                         // the last iteration with those before
  std::array<double, kMostCompared> newest_{};  // rho at scale 1, the last one last; 0: not known
  double length_ = 1;                           // of the product of the iteration before
  double squares_ = 0;                          // of the vector's entries in this iteration
  double product_squares_ = 0;                  // of the product's, kept up to date
  std::uint64_t rows_ = 0;                      // of this iteration so far
  std::uint32_t iteration_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CURVATURE_BOUND_H_
