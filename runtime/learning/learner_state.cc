// What a learner goes on from, part by part. What a round sets before it reads it is left out.
#include "windhover/runtime/learning/single_pass_learner.h"
#include "windhover/runtime/learning/window_learner.h"

namespace windhover {

void Estimator::visit_state(StateVisitor& visitor) noexcept {
  const std::size_t square = std::size_t{dimension_} * dimension_;
  visitor.section("estimates");
  visitor.values(n_, initial_dispersion_, prior_conflict_, dispersion_, least_dispersion_,
                 newton_decrement_, dispersion_step_, leverage_, misspecification_index_,
                 refresh_failed_, noise_reference_known_);
  for (double* of_each : {mode_, mean_, anchor_gradient_, noise_reference_, prior_influence_}) {
    visitor.visit(of_each, dimension_);
  }
  visitor.visit(curvature_, square);
  visitor.visit(noise_covariance_, noise_numbers());
  visitor.visit(covariance_, square);
  factor_.visit_state(visitor);
  inverse_factor_.visit_state(visitor);
  prior_.visit_state(visitor);
  visitor.section("sums of the last pass");
  done_.visit_state(visitor);
  visitor.section("sums of the pass under way");
  pass_.visit_state(visitor);
  visitor.section("noise covariance");
  noise_.visit_state(visitor);
}

void Ensemble::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("ensemble");
  visitor.values(lag_.arrived, lag_.unfollowed, moves_, prior_move_);
  chains_.visit_state(visitor);
  mover_.visit_state(visitor);
}

void SamplingRun::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("sampling run");
  visitor.values(phase_, passes_, burn_in_, law_moved_, law_refused_);
  background_moves_.visit_state(visitor);
  record_.visit_state(visitor);
  budget_.visit_state(visitor);
  replay_ratio_.visit_state(visitor);
}

void WindowLearner::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learner");
  visitor.values(round_, refreshed_position_, dirty_);
  cursor_.visit_state(visitor);
  estimator_.visit_state(visitor);
  sums_.visit_state(visitor);
  scan_.visit_state(visitor, workers_);
  cold_start_.visit_state(visitor);
  ensemble_.visit_state(visitor);
  run_.visit_state(visitor);
  schedule_.visit_state(visitor);
  publisher_.visit_state(visitor);
}

void SinglePassLearner::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("learner");
  visitor.values(phase_, round_, seeded_, unrefreshed_rows_, refreshed_position_, lost_until_,
                 dirty_);
  weights_.visit_state(visitor);
  cursor_.visit_state(visitor);
  estimator_.visit_state(visitor);
  pass_.visit_state(visitor);
  scan_.visit_state(visitor, workers_);
  cold_start_.visit_state(visitor);
  chains_.visit_state(visitor);
  record_.visit_state(visitor);
  replay_ratio_.visit_state(visitor);
  visit_law(visitor);
  publisher_.visit_state(visitor);
}

void SinglePassLearner::visit_law(StateVisitor& visitor) noexcept {
  visitor.section("law of the chains");
  if (phase_ == Phase::kWarmingUp) return;  // there is none
  bool noise_known = single_pass_.noise_known();
  visitor.value(noise_known);
  if (visitor.restores()) {
    single_pass_.look_at(estimator_.estimates(minibatch_size(), noise_known), estimator_.factor(),
                         estimator_.prior().values());
  }
  single_pass_.visit_state(visitor);
}

}  // namespace windhover
