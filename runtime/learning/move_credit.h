// Moves that rows have granted to chains over many sparse columns.
#ifndef WINDHOVER_RUNTIME_LEARNING_MOVE_CREDIT_H_
#define WINDHOVER_RUNTIME_LEARNING_MOVE_CREDIT_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The credit of each chain. A row that comes grants `target` moves, and kSpare times as many spare
// moves, which are made while no rows come, and each of which may stand for several.
//
// Invariant: both credits are at least 0, and at most what all rows in the window grant. One
// thread.
class MoveCredit {
 public:
  // `target`: 0 grants as many as there is time for.
  explicit MoveCredit(double target) noexcept : target_(target) {}

  // `fresh` rows have come, and `rows` are in the window.
  void grant(double fresh, double rows) noexcept {
    owed_ = std::min(owed_ + target_ * fresh, target_ * rows);
    spare_ = std::min(spare_ + kSpare * target_ * fresh, kSpare * target_ * rows);
  }
  // While no rows come chains go on for so many times what rows grant: at R = 4 they have then made
  // 16 passes over the rows, 4 granted and 12 spare.
  static constexpr double kSpare = 3;
  // In this round each spare move stands for so many.
  void stretch_spare(double moves) noexcept { moves_a_spare_ = moves; }

  // Whether all moves that rows have granted have been made, so that only spare ones are left.
  bool resting() const noexcept { return owed_ < 1 && target_ > 0; }
  double owed() const noexcept { return owed_; }
  // How many moves to make, at most `most`: granted ones while there are any, then spare ones
  // unless rows have just come (`fresh`).
  std::uint32_t due(double most, bool fresh) const noexcept {
    if (target_ == 0) return static_cast<std::uint32_t>(most);
    if (!resting()) return static_cast<std::uint32_t>(std::min(owed_, most));
    if (fresh) return 0;
    return static_cast<std::uint32_t>(std::min(spare_ * moves_a_spare_, most));
  }
  // So many moves have been made. Returns whether they were granted ones, not spare ones.
  bool spend(double moves) noexcept {
    if (resting()) {
      spare_ = std::max(spare_ - moves / moves_a_spare_, 0.0);
      return false;
    }
    owed_ = std::max(owed_ - moves, 0.0);
    return true;
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(owed_, spare_); }

 private:
  double target_;
  double owed_ = 0;
  double spare_ = 0;
  double moves_a_spare_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MOVE_CREDIT_H_
