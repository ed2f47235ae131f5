// The part of the learner that fills a snapshot and judges it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/learner.h"
#include "windhover/runtime/sample_summary.h"

namespace windhover {

namespace {

constexpr std::uint64_t kRatioInterval = 16;  // recorded iterates between two Lyapunov solutions

PosteriorStatus status_of(StatusReason reason) noexcept {
  switch (reason) {
    case StatusReason::kNone:
      return PosteriorStatus::kOk;
    case StatusReason::kFewDraws:
      return PosteriorStatus::kWarmingUp;
    case StatusReason::kDrift:
      return PosteriorStatus::kDrifting;
    default:
      return PosteriorStatus::kDegraded;
  }
}

}  // namespace

void Learner::publish() noexcept {
  Posterior& posterior = snapshots_.begin_publish();
  std::copy_n(estimator_.mean(), dimension_, posterior.mean);
  std::copy_n(estimator_.mode(), dimension_, posterior.mode);
  describe_spread(posterior);
  std::copy_n(estimator_.prior().values(), dimension_, posterior.prior_precision);
  draws_.copy_to(posterior.deviations, estimator_.n());
  posterior.inverse_factor.copy_from(estimator_.inverse_factor());
  std::ranges::copy(model_->transform().shift, posterior.transform.shift.begin());
  std::ranges::copy(model_->transform().inverse_scale, posterior.transform.inverse_scale.begin());
  posterior.n = estimator_.n();
  posterior.temperature = temperature_;
  posterior.dispersion = estimator_.dispersion();
  posterior.dispersion_relative_sd = estimator_.dispersion_relative_sd();
  if (single_pass()) {
    summarize_ensemble(posterior);
  } else {
    summarize_chains(posterior);
    compare_spread();
  }
  update_pace();
  describe_provenance(posterior);
  if (!model_->log_concave()) describe_by_draws(posterior);
  posterior.made_ns = clock_.now_ns();
  last_publish_ns_ = posterior.made_ns;
  snapshots_.publish();
  counters_.add(RuntimeCounter::kSnapshots);
  dirty_ = false;
}

// Of a diagonal C there is no sandwich: NaN, from the start.
void Learner::describe_spread(Posterior& posterior) const noexcept {
  const std::uint32_t d = dimension_;
  const double n = estimator_.n();
  const bool full = estimator_.noise_is_full();
  for (std::uint32_t j = 0; j < d; ++j) {
    const double variance = estimator_.covariance()[std::size_t{j} * (d + 1)];
    posterior.sd[j] = std::sqrt(temperature_ * variance);
    posterior.sd_robust[j] = std::sqrt(variance);
  }
  if (full && scores_.known()) {
    // Least squares residuals are a little too small, on average over the rows by (n - D) / n.
    const double residual = n > 2.0 * d ? n - d : n;
    for (std::uint32_t j = 0; j < d; ++j) {
      posterior.sd_robust[j] = std::sqrt(scores_.influence_variance(j) / residual +
                                         estimator_.prior_influence_variance(j));
    }
  } else if (noise_known()) {
    estimator_.sandwich_sd(posterior.sd_robust);
  }
}

void Learner::compare_spread() noexcept {
  const std::uint64_t iterates = diagnostics_.iterates();
  const bool known = ratio_.largest != 0;
  if (known && iterates < ratio_due_ && iterates >= kRatioInterval) return;
  if (known && !consistency_.suffices()) return;  // what was found before stands
  ratio_due_ = iterates + kRatioInterval;
  ratio_relaxations_ = relaxations_ - consistency_.since();
  ratio_ = consistency_.ratio(estimator_.curvature(), estimator_.factor(),
                              estimator_.noise_covariance().data(), estimator_.covariance(),
                              minibatch_size(), estimator_.n(), temperature_,
                              [this](double* h, double* e) {
                                if (!first_order_) return false;
                                sampler_->law(h, e);
                                return true;
                              });
}

void Learner::describe_provenance(Posterior& posterior) noexcept {
  const std::uint32_t d = dimension_;
  Provenance& p = posterior.provenance;
  p.snapshot_id = ++snapshot_id_;
  p.sequence = refreshed_position_;
  p.n_seen = head_;
  p.n_eff = effective_rows();
  p.horizon = config_.horizon;
  p.steps = counters_.get(RuntimeCounter::kSteps);
  p.draws = config_.retained_draws;
  p.ess_bulk = *std::min_element(posterior.ess_bulk, posterior.ess_bulk + d);
  p.ess_tail = *std::min_element(posterior.ess_tail, posterior.ess_tail + d);
  p.r_hat = *std::max_element(posterior.r_hat, posterior.r_hat + d);
  p.autocorrelation_time =
      *std::max_element(posterior.autocorrelation_time, posterior.autocorrelation_time + d);
  p.divergences = counters_.get(RuntimeCounter::kDivergences);
  p.draws_per_observation = pace_;
  p.ou_ratio = ratio_.largest;
  p.law_ratio = sampler_refused_ ? std::numeric_limits<double>::infinity() : ratio_.law();
  p.misspecification_index = noise_known() ? estimator_.misspecification_index() : 0.0;
  p.score_autocorrelation = scores_.autocorrelation();
  p.drift_score = scores_.drift();
  if (!single_pass()) p.repeated_rows = repeats_.share();
  p.noise_variance = has_dispersion(model_->response()) ? estimator_.dispersion() : 0.0;
  p.noise_variance_sd = p.noise_variance * posterior.dispersion_relative_sd;
  // An ensemble starts as independent draws and is compared at later times too; of chains, what
  // they have been compared over counts.
  const double compared = ratio_relaxations_ * static_cast<double>(chains_.size());
  p.reason = reason(ratio_, single_pass() ? p.ess_bulk * (1 + relaxations_ - consistency_.since())
                                          : std::min(p.ess_bulk, compared));
  p.status = status_of(p.reason);
}

bool Learner::noise_known() const noexcept {
  return estimator_.noise().updates() > 0 || !estimator_.noise_is_full();
}

// The few batches of few relaxations are still correlated and would promise too much: as long as
// that may be, no chain has more effective draws than relaxations behind it.
void Learner::summarize_chains(Posterior& posterior) const noexcept {
  constexpr double kFewRelaxations = 100;
  diagnostics_.summarize(
      {posterior.ess_bulk, posterior.ess_tail, posterior.mcse_mean, posterior.r_hat});
  const double chains = static_cast<double>(chains_.size());
  const double most = relaxations_ < kFewRelaxations ? relaxations_ * chains : 1e300;
  const double steps = recorded_steps_ * chains;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    double& bulk = posterior.ess_bulk[j];
    if (bulk > most) posterior.mcse_mean[j] *= std::sqrt(bulk / most);
    bulk = std::min(bulk, most);
    posterior.ess_tail[j] = std::min(posterior.ess_tail[j], most);
    posterior.mcse_mean[j] *= posterior.sd[j];
    posterior.autocorrelation_time[j] = bulk > 0 ? steps / bulk : 0.0;
  }
}

// With several modes there is no mode to name, and the curvature at one of them is no summary: the
// spread is that of the draws.
void Learner::describe_by_draws(Posterior& posterior) const noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double* column = posterior.deviations + std::size_t{j} * posterior.draws;
    posterior.sd[j] = std::sqrt(sample_moments(column, posterior.draws).variance);
    posterior.mode[j] = posterior.sd_robust[j] = std::numeric_limits<double>::quiet_NaN();
  }
  Provenance& p = posterior.provenance;
  p.ou_ratio = p.misspecification_index = std::numeric_limits<double>::quiet_NaN();
  if (!sampler_refused_) p.law_ratio = std::numeric_limits<double>::quiet_NaN();
}

// R: minibatch rows of one chain per new row, since a quarter to half a window of new rows ago.
// Draws that are made up for after a burst count for its rows.
void Learner::update_pace() noexcept {
  double fresh = static_cast<double>(head_ - pace_head_);
  if (fresh >= std::max(1.0, 0.25 * static_cast<double>(rows_seen()))) {
    pace_fresh_ = fresh;
    pace_drawn_ = drawn_rows_;
    fresh = drawn_rows_ = 0;
    pace_head_ = head_;
  }
  if (pace_fresh_ + fresh > 0) pace_ = (pace_drawn_ + drawn_rows_) / (pace_fresh_ + fresh);
}

// The observed spread may differ from the predicted one by what `ess` effective draws leave open,
// (1 +- sqrt(D / ess))^2, times a lag excess of up to 30 % (12 % at R = 4: tau (1 - exp(-1 / tau))
// with tau = 1 / (2 R)). What is NaN is unknown and raises no alarm.
StatusReason Learner::reason(const Consistency::Ratio& ratio, double ess) const noexcept {
  constexpr double kTolerance = 1.3;
  const auto near = [](double least, double most) {
    return least > 1 / kTolerance && most < kTolerance;
  };
  if (sampler_refused_) return StatusReason::kSamplersLaw;
  const bool network = !model_->log_concave();  // of its draws' spread nothing is known
  const bool compared = network || (ratio.largest != 0 && ess != 0);
  if (phase_ != Phase::kSampling || !compared) return StatusReason::kFewDraws;
  if (scores_.drifting()) return StatusReason::kDrift;
  if (scores_.autocorrelated()) return StatusReason::kDependentRows;
  if (refresh_failed_) return StatusReason::kNotDefinite;
  if (damping_ != 1 || relaxations_ < lost_until_) return StatusReason::kLostChains;
  if (network) return StatusReason::kNetwork;
  const bool off = posterior_is_target_ && !std::isnan(ratio.law_largest) &&
                   !near(ratio.law_smallest, ratio.law_largest);
  if (off || std::isinf(ratio.law_largest)) return StatusReason::kSamplersLaw;
  if (!std::isnan(ratio.largest)) {
    const double spread = std::sqrt(dimension_ / std::max(ess, 1.0));
    const double wide = (1 + spread) * (1 + spread);
    const double narrow = (1 - std::min(spread, 1.0)) * (1 - std::min(spread, 1.0));
    if (ratio.largest >= kTolerance * wide || ratio.smallest <= narrow / kTolerance) {
      return StatusReason::kSpread;
    }
  }
  const bool paced = config_.draws_per_observation == 0 || pace_ >= 1;
  return paced ? StatusReason::kNone : StatusReason::kPace;
}

}  // namespace windhover
