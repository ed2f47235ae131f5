// Which rows a posterior without a window is to stand on: what it has taken up it cannot give back.
#ifndef WINDHOVER_RUNTIME_LEARNING_ROW_GATE_H_
#define WINDHOVER_RUNTIME_LEARNING_ROW_GATE_H_

#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// No row may say more than all others together. A row is set aside where the posterior of the rows
// before it takes it for impossible and it would move that far all the same, or where it is so far
// out that it alone would say what they have said already, and much more. Rows that say something
// new, of a category never seen say, are neither. When more rows have been set aside than the
// posterior stands on, it is the posterior that is wrong: start_over_due().
// Invariant: neither count of rows that are set aside is below 0. One thread.
class RowGate {
 public:
  void reset() noexcept { disputed_ = set_aside_ = 0; }

  // What is left of `fresh` when rows have been set aside; its slots lie in `slots` and are moved
  // up. Complexity O(rows x D), and O(D^2) for a row that is far out.
  RowBatch admit(Model& model, const RowBatch& fresh, std::span<std::uint32_t> slots,
                 const Estimator& estimator) noexcept;
  // All rows so far count for `keep` of what they did.
  void fade(double keep) noexcept { set_aside_ *= keep; }

  // Whether more rows have been set aside than the posterior, of `rows` rows, stands on.
  bool start_over_due(double rows) const noexcept { return disputed_ > rows; }
  // Whether more than a stray row has been set aside, of the newest or of all.
  bool contradicts(double rows) const noexcept {
    constexpr double kFew = 4;
    constexpr double kShare = 0.05;
    return disputed_ >= kFew || set_aside_ > kFew + kShare * rows;
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("row gate");
    visitor.values(disputed_, set_aside_);
  }

 private:
  double disputed_ = 0;   // rows set aside, less those taken up since, never below 0
  double set_aside_ = 0;  // fading as the others do
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ROW_GATE_H_
