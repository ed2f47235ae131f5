// The precision of a prior that many columns share, learned from where their chains stand.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Empirical Bayes. With -log p = f(theta) + lambda |theta|^2 / 2 the derivative of the log marginal
// likelihood by log lambda is sum_j (1 - lambda E theta_j^2) / 2, which is
// sum_j E[theta_j df/dtheta_j] / 2, because E[theta_j dU/dtheta_j] = 1. Of the two the second is
// used: a column without rows adds exactly nothing to it, and chains that spread a little too much
// or too little hardly do, where most columns have few rows and the difference of the first is next
// to nothing. Steps are those of Fisher scoring: the information about log lambda is
// sum_j gamma_j^2 / 2, gamma_j the share of the rows in a column's curvature. log lambda has itself
// a prior, N(log start, 1): a few rows do not know it.
//
// When lambda changes, chains are stretched where the prior is what holds them, by (before /
// after)^((1 - gamma_j) / 2): otherwise they would follow no faster than they forget (parameter
// expansion; Liu, Rubin and Wu 1998).
//
// Invariant: value() is within the bounds given. add() for each move of a chain, then stretch() for
// each column, and end().
class LearnedPrecision {
 public:
  void reset(double start, double least, double most) noexcept;

  double value() const noexcept { return value_; }
  // What the chains of a column of this curvature are multiplied with, because the precision has
  // changed at the end of the pass before.
  float stretch(float curvature) const noexcept;
  // Of a move, sums over its columns of theta_j df/dtheta_j, unbiased, and of gamma_j^2, each
  // divided by the column's rows: columns count alike.
  void add(double slope, double information) noexcept {
    slope_ += slope;
    information_ += information;
    ++moves_;
  }
  // The precision follows, or, `trusted` false, stays for now. `rows`: of the posterior.
  void end(bool trusted, std::uint64_t rows) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double value_ = 1;
  double start_ = 1;
  double least_ = 1;
  double most_ = 1;
  double log_change_ = 0;  // of the value, at the end of the pass before
  double slope_ = 0;       // what was added since then
  double information_ = 0;
  std::uint64_t moves_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_
