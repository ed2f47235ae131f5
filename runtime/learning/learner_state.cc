// What a learner goes on from, part by part. Left out is what a round sets before it reads it.
#include "windhover/runtime/learning/single_pass_learner.h"
#include "windhover/runtime/learning/window_learner.h"

namespace windhover {

void Ensemble::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("ensemble", 3);
  visitor.values(lag_.arrived, lag_.unfollowed, lag_.left, lag_.unforgotten, correcting_,
                 perhaps_misplaced_, uncorrected_, moves_);
  chains_.visit_state(visitor);
  mover_.visit_state(visitor);
}

void SamplingRun::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("sampling run", 2);
  phase_.visit_state(visitor);
  visitor.values(law_moved_, passes_to_make_, judged_.head, judged_.times, law_refused_, behind_);
  background_moves_.visit_state(visitor);
  record_.visit_state(visitor);
  budget_.visit_state(visitor);
  replay_ratio_.visit_state(visitor);
}

void WindowLearner::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learner", 2);
  visitor.values(round_, refreshed_position_, dirty_);
  cursor_.visit_state(visitor);
  estimator_.visit_state(visitor);
  if (memory_choice_ != nullptr) {
    memory_choice_->visit_state(visitor);
    cursor_.weigh_by(memory_choice_->ages());
  }
  if (surprise_limit_ != nullptr) surprise_limit_->visit_state(visitor, cursor_);
  row_times_.visit_state(visitor);
  sums_.visit_state(visitor);
  scan_.visit_state(visitor, workers_);
  cold_start_.visit_state(visitor);
  ensemble_.visit_state(visitor);
  run_.visit_state(visitor);
  schedule_.visit_state(visitor);
  publisher_.visit_state(visitor);
}

void SinglePassLearner::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learner", 2);
  visitor.values(phase_, round_, seeded_, unrefreshed_rows_, refreshed_position_);
  loss_.visit_state(visitor);
  visitor.value(dirty_);
  wait_.visit_state(visitor);
  mover_.weights().visit_state(visitor);
  cursor_.visit_state(visitor);
  estimator_.visit_state(visitor);
  running_.visit_state(visitor);
  gate_.visit_state(visitor);
  pass_.visit_state(visitor);
  scan_.visit_state(visitor, workers_);
  cold_start_.visit_state(visitor);
  chains_.visit_state(visitor);
  record_.visit_state(visitor);
  replay_ratio_.visit_state(visitor);
  visitor.section("law of the chains");
  if (phase_ != Phase::kWarmingUp) mover_.visit_law(visitor, minibatch_size());
  publisher_.visit_state(visitor);
}

}  // namespace windhover
