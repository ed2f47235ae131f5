// The part of the learner that takes new estimates into use.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

// Chains that go to a new posterior at a time: enough to fill a vector, few enough not to take
// long.
constexpr std::size_t kCarriedAtATime = 4;

}  // namespace

bool Learner::refresh(Interlude* interlude) noexcept {
  const double n = rows_in_sums();
  refreshed_n_ = n;
  refreshed_tail_ = tail_rows_;
  dirty_ = true;
  const double n_before = estimator_.n();
  factor_before_.copy_from(estimator_.factor(), interlude);
  std::copy_n(estimator_.mean(), dimension_, mean_before_);
  // Where the loss is not convex a step may not be trusted further than the posterior is wide.
  const double longest = model_->log_concave() ? 1e300 : 1.0;
  refresh_failed_ = !ok(estimator_.refresh(n, target_variance_, longest, prior_move_, interlude));
  if (refresh_failed_) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    estimator_.restore(n_before, factor_before_);
    return false;
  }
  prior_move_ = 0;
  refreshed_position_ = tail_position_;
  follow_mean();
  carry_along(n_before, interlude);
  refresh_sampler(interlude);
  return true;
}

// Of the way from the mean of the last refresh to that of this one the chains have gone a part by
// themselves, as far as they have moved since the rows came.
void Learner::follow_mean() noexcept {
  const double followed = arrived_rows_ > 0 ? 1 - unfollowed_rows_ / arrived_rows_ : 0.0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    mean_before_[j] += followed * (estimator_.mean()[j] - mean_before_[j]);
  }
  // Those that are not in the sums yet will move the mean when they are.
  const double waiting = static_cast<double>(head_ - tail_position_);
  const double kept = arrived_rows_ > 0 ? std::min(1.0, waiting / arrived_rows_) : 0.0;
  arrived_rows_ *= kept;
  unfollowed_rows_ *= kept;
  moves_since_refresh_ = 0;
}

// For the end of a pass and for a refresh. Null where chains rest, and where none may move
// meanwhile: sums that go on with every move would change under them.
Interlude* Learner::interlude() noexcept {
  const bool moves = phase_ == Phase::kSampling && !rested() &&
                     config_.sampler.noise_estimator == NoiseEstimator::kWindowSweep;
  return moves ? &interlude_ : nullptr;
}

// While the end of a pass or a refresh takes long the chains go on moving, one at a time, by the
// law of before. Nothing is compared or retained; a chain that diverges is found to have done so in
// the next round.
void Learner::move_meanwhile() noexcept {
  ++asides_;
  const std::size_t chain = (round_ + asides_) % chains_.size();
  move_chains(chain, chain + 1, leader());
  count_moves(chain, chain + 1);
}

// The posterior has changed, so every chain and every retained draw goes to the point of the new
// one that answers to where it stood in the old one, both taken as Gaussians; a chain stands about
// as much of the way between their means as it has gone by itself. Left to themselves
// they would need a relaxation to follow: off centre under drift, and far too wide where the first
// rows of a new category have come in. A chain with a state of its sampler's own cannot be put
// elsewhere without starting it anew; it follows by itself.
void Learner::carry_along(double n_before, Interlude* interlude) noexcept {
  if (!model_->log_concave()) return;  // no Gaussian describes it
  draws_.recolour(factor_before_, estimator_.factor(), interlude);
  if (state_size_ > 0 && !single_pass()) return;
  for (std::size_t first = 0; first < chains_.size(); first += kCarriedAtATime) {
    const std::size_t count = std::min(kCarriedAtATime, chains_.size() - first);
    // Two triangles are read, whatever the number of chains. Before as well as after, so that this
    // is a piece of its own.
    const double products = (static_cast<double>(count) + kSweptNumber) * dimension_ * dimension_;
    advance(interlude, products);
    carry_chains(chains_.subspan(first, count), n_before);
    advance(interlude, products);
  }
}

void Learner::carry_chains(std::span<Chain> chains, double n_before) noexcept {
  const std::size_t count = chains.size();
  double* deviations = deviations_;  // one column a chain
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::size_t c = 0; c < count; ++c) {
      deviations[j * count + c] = std::sqrt(n_before) * (chains[c].theta[j] - mean_before_[j]);
    }
  }
  factor_before_.colour(deviations, count);
  estimator_.factor().solve_root(deviations, count);
  const double scale = 1.0 / std::sqrt(estimator_.n());
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::size_t c = 0; c < count; ++c) {
      chains[c].theta[j] = estimator_.mean()[j] + scale * deviations[j * count + c];
    }
  }
}

bool Learner::refresh_sampler(Interlude* interlude) noexcept {
  const bool known = phase_ != Phase::kWarmingUp && phase_ != Phase::kApproach;
  Estimates estimates = estimator_.estimates(minibatch_size(), known);
  estimates.n /= damping_;
  estimates.interlude = interlude;
  counters_.add(RuntimeCounter::kRefreshes);
  const bool refreshed = ok(sampler_->refresh(estimates));
  if (refreshed) law_n_ = estimator_.n();
  if (!refreshed) counters_.add(RuntimeCounter::kFactorizationFailures);
  return refreshed;
}

// A Newton step that changes the linear predictors by about one or more is beyond where the loss
// looks quadratic. Rows from a part of the feature space not seen before can call for such a step
// when they come all at once: it would leave for where every probability is 0 or 1.
bool Learner::astray() const noexcept {
  return model_->log_concave() && !estimator_.steps_are_safe() && !estimator_.step_is_trusted();
}

// A cold start from the rows there are, where Newton's steps are checked. The snapshot before this
// stays until it is over.
void Learner::start_over() noexcept {
  estimator_.start_over();
  scores_.reset();
  phase_ = Phase::kWarmingUp;
  newton_running_ = false;
  newton_due_ = 0;
  damping_ = 1;
  dirty_ = false;
}

}  // namespace windhover
