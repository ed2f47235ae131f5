// Moves that rows have granted to chains over many sparse columns.
#ifndef WINDHOVER_RUNTIME_LEARNING_MOVE_CREDIT_H_
#define WINDHOVER_RUNTIME_LEARNING_MOVE_CREDIT_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

// The credit of each chain. Rows that come grant `target` moves each, and spare moves besides for
// when no rows come, which are made last and may be made several times over.
//
// Invariant: both credits are at least 0, and at most what all rows that are there grant. One
// thread.
class MoveCredit {
 public:
  // `target`: 0 grants as many as there is time for.
  explicit MoveCredit(double target) noexcept : target_(target) {}

  // `fresh` rows have come, and `rows` are there.
  void grant(double fresh, double rows) noexcept {
    owed_ = std::min(owed_ + target_ * fresh, target_ * rows);
    spare_ = std::min(spare_ + kSpare * target_ * fresh, kSpare * target_ * rows);
  }
  // While no rows come chains go on for so many times what rows grant: those that began as draws
  // from the prior have then, at R = 4, made 16 passes.
  static constexpr double kSpare = 3;
  // In this round each spare move stands for so many.
  void stretch_spare(double moves) noexcept { moves_a_spare_ = moves; }

  // Whether all moves that rows have granted have been made, and those made now are for draws that
  // are further apart.
  bool resting() const noexcept { return owed_ < 1 && target_ > 0; }
  double owed() const noexcept { return owed_; }
  // How many moves to make, at most `most`; `fresh`: rows wait. Moves that rows grant are made
  // first, and spare ones when no rows come.
  std::uint32_t due(double most, bool fresh) const noexcept {
    if (target_ == 0) return static_cast<std::uint32_t>(most);
    if (!resting()) return static_cast<std::uint32_t>(std::min(owed_, most));
    if (fresh) return 0;
    return static_cast<std::uint32_t>(std::min(spare_ * moves_a_spare_, most));
  }
  // So many moves have been made. Returns whether rows had granted them.
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
