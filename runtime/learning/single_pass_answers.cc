// What a learner without a window publishes, and what that is worth.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"
#include "windhover/runtime/learning/first_noise.h"
#include "windhover/runtime/learning/single_pass_learner.h"

namespace windhover {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Each chain is one draw, independent of the others; there is none until they sample. Split R-hat
// and autocorrelation compare a chain with its own past, which says nothing here.
void summarize(Posterior& posterior, double draws) noexcept {
  const std::uint32_t dimension = posterior.dimension;
  std::fill_n(posterior.parameters.ess_bulk, dimension, draws);
  std::fill_n(posterior.parameters.ess_tail, dimension, draws);
  std::fill_n(posterior.parameters.r_hat, dimension, kUnknown);
  std::fill_n(posterior.parameters.autocorrelation_time, dimension, kUnknown);
  for (std::uint32_t j = 0; j < dimension; ++j) {
    posterior.parameters.mcse_mean[j] =
        draws > 0 ? posterior.parameters.sd[j] / std::sqrt(draws) : kUnknown;
  }
}

// How many independent draws a comparison of the chains stands for. The chains are independent
// draws at any time; over T relaxations their squares, which forget as exp(-t), are worth T^2 / (2
// (T - 1 + exp(-T))) such ensembles. With a few dozen draws the extreme directions lie beyond the
// bounds that hold for many, (1 +- sqrt(D / draws))^2, by more than the tolerance once in 250
// looks; beyond one sd more, (1 +- (sqrt(D) + 1) / sqrt(draws))^2, less than once in 10,000.
double compared_draws(double draws, double relaxations, double dimension) noexcept {
  const double t = std::max(relaxations, 1e-3);
  const double ensembles = t * t / (2 * (t - 1 + std::exp(-t)));
  const double root = std::sqrt(dimension);
  return draws * ensembles * dimension / ((root + 1) * (root + 1));
}

}  // namespace

// Compares around the present centre: the rows since the last refresh may all have led the chains
// one way.
void SinglePassLearner::compare_spread() noexcept {
  if (unrefreshed_rows_ > 0) refresh();
  recover_chains();
  for (Chain& chain : chains_.all()) record_.add_spread(chain, estimator_);
  const double size = minibatch_size();
  record_.compare(estimator_, size, 1.0, [this, size](double* h, double* e) {
    mover_.law(size, h, e);
    return true;
  });
}

void SinglePassLearner::publish() noexcept {
  const bool sampling = phase_ == Phase::kSampling;
  Posterior& posterior = publisher_.begin(estimator_, chains_.draws(), *model_, pass_.scores());
  summarize(posterior, sampling ? static_cast<double>(chains_.size()) : 0.0);
  describe_worst(posterior);
  replay_ratio_.update(cursor_.head(), cursor_.rows(), 0);
  const Consistency::Ratio& ratio = record_.ratio();
  Provenance& p = posterior.provenance;
  posterior.few_in_order = pass_.few_in_order();
  p.sequence = refreshed_position_;
  p.n_seen = cursor_.head();
  const auto n = static_cast<std::uint64_t>(std::lround(estimator_.laplace().n()));
  p.n_eff = sampling ? static_cast<std::uint64_t>(std::lround(mover_.weights().effective()))
                     : std::min(cursor_.rows(), n);
  p.draws_per_observation = replay_ratio_.value();
  p.law_ratio = ratio.law();
  Evidence e;
  e.sampling = sampling;
  e.drifting = pass_.scores().drifting();
  e.dependent_rows = pass_.scores().rows_depend();
  e.not_definite = estimator_.refresh_failed();
  e.chains_lost = loss_.remembered(record_.relaxations());
  e.law_smallest = ratio.law_smallest;
  e.law_largest = ratio.law_largest;
  e.spread_smallest = ratio.smallest;
  e.spread_largest = ratio.largest;
  e.compared_draws =
      compared_draws(p.ess_bulk, record_.observed_relaxations(), posterior.dimension);
  e.band = record_.band(e.compared_draws);
  e.replay_is_target = config_.draws_per_observation != 0;
  e.replay_ratio = replay_ratio_.value();
  constexpr double kMostOff = 0.5;  // posterior sd
  e.outrun = running_.linearization_error() > kMostOff;
  e.prior_conflict = p.prior_conflict;
  e.misfit = misfits(p.misspecification_index, estimator_.checks().effective_rows()) ||
             gate_.contradicts(mover_.weights().sum());
  if (!estimator_.checks().curvature_is_known(estimator_.done(), model_->curvature(),
                                              static_cast<double>(cold_start_rows(config_)))) {
    e.law_decided = false;
    p.law_ratio = std::numeric_limits<double>::quiet_NaN();
  }
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
  if (phase_ == Phase::kWarmingUp) posterior.noise = first_noise(*model_, estimator_);
  publisher_.end(posterior, estimator_, *model_);
  dirty_ = false;
}

}  // namespace windhover
