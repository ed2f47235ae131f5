// Which phase the chains are in.
#ifndef WINDHOVER_RUNTIME_LEARNING_RUN_PHASE_H_
#define WINDHOVER_RUNTIME_LEARNING_RUN_PHASE_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/learner.h"

namespace windhover {

// Invariant: phases follow one another as Learner says. One thread.
class RunPhase {
 public:
  using Phase = Learner::Phase;

  Phase now() const noexcept { return phase_; }
  bool sampling() const noexcept { return phase_ == Phase::kSampling; }
  bool noise_known() const noexcept { return phase_ == Phase::kBurnIn || sampling(); }
  // Complete passes over the window since chains began; a pass of the approach that has not
  // measured C sets them to 0.
  std::uint64_t passes() const noexcept { return passes_; }

  // Chains begin.
  void start() noexcept {
    phase_ = Phase::kApproach;
    passes_ = 0;
    interrupted_ = false;
  }
  // The mode is sought again. `interrupts`: chains that sampled go on with it once it is found.
  void start_over(bool interrupts) noexcept {
    interrupted_ = interrupts && (interrupted_ || sampling());
    phase_ = Phase::kWarmingUp;
  }
  // Whether sampling goes on where chains are to begin.
  bool interrupted() const noexcept { return interrupted_; }
  void go_on() noexcept {
    phase_ = Phase::kSampling;
    interrupted_ = false;
  }
  // A pass over the window ended, which has measured C or not. Returns whether the approach is
  // over: the pass is the second one in a row that has measured C.
  bool end_pass(bool noise_known) noexcept {
    passes_ = noise_known || phase_ != Phase::kApproach ? passes_ + 1 : 0;
    const bool approached = phase_ == Phase::kApproach && passes_ >= 2;
    if (approached) phase_ = Phase::kBurnIn;
    return approached;
  }
  // Begins the burn-in: chains are given so many relaxations to forget the law that they came by.
  void begin_burn_in(double relaxations) noexcept { burn_in_ = relaxations; }
  // Chains have moved for so long. Returns whether the burn-in is over. REQUIRES: it was not yet.
  bool burn(double relaxations) noexcept {
    if (!((burn_in_ -= relaxations) <= 0)) return false;
    phase_ = Phase::kSampling;
    return true;
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(phase_, passes_, burn_in_, interrupted_);
  }

 private:
  Phase phase_ = Phase::kWarmingUp;
  std::uint64_t passes_ = 0;
  double burn_in_ = 0;
  bool interrupted_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_RUN_PHASE_H_
