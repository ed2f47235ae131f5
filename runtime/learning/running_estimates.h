// Estimates of rows that are seen once.
#ifndef WINDHOVER_RUNTIME_LEARNING_RUNNING_ESTIMATES_H_
#define WINDHOVER_RUNTIME_LEARNING_RUNNING_ESTIMATES_H_

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/estimator.h"

namespace windhover {

// Estimates from sums that go on without passes: Estimator::done() holds all rows. Invariant: the
// leverage is that of the rows of the newest refresh that succeeded. One thread.
class RunningEstimates {
 public:
  explicit RunningEstimates(Estimator& estimator) noexcept : estimator_(estimator) {}

  // All that has been summed fades by this factor.
  void fade(double keep) noexcept {
    estimator_.sums().done().fade(keep);
    estimator_.noise().measured().fade(keep);
  }
  // Makes Estimator::refresh() with C as it has been summed, and moves the anchor to the mode.
  Status refresh(double n, double target_variance) noexcept;
  // Whether the `rows` just added pull the mode further, or curve more, than their parabolas at the
  // old mode can be trusted with. REQUIRES: the loss is not quadratic, and PassSums::keep() was
  // called before the rows were added. O(D^2).
  bool strained(double rows) const noexcept;
  // Sums these rows again at the mode that they lead to, and refreshes; see
  // Estimator::refresh_at_mode().
  Status refresh_at_mode(Model& model, const RowBatch& rows, double n,
                         double target_variance) noexcept;
  // Whether the rows since the refresh have so much curvature in some direction that a step with
  // the A of that refresh would overshoot there. Complexity O(D^2).
  bool outgrown() const noexcept { return leverage() > leverage_ + 0.5; }

  // For rows with weights: whether so many rows move the mode so far that a step with the A of the
  // last refresh, which is a few per cent off, would leave the chains behind.
  bool heavy(double rows) const noexcept { return usual_way(rows) > kLongWay; }

  // How far, in posterior sd and root mean square over the parameters, the mode is off because each
  // row stays the parabola that it was where the mode was when it came: 0 for a quadratic loss, and
  // for other losses about right where rows come in any order. Complexity O(D^2).
  double linearization_error() const noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("running estimates");
    visitor.value(leverage_);
  }

 private:
  static constexpr double kLongWay = 0.25;

  // The squared distance that rows of the model usually move the mode, in posterior sd.
  double usual_way(double rows) const noexcept;
  double leverage() const noexcept;
  void follow(double n_before) noexcept;

  Estimator& estimator_;
  double leverage_ = 0;  // after the newest refresh
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_RUNNING_ESTIMATES_H_
