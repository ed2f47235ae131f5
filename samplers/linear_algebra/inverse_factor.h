// The inverse of a Cholesky factor, to multiply with: a quadratic form in matrix^-1 is then one
// product with a triangle, not a substitution, in which each number waits for the last.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INVERSE_FACTOR_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INVERSE_FACTOR_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// R = (S L)^-1 of matrix = S L L^T S. Then |R x|^2 = x^T matrix^-1 x, which is never negative, and
// is as precise as by substitution (both err by about D epsilon |R| |L| |R x|).
//
// R lies in panels of kPanel rows, column after column up to the diagonal, so a product reads
// memory in order, and only the triangle. Memory: D^2 / 2 + kPanel D doubles at most.
class InverseFactor {
 public:
  InverseFactor(Arena& arena, std::uint32_t dimension) noexcept;

  // Computes R from `factor`, and then inverse <- scale x matrix^-1, both triangles, each about a
  // third of the work. Complexity 2/3 D^3.
  void compute(const Factor& factor, double scale, double* inverse,
               Interlude* interlude = nullptr) noexcept;
  // Copies R, unless it is already that of the last compute() of `other`. REQUIRES: `other` is
  // always the same, and there is no compute() here.
  void copy_from(const InverseFactor& other) noexcept;

  // Shows R. A copy made before a restore, from here or to here, must be made again after it.
  void visit_state(StateVisitor& visitor) noexcept;
  void visit_copy(StateVisitor& visitor) noexcept;

  // whitened row i <- R x_i for `count` rows, which are stride() doubles long: D numbers of x, then
  // padding, for which `whitened` gets zeros. Complexity D^2 a row; R is read once for four rows.
  // The bits of a row's result do not depend on the rows that come with it.
  void whiten(const double* x, std::size_t count, double* whitened) const noexcept;

  // product <- R^T times one whitened row: for R x it is matrix^-1 x. D numbers. Complexity D^2.
  void multiply_transposed(const double* whitened, double* product) const noexcept;

  // How many doubles lie from one row to the next: D, rounded up to whole cache lines.
  std::size_t stride() const noexcept { return stride_; }
  static std::size_t stride_for(std::size_t dimension) noexcept { return (dimension + 7) / 8 * 8; }

 private:
  static constexpr std::size_t kPanel = 32;
  // Calls f for each panel, which holds rows [first, last) of all columns before `last`.
  template <class F>
  void for_panels(F&& f) const noexcept;
  std::size_t numbers() const noexcept;

  std::size_t dimension_;
  std::size_t stride_;
  // Which computation R is from, here or at the copy's source; 0: from none alone.
  std::uint64_t computations_ = 0;
  double* panels_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_INVERSE_FACTOR_H_
