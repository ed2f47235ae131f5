// The dispersion of rows' -log p, learned from how far they are from where chains expect them.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/exact_sum.h"

namespace windhover {

// Empirical Bayes, as MacKay (1992) has it: the dispersion is that of the squared residuals at the
// centre of the chains, over as many rows as there are less those that the parameters follow,
//   (E sum of w_i r_i^2 - V + p) / (sum of w_i - V / dispersion + p),
// V the sum of w_i times the variance of eta_i. p is the prior's part of a row, with the targets'
// own variance, that keeps few rows from being explained perfectly: 1 without rows, and 0 where
// there are ten more than twice the parameters that they know. E sum of w_i r_i^2 is what the
// chains kept of all rows, a sum that rows leave to the bit, plus what it changes by at the rows
// that they look at: without that it would be the residual of many rows at their coming. V is what
// the chains spread at these rows; where they have still to contract it is no more than what the
// columns know.
//
// Where the likelihood has weights of its own, V is 0: that is the EM algorithm, and steps are
// longer by as much as a row says less of the dispersion than a normal one (Lange, Little and
// Taylor 1989).
//
// Invariant: value() is positive; in units of the squared unit of y. One thread.
class LearnedDispersion {
 public:
  // `given`: 0 learns it. `information`: what a row says about its logarithm.
  void reset(double given, double information) noexcept;
  bool learned() const noexcept { return learned_; }
  double value() const noexcept { return value_; }
  // Whether the dispersion has come to rest; one that is given always has.
  bool known() const noexcept;
  // sd(log value); 0 where it is given.
  double relative_sd() const noexcept { return relative_sd_; }

  // What the chains have kept of a row, the sum of their w r^2, comes or goes with it.
  void keep(double squares) noexcept { kept_.add(squares); }
  // `chains` chains look at a row, in steps of length `importance`. `squares` is the sum of their
  // squared residuals, each times the likelihood's own weight; `rows` rows are there. Where those
  // weights depend on the dispersion nothing is kept, and the value that is looked for is that of
  // the EM algorithm.
  void look(double importance, double squares, double rows, std::uint32_t chains) noexcept {
    squares_ += rows * importance * squares;
    looks_ += chains;
  }
  // The same where they do not: for a row that stands for w = `weight`, of which the chains had
  // kept squares of the sum `before`.
  void look_again(double weight, double importance, double before, double squares, double rows,
                  std::uint32_t chains) noexcept;
  // Adds the variance of the chains' residuals at such a row.
  void add_variance(double importance, double variance) noexcept;
  // The value follows once there have been as many looks as all chains make in a pass over the
  // rows, which weigh `weight` together; the columns know `informed` parameters from them.
  void end(std::uint64_t rows, double weight, std::uint32_t chains, double informed) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  bool learned_ = false;
  double value_ = 1;
  double information_ = 0.5;
  double relative_sd_ = 0;
  double change_ = 0;       // of its logarithm, at the last end() that had looks enough
  std::uint64_t ends_ = 0;  // how many such there were
  ExactSum kept_{};         // of all chains
  double squares_ = 0;      // of looks since then: E sum of w r^2
  double variance_ = 0;     // iota times the variance
  std::uint64_t looks_ = 0;
  std::uint64_t variances_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_
