// How much the chains still have to do.
#ifndef WINDHOVER_RUNTIME_LEARNING_DRAW_BUDGET_H_
#define WINDHOVER_RUNTIME_LEARNING_DRAW_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"

namespace windhover {

// Every new row grants each chain draws_per_observation minibatch rows (the credit). Besides, when
// the posterior has become another one, its draws are pending, whether rows come or not. Invariant:
// the credit is never negative, and no new row raises it above draws_per_observation times what the
// window is worth. Time is counted in relaxations of a chain since sampling began.
class DrawBudget {
 public:
  // The causes for which draws may be asked for again and again, until a row comes: each kMostTimes
  // times at most, because there are rows that never let the chains come to rest.
  enum class Cause : std::uint8_t { kDivergence, kOtherLaw };

  DrawBudget(const EngineConfig& config, std::size_t chains) noexcept
      : target_(config.draws_per_observation),
        to_serve_(std::min(
            kMostPending,
            config.retained_draws / static_cast<double>(std::max<std::size_t>(chains, 1)))) {}

  // A row came.
  void stream_went_on() noexcept { quiet_moves_ = times_[0] = times_[1] = 0; }
  // Rows came: grants the draws of `fresh` rows, in a window that is worth `rows` rows.
  void grant(double fresh, double rows) noexcept {
    const double most = std::max(credit_, target_ * rows);
    credit_ = std::min(credit_ + target_ * fresh, most);
  }
  void set_credit(double rows) noexcept { credit_ = rows; }
  void grant_at_least(double rows) noexcept { credit_ = std::max(credit_, rows); }
  // A chain drew so many rows.
  void spend(double rows) noexcept { credit_ = std::max(0.0, credit_ - rows); }
  // All chains moved once.
  void count_move() noexcept { ++quiet_moves_; }

  // Whether less than a minibatch is left of what was granted. Never so without a target.
  bool spent(double minibatch_size) const noexcept {
    return target_ != 0 && credit_ < minibatch_size;
  }
  // How many rows of the next minibatch are to be drawn.
  double due(double minibatch_size) const noexcept { return std::min(credit_, minibatch_size); }
  bool unlimited() const noexcept { return target_ == 0; }
  double target() const noexcept { return target_; }

  // Asks for draws enough to fill the ring, made after the chains have forgotten, in `forgetting`
  // relaxations from `now` on, where they are.
  void ask(double now, double forgetting) noexcept { until_ = now + forgetting + to_serve_; }
  // The same, but not for ever; false: this has been asked often enough.
  bool ask_again(Cause cause, double now, double forgetting) noexcept {
    std::uint64_t& times = times_[static_cast<std::size_t>(cause)];
    if (times >= kMostTimes) return false;
    ++times;
    ask(now, forgetting);
    return true;
  }
  bool pending(double now) const noexcept { return now < until_; }

  // Whether the chains have moved, since a row came, for as long as any chain is waited for.
  bool exhausted(double longest_relaxation) const noexcept {
    return static_cast<double>(quiet_moves_) >= longest_relaxation;
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("draw budget");
    visitor.values(credit_, until_, quiet_moves_, times_[0], times_[1]);
  }

  static constexpr double kMostPending = 32;  // relaxations

 private:
  static constexpr std::uint64_t kMostTimes = 4;

  double target_;
  double to_serve_;  // relaxations that fill the ring
  double credit_ = 0;
  double until_ = 0;
  std::uint64_t quiet_moves_ = 0;  // of each chain, since a row came
  std::uint64_t times_[2] = {0, 0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_DRAW_BUDGET_H_
