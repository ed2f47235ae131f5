// The precision of a prior that many columns share, learned from where their chains stand.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/precision_evidence.h"

namespace windhover {

// Empirical Bayes. With U = -log p = f(theta) + lambda |theta|^2 / 2, the derivative of the log
// marginal likelihood by log lambda is sum_j (1 - lambda E theta_j^2) / 2. This equals sum_j
// E[theta_j df/dtheta_j] / 2, because E[theta_j dU/dtheta_j] = 1. The second form is used: a column
// without rows adds exactly nothing to it, and a spread of the chains that is a little wrong adds
// hardly anything, where most columns have few rows and the first form is a small difference of
// large numbers. Steps are those of Fisher scoring with the information sum_j gamma_j^2 / 2,
// gamma_j the share of the rows in a column's curvature. log lambda has a prior of its own, N(log
// start, 1), because a few rows do not determine it.
//
// When lambda changes, chains are stretched where the prior holds them, by (before / after)^((1 -
// gamma_j) / 2); otherwise they would follow only as fast as they forget (parameter expansion: Liu,
// Rubin and Wu 1998).
//
// The two forms agree only for chains that neither spread too much nor lag behind the rows. So
// E[theta_j dU/dtheta_j], averaged over the columns, is checked first: it must be near 1.
//
// Tails: columns differ in size, so each has a precision of its own, lambda_j = relevance x lambda,
//   relevance = (1 + tails) / (1 + tails lambda E theta_j^2).
// This is the mean field approximation (Bishop 2006, 10.3; Tipping 2001) of a Student's t prior
// with 1 / tails degrees of freedom, that is a normal one whose precision is gamma distributed:
// large columns are held back less, small ones more. lambda_j then replaces lambda in the sums
// above. Where nothing is known of a column E theta_j^2 = 1 / lambda and its relevance is 1.
//
// Invariant: value() is within the bounds given. Call add() for the moves of the chains; now and
// then stretch() for each column, and end().
class LearnedPrecision {
 public:
  void reset(double start, double least, double most) noexcept;

  double value() const noexcept { return value_; }
  double tails() const noexcept { return tails_; }
  // The relevance of a column with this mean of theta^2.
  double relevance(double mean_square) const noexcept {
    return (1 + tails_) / (1 + tails_ * value_ * mean_square);
  }
  // The derivative of the relevance's logarithm by tails.
  double relevance_by_tails(double mean_square) const noexcept {
    const double square = value_ * mean_square;
    return (1 - square) / ((1 + tails_) * (1 + tails_ * square));
  }
  // Whether the precision changed at the last end().
  bool changed() const noexcept { return log_change_ != 0; }
  // The factor for the chains of a column of this curvature after the precision changed at the last
  // end().
  float stretch(float curvature) const noexcept;

  // Sums over moves and their columns; each term is divided by the column's number of rows, so that
  // all columns count alike.
  struct Sums {
    double slope = 0;        // of theta_j df/dtheta_j, unbiased
    double information = 0;  // of gamma_j^2
    double virial = 0;       // of gamma_j theta_j dU/dtheta_j
    double informed = 0;     // of gamma_j
  };
  void add(const Sums& sums, std::uint64_t moves) noexcept {
    sums_.slope += sums.slope;
    sums_.information += sums.information;
    sums_.virial += sums.virial;
    sums_.informed += sums.informed;
    moves_ += moves;
  }
  // Sets where the precision begins, until it has first been learned.
  void expect(double start) noexcept;
  // Updates the precision, by a fifth at most, once there have been as many moves as all chains
  // make in a pass over `rows` rows. It stays where the chains are not `trusted`.
  void end(bool trusted, std::uint64_t rows, std::uint32_t chains) noexcept;
  // Moves the prior towards `there`, which was learned elsewhere. There is nothing to stretch()
  // after it: the caller moves the chains.
  void follow(const PrecisionEvidence::Prior& there) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double value_ = 1;
  double start_ = 1;
  double least_ = 1;
  double most_ = 1;
  double tails_ = 0;
  double log_change_ = 0;  // of the value, since the last expect()
  bool followed_ = false;
  Sums sums_;  // of the moves since the precision could follow last
  std::uint64_t moves_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_PRECISION_H_
