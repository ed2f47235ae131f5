// When a chain was lost last.
#ifndef WINDHOVER_RUNTIME_LEARNING_LAST_LOSS_H_
#define WINDHOVER_RUNTIME_LEARNING_LAST_LOSS_H_

#include "windhover/platform/state_visitor.h"

namespace windhover {

// Without a window a lost chain is remembered for one relaxation. Times are in relaxations since
// sampling began (ChainRecord). Invariant: nothing is remembered before the first loss.
class LastLoss {
 public:
  void note(double now) noexcept { until_ = now + 1; }
  bool remembered(double now) const noexcept { return now < until_; }
  void forget() noexcept { until_ = 0; }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.value(until_); }

 private:
  double until_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LAST_LOSS_H_
