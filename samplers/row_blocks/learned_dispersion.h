// The dispersion of rows' -log p, learned from how far they are from where chains expect them.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/exact_sum.h"

namespace windhover {

// Empirical Bayes (MacKay 1992): the squared residuals at the chains' centre, over the number of
// rows less that of the parameters fitted to them,
//   (E sum of w_i r_i^2 - V + p) / (sum of w_i - V / dispersion + p).
// E is over the chains, and V is the sum of w_i times their variance of eta_i; in the denominator
// it counts for no more parameters than the columns know, while chains have still to contract. E
// sum of w_i r_i^2 is the sum of what the chains keep of all rows, exact to the bit, plus its
// change at the rows that they look at; without that change, residuals of many rows would be those
// at entry. p is the prior's part of a row, of the targets' own variance: it keeps few rows from
// being fitted perfectly. It is 1 without rows, and 0 from twice the number of known parameters
// plus ten rows on.
//
// Where the likelihood weighs rows by its own rule (Student's t), V is 0, which is the EM
// algorithm. Steps are longer there, by how much less a row says of the dispersion than a normal
// one does (Lange, Little and Taylor 1989).
//
// Invariant: value() is positive, in squared units of y. One thread.
class LearnedDispersion {
 public:
  // `given`: 0 learns it. `information`: that of one row about the dispersion's logarithm.
  void reset(double given, double information) noexcept;
  bool learned() const noexcept { return learned_; }
  double value() const noexcept { return value_; }
  // Whether the dispersion has come to rest; one that is given always has.
  bool known() const noexcept;
  // sd(log value); 0 where it is given.
  double relative_sd() const noexcept { return relative_sd_; }

  // Adds the sum of w r^2 that the chains keep of a row which comes; for one that goes it is
  // negated.
  void keep(double squares) noexcept { kept_.add(squares); }
  // `chains` chains look at a row, in steps of length `importance`, where the likelihood's own
  // weights depend on the dispersion: nothing is kept then. `squares` is the sum of the squared
  // residuals times these weights; `rows` rows are there.
  void look(double importance, double squares, double rows, std::uint32_t chains) noexcept {
    squares_ += rows * importance * squares;
    looks_ += chains;
  }
  // The same where they do not: the row has weight w = `weight`, and the chains kept the sum of
  // squares `before`.
  void look_again(double weight, double importance, double before, double squares, double rows,
                  std::uint32_t chains) noexcept;
  // Adds the variance of the chains' residuals at such a row.
  void add_variance(double importance, double variance) noexcept;
  // Updates the value once there have been as many looks as all chains make in a pass over the
  // rows. `weight` is the rows' total; the columns know `informed` parameters from them.
  void end(std::uint64_t rows, double weight, std::uint32_t chains, double informed) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  bool learned_ = false;
  double value_ = 1;
  double information_ = 0.5;
  double relative_sd_ = 0;
  double change_ = 0;       // of log value, at the last end() with enough looks
  std::uint64_t ends_ = 0;  // how many such end() there were
  ExactSum kept_{};         // of all chains
  double squares_ = 0;      // sum over the looks of a pass: E sum of w r^2
  double variance_ = 0;     // iota times the variance
  std::uint64_t looks_ = 0;
  std::uint64_t variances_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_LEARNED_DISPERSION_H_
