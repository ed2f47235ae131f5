// The mode that rows which are seen once lead to.
#ifndef WINDHOVER_RUNTIME_LEARNING_MODE_SEARCH_H_
#define WINDHOVER_RUNTIME_LEARNING_MODE_SEARCH_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/runtime/learning/laplace_approximation.h"
#include "windhover/runtime/learning/pass_sums.h"

namespace windhover {

// For rows that would move the mode farther than their parabolas at the old one can be trusted:
// finds the mode by Newton's method with halved steps, as an iterated extended Kalman filter does
// (Bell and Cathey 1993). Invariant: PassSums::pass() stays the kept sums, without the rows. One
// thread. Memory 2 D doubles.
class ModeSearch {
 public:
  // All arguments outlive it.
  ModeSearch(Arena& arena, std::uint32_t dimension, PassSums& sums,
             LaplaceApproximation& laplace) noexcept;

  // `rows` join done() at the mode that they and the kept sums lead to. `input` is that of done();
  // the rows are summed at `dispersion`. kNotPositiveDefinite: a matrix has no factor, and the
  // search was given up. O(D^3) an iteration, a dozen of them as a rule.
  Status find(Model& model, const RowBatch& rows, const LaplaceApproximation::Input& input,
              double dispersion) noexcept;

 private:
  void sum_at(const double* anchor, Model& model, const RowBatch& rows, double dispersion) noexcept;

  PassSums& sums_;
  LaplaceApproximation& laplace_;
  double* begin_;  // of the step under way
  double* at_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MODE_SEARCH_H_
