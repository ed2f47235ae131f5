// How much wider linear predictors are where rows depend on one another.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_ROBUST_SPREAD_H_
#define WINDHOVER_RUNTIME_POSTERIOR_ROBUST_SPREAD_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/linear_algebra/inverse_factor.h"

namespace windhover {

// The variance of x' theta has two parts, with P = (n A)^-1 and the prior's precisions Lambda:
// x' P Lambda P x is what the prior leaves, and x' (P - P Lambda P) x what the rows leave, which
// alone grows where they depend on one another. It is multiplied by
//   sum_j x_j^2 robust_j / sum_j x_j^2 own_j,
// where own_j and robust_j are the rows' part of the variances of parameter j that sd and sd_robust
// are roots of, but never by less than 1: where few rows say anything of a parameter, they have all
// but determined it, and what is left of them tells too small a robust_j. So a single parameter
// gets sd_robust where that is above sd, and others a factor between those of the parameters that
// they are made of. All is in units as fitted, at temperature 1.
class RobustSpread {
 public:
  RobustSpread(Arena& arena, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        own_(arena.allocate<double>(dimension).data()),
        robust_(arena.allocate<double>(dimension).data()),
        prior_(arena.allocate<double>(dimension).data()) {}

  // Nothing is wider.
  void clear() noexcept;
  // Parameter j: P_jj, what sd_robust is a root of, (P Lambda P)_jj, and Lambda_j / n.
  void set(std::uint32_t j, double posterior, double robust, double pull,
           double prior_precision) noexcept;
  // Multiplies R x, `whitened`, so that its square is the wider variance over that of x' theta in
  // units of A^-1. `scratch`: D doubles. O(D^2).
  void widen(const InverseFactor& inverse_factor, const double* x, double* whitened,
             double* scratch) const noexcept;

  void copy_from(const RobustSpread& other) noexcept;
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::uint32_t dimension_;
  double* own_;
  double* robust_;
  double* prior_;  // Lambda / n
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_ROBUST_SPREAD_H_
