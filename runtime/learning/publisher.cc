#include "windhover/runtime/learning/publisher.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/r_hat_chance.h"
#include "windhover/runtime/learning/units.h"
#include "windhover/runtime/prediction/sample_summary.h"

namespace windhover {

namespace {

constexpr std::int64_t kIntervalNs = 1'000'000;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

bool noise_is_known(const Estimator& estimator) noexcept {
  return estimator.noise().measured().updates() > 0 || !estimator.noise().is_full();
}

}  // namespace

bool Publisher::due() const noexcept { return clock_.now_ns() - last_ns_ >= kIntervalNs; }

Posterior& Publisher::begin(const Estimator& estimator, const RetainedDraws& draws, Model& model,
                            const ScoreSeries& scores) noexcept {
  Posterior& posterior = snapshots_.begin_publish();
  const std::uint32_t d = posterior.dimension;
  std::copy_n(estimator.laplace().mean(), d, posterior.mean);
  std::copy_n(estimator.laplace().mode(), d, posterior.parameters.mode);
  describe_spread(posterior, estimator, scores);
  std::copy_n(estimator.prior().values(), d, posterior.parameters.prior_precision);
  for (std::uint32_t j = 0; j < d; ++j) posterior.parameters.drift_score[j] = scores.drift(j);
  draws.copy_to(posterior.deviations, estimator.laplace().n());
  posterior.inverse_factor.copy_from(estimator.laplace().inverse_factor());
  posterior.robust_spread.clear();
  posterior.average.clear();
  std::ranges::copy(model.transform().shift, posterior.transform.shift.begin());
  std::ranges::copy(model.transform().inverse_scale, posterior.transform.inverse_scale.begin());
  posterior.n = estimator.laplace().n();
  posterior.temperature = config_.sampler.temperature;
  posterior.dispersion = estimator.dispersion().value();
  posterior.dispersion_relative_sd =
      estimator.dispersion().relative_sd(estimator.laplace().weight());
  posterior.noise = {};
  posterior.few_in_order = false;
  describe_provenance(posterior, estimator, model, scores);
  posterior.provenance.robust_spread = false;
  return posterior;
}

void Publisher::end(Posterior& posterior, Estimator& estimator, Model& model) noexcept {
  serve_raw_units(find_model(config_.model.name)->layout(config_.model), model.target(), estimator,
                  direction_, posterior);
  posterior.made_ns = clock_.now_ns();
  last_ns_ = posterior.made_ns;
  describe_chance(posterior);
  hand_over(posterior);
}

void Publisher::withdraw() noexcept {
  Posterior& posterior = snapshots_.begin_publish();
  posterior.copy_from(*newest_);
  posterior.provenance.snapshot_id = ++snapshot_id_;
  posterior.provenance.status = PosteriorStatus::kWarmingUp;
  posterior.provenance.reason = StatusReason::kFewDraws;
  hand_over(posterior);
}

void Publisher::hand_over(Posterior& posterior) noexcept {
  newest_ = &posterior;
  snapshots_.publish();
  counters_.add(RuntimeCounter::kSnapshots);
}

void Publisher::describe_chance(Posterior& posterior) const noexcept {
  Provenance& p = posterior.provenance;
  const bool compared = p.r_hat > 0;
  p.r_hat_chance =
      compared ? r_hat_chance(p.ess_bulk, config_.sampler.chains, posterior.dimension) : p.r_hat;
}

void Publisher::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("snapshot", 9);
  const std::int64_t now = clock_.now_ns();
  std::int64_t age = now - last_ns_;
  visitor.values(snapshot_id_, age);
  Posterior* published = snapshots_.published();
  bool any = published != nullptr;
  visitor.value(any);
  if (!visitor.restores()) {
    if (any) published->visit_state(visitor);
    return;
  }
  last_ns_ = now - age;
  if (!any) return;
  Posterior& posterior = snapshots_.begin_publish();
  posterior.visit_state(visitor);
  posterior.made_ns = last_ns_;
  describe_chance(posterior);  // it follows from what was kept
  newest_ = &posterior;
  snapshots_.publish();
}

// A diagonal C has no sandwich: sd_robust is NaN from the start.
void Publisher::describe_spread(Posterior& posterior, const Estimator& estimator,
                                const ScoreSeries& scores) const noexcept {
  const std::uint32_t d = posterior.dimension;
  const double n = estimator.laplace().n();
  const double weight = estimator.laplace().weight();
  for (std::uint32_t j = 0; j < d; ++j) {
    const double variance = estimator.laplace().covariance()[std::size_t{j} * (d + 1)];
    posterior.parameters.sd[j] = std::sqrt(config_.sampler.temperature * variance);
    posterior.parameters.sd_robust[j] = std::sqrt(variance);
  }
  if (estimator.noise().is_full() && scores.known()) {
    // Least squares residuals are a little too small, on average over the rows by (n - D) / n, with
    // n what the rows count as.
    const double residual = (weight > 2.0 * d ? weight - d : weight) * (n / weight);
    const double scale = estimator.checks().noise_scale();
    for (std::uint32_t j = 0; j < d; ++j) {
      posterior.parameters.sd_robust[j] =
          std::sqrt(scale * scores.influence_variance(j) / residual +
                    estimator.checks().prior_influence_variance(j));
    }
  } else if (noise_is_known(estimator)) {
    estimator.checks().sandwich_sd(posterior.parameters.sd_robust);
  }
}

void Publisher::widen(Posterior& posterior, const Estimator& estimator) noexcept {
  if (config_.dependent_spread != DependentSpread::kRobust) return;
  const std::uint32_t d = posterior.dimension;
  const double n = estimator.laplace().n();
  for (std::uint32_t j = 0; j < d; ++j) {
    const double robust = posterior.parameters.sd_robust[j] * posterior.parameters.sd_robust[j];
    if (!std::isfinite(robust)) return;
    posterior.robust_spread.set(j, estimator.laplace().covariance()[std::size_t{j} * (d + 1)],
                                robust, estimator.checks().prior_influence_variance(j),
                                estimator.prior().values()[j] / n);
  }
  posterior.provenance.robust_spread = true;
}

void Publisher::describe_provenance(Posterior& posterior, const Estimator& estimator,
                                    const Model& model, const ScoreSeries& scores) noexcept {
  Provenance& p = posterior.provenance;
  p.snapshot_id = ++snapshot_id_;
  p.horizon = config_.horizon;
  p.steps = counters_.get(RuntimeCounter::kSteps);
  p.draws = config_.retained_draws;
  p.divergences = counters_.get(RuntimeCounter::kDivergences);
  p.misspecification_index =
      noise_is_known(estimator) ? estimator.checks().misspecification_index() : 0.0;
  p.prior_conflict = estimator.checks().prior_conflict();
  p.score_autocorrelation = scores.autocorrelation();
  p.drift_score = scores.drift();
  const bool any = has_dispersion(model.response()) || has_shape(model.response());
  p.noise_variance = any ? estimator.dispersion().value() : 0.0;
  p.noise_variance_sd = p.noise_variance * posterior.dispersion_relative_sd;
  if (model.response() == Response::kZeroInflatedCount) {  // of the odds the probability
    const double counted = 1 / (1 + p.noise_variance);
    p.noise_variance *= counted;
    p.noise_variance_sd *= counted * counted;
  }
}

void describe_worst(Posterior& posterior) noexcept {
  const ParameterColumns& of = posterior.parameters;
  Provenance& p = posterior.provenance;
  const std::uint32_t d = posterior.dimension;
  p.ess_bulk = *std::min_element(of.ess_bulk, of.ess_bulk + d);
  p.ess_tail = *std::min_element(of.ess_tail, of.ess_tail + d);
  p.r_hat = *std::max_element(of.r_hat, of.r_hat + d);
  p.autocorrelation_time = *std::max_element(of.autocorrelation_time, of.autocorrelation_time + d);
}

void describe_by_draws(Posterior& posterior) noexcept {
  for (std::uint32_t j = 0; j < posterior.dimension; ++j) {
    const double* column = posterior.deviations + std::size_t{j} * posterior.draws;
    posterior.parameters.sd[j] = std::sqrt(sample_moments(column, posterior.draws).variance);
    posterior.parameters.mode[j] = posterior.parameters.sd_robust[j] = kNotKnown;
  }
  posterior.provenance.ou_ratio = posterior.provenance.misspecification_index = kNotKnown;
}

}  // namespace windhover
