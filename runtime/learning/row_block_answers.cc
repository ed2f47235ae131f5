// What a learner of many sparse columns tells and publishes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/learning/row_block_learner.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

constexpr double kNotCompared = std::numeric_limits<double>::quiet_NaN();
// A ChainSurvey::unsettled above this leaves the law unknown: at it, centres of coefficients are
// about a third of an sd off.
constexpr double kMostUnsettled = 0.1;
// Draws are in single precision: a y that is this far from 0, in its own sd, leaves them no digits.
constexpr double kMostShift = 1e6;

}  // namespace

LearnerView RowBlockLearner::view() const noexcept {
  LearnerView view{phase_, nullptr, {}, 1};
  view.passes = static_cast<std::uint64_t>(
      drawn_ / static_cast<double>(std::max<std::uint64_t>(cursor_.rows(), 1)));
  view.memory = static_cast<std::uint64_t>(sampler_.prior().memory());
  return view;
}

// Begins a snapshot with the draws that are served.
Posterior& RowBlockLearner::begin_publish() noexcept {
  Posterior& posterior = snapshots_.begin_publish();
  posterior.shared = groups_.served();
  posterior.dimension = config_.model.dimension();
  posterior.draws = config_.retained_draws;
  return posterior;
}

void RowBlockLearner::publish() noexcept {
  Posterior& posterior = begin_publish();
  posterior.n = static_cast<double>(std::max<std::uint64_t>(cursor_.rows(), 1));
  const double scale = sampler_.noise().likelihood().units().scale;
  const double square = scale * scale;
  posterior.prior_precision = sampler_.prior().precision().value() / square;
  posterior.intercept_precision = sampler_.prior().of(posterior.dimension - 1) / square;
  const LearnedDispersion& dispersion = sampler_.noise().dispersion();
  posterior.dispersion = dispersion.value() * square;
  posterior.dispersion_relative_sd = dispersion.relative_sd();
  ++snapshot_id_;
  describe(posterior);
  posterior.made_ns = published_ns_ = clock_.now_ns();
  snapshots_.publish();
  counters_.add(RuntimeCounter::kSnapshots);
}

void RowBlockLearner::describe(Posterior& posterior) const noexcept {
  Provenance& p = posterior.provenance;
  p = Provenance{};
  p.snapshot_id = snapshot_id_;
  p.horizon = config_.horizon;
  p.sequence = groups_.served_head();
  p.n_seen = cursor_.head();
  p.n_eff = cursor_.rows() + static_cast<std::uint64_t>(sampler_.prior().past().worth());
  p.steps = counters_.get(RuntimeCounter::kSteps);
  p.draws = config_.retained_draws;
  // One independent draw a chain is certain; the draws of one chain are hardly independent.
  const bool sampling = phase_ == Phase::kSampling && !groups_.behind();
  p.ess_bulk = p.ess_tail = sampling ? config_.sampler.chains : 0;
  p.r_hat = p.r_hat_chance = p.autocorrelation_time = kNotCompared;
  p.draws_per_observation = replay_ratio_.value();
  p.misspecification_index = p.prior_conflict = kNotCompared;
  if (has_dispersion(find_model(config_.model.name)->response)) {
    p.noise_variance = posterior.dispersion;
    p.noise_variance_sd = posterior.dispersion * posterior.dispersion_relative_sd;
  }
  p.law_ratio = sampler_.steps().bound().law_ratio();
  const bool settled =
      sampler_.survey().unsettled <= kMostUnsettled && sampler_.noise().dispersion().known();
  const TargetTransform& units = sampler_.noise().likelihood().units();
  const bool has_digits = std::abs(units.shift) <= kMostShift * units.scale;
  if (!settled || !has_digits || !sampler_.weights_known()) p.law_ratio = kNotCompared;
  Evidence e;
  e.sampling = sampling;
  e.law_asked = true;
  e.law_decided = !std::isnan(p.law_ratio);
  if (e.law_decided) e.law_largest = p.law_ratio;
  if (e.sampling) {
    e.spread_smallest = sampler_.spread_ratio();
    e.spread_largest = spread();
    e.compared_draws = config_.retained_draws;
  }
  e.misfit = sampler_.rows().aside > 0;
  e.replay_is_target = config_.draws_per_observation > 0;
  e.replay_ratio = p.draws_per_observation;
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
}

}  // namespace windhover
