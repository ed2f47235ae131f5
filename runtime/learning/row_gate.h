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
// before it takes it for impossible and the row would still move it far, or where the row lies so
// far out that it alone would say again what they have said, and much more. Rows that say something
// new, of a category never seen say, are neither. When more rows have been set aside than the
// posterior stands on, it is the posterior that is wrong: start_over_due(). Invariant: neither
// count of rows that are set aside is below 0. One thread.
class RowGate {
 public:
  void reset() noexcept { disputed_ = set_aside_ = 0; }

  // Returns `fresh` without the rows that are set aside. REQUIRES: its slots lie in `slots`, where
  // those that stay are moved up. O(rows x D), and O(D^2) for a row that is far out.
  RowBatch admit(Model& model, const RowBatch& fresh, std::span<std::uint32_t> slots,
                 const Estimator& estimator) noexcept;
  // Rows have faded by this factor.
  void fade(double keep) noexcept { set_aside_ *= keep; }

  // Whether more rows have been set aside than the posterior, of `rows` rows, stands on.
  bool start_over_due(double rows) const noexcept { return disputed_ > rows; }
  // Whether more than stray rows have been set aside: 4 of the newest (less those taken up since),
  // or one in 20 of all.
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
