// Do the residuals of neighbouring rows resemble one another? A hundred rows can tell.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_RESIDUAL_PAIRS_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_RESIDUAL_PAIRS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// Takes the products of each residual with the one before it: their sum over the root of the sum of
// their squares. Where rows are independent and the model is right each product has mean 0 whatever
// those before it were, so that this is about a standard normal number, also where residuals differ
// in size from row to row; with symmetric residuals it is beyond x with a probability of exp(-x^2 /
// 2) at most (de la Pena 1999), with skewed ones more rarely. Residuals count as kMostSizes times
// their root mean square at most: one that is far out must not hide what the others say.
//
// How many of independent passes were alike(), of 400,000 over 100 rows and 100,000 over 384 at
// each kind of noise, with three parameters, one of them of a feature that walks: none of normal
// noise, of exponential, of a cubed normal number, where an eighth of the rows are on one side,
// where sd is in proportion to a feature, and where it is 1 or 0.1 by the twenty; where that last
// noise is exponential, 1.3e-5 and 2e-5; where exponential noise goes up or down by the twenty,
// 3e-6 and none; where its sd grows by a factor of 20, 5e-6 and 1e-5. Noise without a variance,
// Student's of 2 degrees of freedom: 8e-6 and 1.4e-4, as one row tilts the fit beneath its
// neighbours. The worst seen, simulated apart: noise of two values, an eighth of the rows on one
// side, another side every twenty rows, 5e-4 over 100 rows.
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
  // Ends the pass. With fewer than kLeastRows rows what was known before stays; residuals that are
  // nothing beside the noise, as where a fit is perfect, say nothing, whatever they have in common.
  void conclude() noexcept;

  // The sum above in standard deviations, 0 where nothing is known.
  double resemblance() const noexcept { return resemblance_; }
  // Whether neighbours are alike: by chance in about kFalseAlarmRate of the passes; what makes it
  // more is above.
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
