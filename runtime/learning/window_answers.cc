// What a window learner and its run of the chains tell, and what is published.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"
#include "windhover/runtime/learning/first_noise.h"
#include "windhover/runtime/learning/publisher.h"
#include "windhover/runtime/learning/window_learner.h"
#include "windhover/samplers/registry.h"

namespace windhover {

LearnerView WindowLearner::view() const noexcept {
  const ChainMover& mover = ensemble_.mover();
  LearnerView view{run_.phase(), &estimator_, ensemble_.chains().iterates(),
                   mover.minibatch_size()};
  view.passes = run_.phases().passes();
  view.sampler = &mover.sampler();
  view.relaxation = mover.relaxation();
  view.memory = memory_choice_ != nullptr ? memory_choice_->rows() : 0;
  view.limit_aside = surprise_limit_ != nullptr && surprise_limit_->stands_aside();
  return view;
}

void SamplingRun::describe(Posterior& posterior, Evidence& e) noexcept {
  const ChainMover& mover = ensemble_.mover();
  const std::size_t chains = ensemble_.chains().size();
  const double size = mover.minibatch_size();
  record_.summarize(chains, posterior);
  describe_worst(posterior);
  replay_ratio_.update(cursor_.head(), cursor_.worth_rows(), budget_.due(size));
  const Consistency::Ratio& ratio = record_.ratio();
  Provenance& p = posterior.provenance;
  p.draws_per_observation = replay_ratio_.value();
  e.network = !estimator_.laplace().loss().is_summary();
  e.step_given = config_.sampler.step_size > 0;
  const bool swallowed = std::isinf(ratio.law()) && !e.step_given;
  p.law_ratio = law_refused_             ? std::numeric_limits<double>::infinity()
                : e.network || swallowed ? std::numeric_limits<double>::quiet_NaN()
                                         : ratio.law();
  e.sampling = sampling();
  e.chains_lost = mover.damping().active();
  e.law_refused = law_refused_;
  e.law_asked = find_sampler(config_.sampler.name)->targets_posterior;
  e.law_decided = ratio.decided;
  e.law_smallest = ratio.law_smallest;
  e.law_largest = ratio.law_largest;
  e.spread_smallest = ratio.smallest;
  e.spread_largest = ratio.largest;
  // Only the draws that the comparison stands on count.
  e.compared_draws =
      std::min(p.ess_bulk, record_.compared_relaxations() * static_cast<double>(chains));
  e.band = record_.band(e.compared_draws);
  e.replay_is_target = !budget_.unlimited();
  e.replay_ratio = replay_ratio_.value();
}

void WindowLearner::publish() noexcept {
  const WindowPass& pass = sums_.pass();
  Posterior& posterior =
      publisher_.begin(estimator_, ensemble_.chains().draws(), *models_[0], pass.scores());
  Evidence e;
  run_.describe(posterior, e);
  Provenance& p = posterior.provenance;
  p.sequence = refreshed_position_;
  p.n_seen = cursor_.head();
  p.n_eff =
      std::min(cursor_.head(), static_cast<std::uint64_t>(std::lround(estimator_.laplace().n())));
  posterior.few_in_order = pass.few_in_order();
  p.repeated_rows = pass.repeats().share();
  p.drift_onset = pass.drift_onset();
  p.drift_onset_time_ns = p.drift_onset == 0 ? 0 : row_times_.time_of(p.drift_onset);
  e.drifting = pass.scores().drifting();
  e.dependent_rows = pass.scores().rows_depend();
  // Predictions by a walking level know of what neighbours have in common.
  const bool level = memory_choice_ != nullptr && memory_choice_->follows_level();
  if (e.dependent_rows && !level) publisher_.widen(posterior, estimator_);
  e.not_definite = estimator_.refresh_failed();
  e.prior_conflict = p.prior_conflict;
  e.misfit = misfits(p.misspecification_index, estimator_.checks().effective_rows()) ||
             (surprise_limit_ != nullptr && surprise_limit_->stands_aside());
  if (!estimator_.checks().curvature_is_known(estimator_.done(), models_[0]->curvature(),
                                              static_cast<double>(cold_start_rows(config_)))) {
    e.law_decided = false;
    p.law_ratio = std::numeric_limits<double>::quiet_NaN();
  }
  // Where rows count by age and come faster than they can be summed, some have faded from the sums
  // and others are not in them yet: 6 % for each step of N / 32 rows. A learner that keeps up is
  // one step behind at most.
  constexpr double kSummed = 0.9;
  const bool summed = sums_.exact() && estimator_.laplace().n() >= kSummed * cursor_.worth();
  // A step that is still not trusted here is one that start_over_if_lost() does not act on.
  e.outrun = run_.behind() || !sums_.unbroken() || !estimator_.laplace().step_is_trusted() ||
             (!cursor_.ages().flat() && !summed);
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
  if (e.network) describe_by_draws(posterior);
  if (run_.phase() == Phase::kWarmingUp) posterior.noise = first_noise(*models_[0], estimator_);
  if (memory_choice_ != nullptr) memory_choice_->average(model(), posterior);
  publisher_.end(posterior, estimator_, *models_[0]);
  dirty_ = false;
}

}  // namespace windhover
