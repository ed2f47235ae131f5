// A dispersion that is learned from the newest rows.
#ifndef WINDHOVER_RUNTIME_LEARNING_FADING_DISPERSION_H_
#define WINDHOVER_RUNTIME_LEARNING_FADING_DISPERSION_H_

#include <algorithm>
#include <cmath>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The average of squared residuals over the rows so far that are not forgotten: a batch moves it by
// its share of what they all count.
//
// Invariant: no batch that counts less than all rows so far has moved it to more than kMost times
// what it was taken for.
class FadingDispersion {
 public:
  // A squared residual (or, where only the sum of a batch is known, the mean of the batch) counts
  // as so many times the dispersion at most: an outlying row is not what is usual, and must not
  // stay in the long memories when the short ones have forgotten it.
  static constexpr double kMost = 10;

  void reset() noexcept { start(1, 0); }
  // `told`: what the rows that it is known from count; 0: it is a guess.
  void start(double value, double told) noexcept {
    value_ = value;
    told_ = told;
  }

  double value() const noexcept { return value_; }
  bool told() const noexcept { return told_ != 0; }

  // Learns from a batch that counts `weight` and has this sum of squared residuals. `now`: what the
  // dispersion is taken for. `most`: what all rows count, this batch included. A sum that is not
  // finite, or of no weight, says nothing.
  void learn(double now, double squares, double weight, double most) noexcept {
    if (!(weight > 0) || !std::isfinite(squares)) return;
    told_ = std::min(told_ + weight, most);
    const double rate = told_ > 0 ? std::min(weight / told_, 1.0) : 1.0;
    // The first batch has nothing yet to be outlying from.
    const double limit = rate < 1 ? kMost * weight * now : HUGE_VAL;
    value_ = now + rate * (std::min(squares, limit) / weight - now);
  }

  void visit_state(StateVisitor& visitor) noexcept { visitor.values(value_, told_); }

 private:
  double value_ = 1;
  double told_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_FADING_DISPERSION_H_
