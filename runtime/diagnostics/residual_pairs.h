// Whether the residuals of neighbouring rows resemble one another. A hundred rows can tell.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_RESIDUAL_PAIRS_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_RESIDUAL_PAIRS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// The statistic is the sum of the products of each residual with the one before it, over the root
// of the sum of their squares. Where rows are independent and the model is right each product has
// mean 0 whatever those before it were, so this is about a standard normal number, also where
// residuals differ in size from row to row. With symmetric residuals it is beyond x with a
// probability of exp(-x^2 / 2) at most (de la Pena 1999), with skewed ones more rarely. Residuals
// count as kMostSizes times their root mean square at most, so that one far out does not hide the
// others.
//
// Measured shares of alike() for independent rows, of 400,000 passes over 100 rows and of 100,000
// over 384, with three parameters, one of them of a feature that walks:
//   normal, exponential or cubed normal noise; an eighth of the rows on one side; sd in
//     proportion to a feature; sd 1 and 0.1 in turns of twenty rows:          none, none
//   exponential noise, sd 1 and 0.1 in turns of twenty rows:                  1.3e-5, 2e-5
//   exponential noise, up and down in turns of twenty rows:                   3e-6, none
//   exponential noise whose sd grows by a factor of 20:                       5e-6, 1e-5
//   Student's noise of 2 degrees of freedom, which has no variance, so that
//     one row tilts the fit beneath its neighbours:                           8e-6, 1.4e-4
//   the worst seen, in another simulation: noise of two values, an eighth of
//     the rows on one side, sides in turns of twenty rows:                    5e-4 (100 rows)
//
// A pass looks at its newest kMostRows rows. One thread. add() is O(1), conclude() O(kMostRows).
class ResidualPairs {
 public:
  static constexpr double kFalseAlarmRate = 1e-5;
  // Fewer rows say nothing.
  static constexpr std::uint64_t kLeastRows = 96;
  static constexpr std::uint64_t kMostRows = 384;

  // Takes memory, writes nothing.
  explicit ResidualPairs(Arena& arena) noexcept
      : residuals_(arena.allocate<double>(kMostRows).data()) {}
  void reset() noexcept {
    resemblance_ = 0;
    begin_pass();
  }

  void begin_pass() noexcept { rows_ = 0; }
  // Adds the next row's residual, in sd of the noise that the model expects.
  void add(double residual) noexcept { residuals_[rows_++ % kMostRows] = residual; }
  // Ends the pass. With fewer than kLeastRows rows what was known before stays. Residuals far below
  // the noise, as of a perfect fit, say nothing, whatever they have in common.
  void conclude() noexcept;

  // The statistic; 0 where nothing is known.
  double resemblance() const noexcept { return resemblance_; }
  // Whether neighbours are alike: by chance in about kFalseAlarmRate of the passes, or as measured
  // above.
  bool alike() const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr double kMostSizes = 2.5;
  static constexpr double kNothing = 0.01;

  std::uint64_t kept() const noexcept { return rows_ < kMostRows ? rows_ : kMostRows; }
  // The i-th of the newest residuals, the oldest first.
  double newest(std::uint64_t i) const noexcept {
    return residuals_[(rows_ - kept() + i) % kMostRows];
  }

  double resemblance_ = 0;
  std::uint64_t rows_ = 0;  // of the pass so far
  double* residuals_;       // kMostRows: a ring
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_RESIDUAL_PAIRS_H_
