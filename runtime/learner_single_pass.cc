// The part of the learner for horizons without a window: all chains see every row once, together,
// each with noise of its own (samplers/single_pass.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

constexpr double kRefreshShare = 0.02;  // of what all rows count for: fresh rows until a refresh

}  // namespace

// Rows that may be taken beyond head_: a minibatch; none until the chains have begun.
std::uint64_t Learner::rows_wanted() const noexcept {
  if (phase_ == Phase::kWarmingUp) return cold_start_rows() - head_;
  return phase_ == Phase::kApproach ? 0 : static_cast<std::uint64_t>(minibatch_size());
}

// The rows of the cold start are still in memory: each chain is given its Newton step from their
// mode under weights of its own.
void Learner::begin_single_pass() noexcept {
  estimator_.set_target_variance(0);  // of the rows to come nothing is known
  weights_.reset(static_cast<double>(head_));
  single_pass_.refresh(estimator_.estimates(minibatch_size(), false), estimator_.factor(),
                       estimator_.prior().values());
  leader().gradient.set_scale(weights_.effective(), estimator_.dispersion());
  for (Chain& chain : chains_) {
    Rng rng(config_.seed, {round_, chain.index, Purpose::kInitialState});
    single_pass_.start(chain, estimator_.mode(), rng);
  }
  pass_position_ = 0;
  pace_drawn_ = pace_fresh_;
}

bool Learner::seed_chains() noexcept {
  const std::uint64_t last = std::min(head_, pass_position_ + kWarmUpRows);
  const RowBatch rows = rows_between(pass_position_, last);
  const double variance = weights_.weight_variance();
  estimator_.noise().add_rows(*model_, rows, estimator_.mode());
  for (Chain& chain : chains_) {
    if (!single_pass_.weighs_rows()) break;
    choose_rows(rows, chain);
    single_pass_.seed(chain, estimator_.mode(), leader().gradient, variance);
  }
  pass_position_ = last;
  if (last == head_) complete_seeding();
  ++round_;
  return true;
}

void Learner::complete_seeding() noexcept {
  refresh_single_pass();
  for (Chain& chain : chains_) {
    if (single_pass_.weighs_rows()) break;
    Rng rng(config_.seed, {round_, chain.index, Purpose::kInjectedNoise});
    single_pass_.seed_noise(chain, weights_.sum(), weights_.weight_variance(), rng);
  }
  phase_ = Phase::kSampling;
  relaxations_ = 0;
  check_consistency();
  retain_chains();
}

// One round: the fresh rows join the estimates, move every chain, and are never looked at again.
bool Learner::take_in() noexcept {
  if (phase_ == Phase::kApproach) return seed_chains();
  if (fresh_ == 0 && tail_rows_ == 0) return false;
  if (fresh_ > 0) {
    const double rows = static_cast<double>(fresh_);
    const RowBatch batch = rows_between(head_ - fresh_, head_);
    const double keep = weights_.add(rows);
    if (keep < 1) estimator_.fade(keep);
    estimator_.done().add(*model_, batch, model_->quadratic() ? nullptr : estimator_.covariance());
    estimator_.noise().add_rows(*model_, batch, estimator_.mean());
    tail_rows_ += rows;
    if (estimator_.outgrown()) {
      follow_refresh();
    } else {
      move_ensemble(batch, keep);
    }
    drawn_rows_ += rows;
    counters_.add(RuntimeCounter::kSteps, chains_.size());
    counters_.add(RuntimeCounter::kExamples, chains_.size() * fresh_);
    const double before = relaxations_;
    relaxations_ += rows / weights_.effective();
    if (std::floor(8 * relaxations_) > std::floor(8 * before)) check_consistency();
    dirty_ = true;
  }
  if (fresh_ == 0 || tail_rows_ >= kRefreshShare * weights_.sum()) {
    refresh_single_pass();
    retain_chains();
  }
  ++round_;
  return true;
}

void Learner::move_ensemble(const RowBatch& batch, double keep) noexcept {
  const double rows = static_cast<double>(batch.count);
  leader().gradient.set_scale(weights_.effective(), estimator_.dispersion());
  for (Chain& chain : chains_) {
    choose_rows(batch, chain);
    Rng rng(config_.seed, {round_, chain.index, Purpose::kInjectedNoise});
    const Status moved = single_pass_.step(chain, leader().gradient, weights_, rows, keep, rng);
    if (!ok(moved)) recover_single_pass(chain);
    if (trace_ != nullptr) trace_(trace_context_, chain.index, chain.theta);
  }
}

// Rows that say much where next to nothing was known: a first row of a category, the end of a
// collinearity. A step with the A of before would overshoot there, and one with the new A under a
// weight of 0 would leave a chain as wide as the prior. The chains go to the points of the new
// posterior that answer to where they stood instead, for all that these rows say.
void Learner::follow_refresh() noexcept {
  const double n_before = estimator_.n();
  std::copy_n(estimator_.mean(), dimension_, mean_before_);
  if (refresh_single_pass()) carry_along(n_before);
}

void Learner::choose_rows(const RowBatch& rows, const Chain& chain) noexcept {
  Rng rng(config_.seed, {round_, chain.index, Purpose::kMinibatch});
  leader().gradient.set_minibatch(
      single_pass_.choose(rows, weights_.weight_variance(), rng,
                          leader().indices.subspan(leader().indices.size() / 2)));
}

bool Learner::refresh_single_pass() noexcept {
  tail_rows_ = 0;
  dirty_ = true;
  counters_.add(RuntimeCounter::kRefreshes);
  factor_before_.copy_from(estimator_.factor());
  const double n_before = estimator_.n();
  refresh_failed_ = !ok(estimator_.refresh_running(weights_.effective(), target_variance_));
  if (refresh_failed_) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    estimator_.restore(n_before, factor_before_);
    return false;
  }
  refreshed_position_ = tail_position_ = head_;
  single_pass_.refresh(estimator_.estimates(minibatch_size(), true), estimator_.factor(),
                       estimator_.prior().values());
  return true;
}

// A chain that left for good starts again as a fresh draw.
void Learner::recover_single_pass(Chain& chain) noexcept {
  counters_.add(RuntimeCounter::kDivergences);
  lost_until_ = relaxations_ + 1;
  start_chain(chain, (round_ << 16) + chain.index + 1);
}

// Each chain is one draw.
void Learner::retain_chains() noexcept {
  for (Chain& chain : chains_) {
    if (lost(chain)) recover_single_pass(chain);
    draws_.retain(chain.theta, estimator_.mean(), estimator_.n());
  }
}

// Eight times in n rows.
void Learner::check_consistency() noexcept {
  for (Chain& chain : chains_) {
    if (lost(chain)) recover_single_pass(chain);
    consistency_.add(chain.theta, estimator_.mean(), estimator_.n(), estimator_.factor(),
                     estimator_.covariance(), relaxations_);
  }
  const double size = minibatch_size();
  ratio_ = consistency_.ratio(estimator_.curvature(), estimator_.factor(),
                              estimator_.noise_covariance().data(), estimator_.covariance(), size,
                              estimator_.n(), 1.0, [this, size](double* h, double* e) {
                                single_pass_.law(size, h, e);
                                return true;
                              });
}

std::uint64_t Learner::effective_rows() const noexcept {
  if (single_pass() && phase_ == Phase::kSampling) {
    return static_cast<std::uint64_t>(std::lround(weights_.effective()));
  }
  return std::min(rows_seen(), static_cast<std::uint64_t>(std::lround(estimator_.n())));
}

// Each chain is one draw, independent of the others. Split R-hat and autocorrelation compare a
// chain with its own past, which says nothing here.
void Learner::summarize_ensemble(Posterior& posterior) const noexcept {
  const bool sampling = phase_ == Phase::kSampling;
  const double draws = sampling ? static_cast<double>(chains_.size()) : 0.0;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(posterior.ess_bulk, dimension_, draws);
  std::fill_n(posterior.ess_tail, dimension_, draws);
  std::fill_n(posterior.r_hat, dimension_, kNone);
  std::fill_n(posterior.autocorrelation_time, dimension_, kNone);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    posterior.mcse_mean[j] = sampling ? posterior.sd[j] / std::sqrt(draws) : kNone;
  }
}

}  // namespace windhover
