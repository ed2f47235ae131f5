// Answers from the newest snapshot.
#include <cmath>
#include <limits>

#include "windhover/platform/check.h"
#include "windhover/runtime/engine_layout.h"
#include "windhover/runtime/learning/units.h"
#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

namespace {

double shared_prior_sd(const Posterior& p, std::uint32_t j) noexcept {
  return 1 / std::sqrt(j + 1 < p.dimension ? p.prior_precision : p.intercept_precision);
}

void copy_shared(const Posterior& p, std::uint64_t draw, double* theta) noexcept {
  const auto m = static_cast<std::uint32_t>(draw);
  for (std::uint32_t j = 0; j < p.dimension; ++j) {
    theta[j] = p.shared.draw(j, m, shared_prior_sd(p, j));
  }
}

// Describes the parameters by the draws. A chain's draws count as one effective draw.
void describe_shared(const Posterior& p, std::span<ParameterSummary> summaries) noexcept {
  const double z = normal_quantile(0.95);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (std::uint32_t j = 0; j < p.dimension; ++j) {
    double centre = 0;  // the first draw, so that squares do not cancel
    double sum = 0;
    double squares = 0;
    p.shared.for_each(j, shared_prior_sd(p, j), [&](std::uint32_t m, double theta) {
      if (m == 0) centre = theta;
      sum += theta - centre;
      squares += (theta - centre) * (theta - centre);
    });
    const double mean = centre + sum / p.draws;
    const double sd = std::sqrt((squares - sum * sum / p.draws) / (p.draws - 1));
    ParameterSummary& s = summaries[j];
    s = {};
    s.mean = s.q50 = mean;
    s.sd = sd;
    s.q5 = mean - z * sd;
    s.q95 = mean + z * sd;
    s.mode = s.sd_robust = s.r_hat = s.autocorrelation_time = unknown;
    s.ess_bulk = s.ess_tail = p.provenance.ess_bulk;
    s.mcse_mean = s.ess_bulk > 0 ? sd / std::sqrt(s.ess_bulk) : unknown;
    s.prior_precision = j + 1 < p.dimension ? p.prior_precision : p.intercept_precision;
  }
}

}  // namespace

void EngineLayout::stamp(const Posterior& posterior, Provenance& provenance) noexcept {
  const std::uint64_t target = progress.recovery_target();
  provenance = posterior.provenance;
  provenance.age_ns = clock.now_ns() - posterior.made_ns;
  if (scorer != nullptr) {
    provenance.coverage_90 = scorer->recent_coverage();
    provenance.conformal_coverage_90 = scorer->recent_conformal_coverage();
  }
  if (provenance.sequence < target) {  // rows from before a restart are still coming in again
    provenance.recovery_target = target;
    provenance.status = PosteriorStatus::kRecovering;
    provenance.reason = StatusReason::kReplay;
  } else if (provenance.status == PosteriorStatus::kOk && scorer != nullptr && scorer->failing()) {
    provenance.status = PosteriorStatus::kDegraded;
    provenance.reason = StatusReason::kPredictive;
  } else if (provenance.status == PosteriorStatus::kOk && scorer != nullptr &&
             posterior.few_in_order && !scorer->borne_out()) {
    provenance.status = PosteriorStatus::kDegraded;
    provenance.reason = StatusReason::kDependentRows;
  }
}

void EngineLayout::keep_rows(const Posterior& posterior, const Conformal::Bounds& conformal,
                             const Predictor& predictor, const PredictRequest& request,
                             std::size_t first, std::size_t count,
                             std::span<PredictiveSummary> summaries) noexcept {
  if (scorer == nullptr) return labels.keep(request, first, count, summaries);
  GivenAnswer answer;
  answer.served = conformal;
  answer.use = scorer->use_of(posterior);
  answer.n_seen = posterior.provenance.n_seen;
  answer.n_eff = posterior.provenance.n_eff;
  labels.keep_answered(predictor, answer, request, first, count, summaries);
}

Status Reader::predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                       Provenance& provenance) noexcept {
  const Status status = begin_predict(request);
  if (!ok(status)) return status;
  if (summaries.size() < request.rows) {
    abandon_predict();
    engine_->layout_->counters.add(RuntimeCounter::kPredictionsRefused);
    return Status::kInvalidArgument;
  }
  predict_rows(request, 0, request.rows, summaries);
  end_predict(request, summaries, provenance);
  return Status::kOk;
}

Status Reader::begin_predict(const PredictRequest& request) noexcept {
  if (asked_ != nullptr) return Status::kUnavailable;
  EngineLayout& engine = *engine_->layout_;
  if (!engine.readers.predicts(id_)) return Status::kUnsupported;
  const Status status = engine.parts.request_check.check(request);
  if (!ok(status)) {
    engine.counters.add(RuntimeCounter::kPredictionsRefused);
    return status;
  }
  asked_ = held_ != nullptr ? held_ : engine.parts.snapshots.pin(id_);
  ConformalBounds conformal;
  if (engine.scorer != nullptr) {
    served_ = engine.scorer->conformal();
    conformal = Conformal::bounds(served_, request.interval_probability);
  }
  engine.parts.predictors[id_].begin(*asked_, engine.parts.model->response(), engine.config.seed,
                                     request, conformal);
  return Status::kOk;
}

void Reader::predict_rows(const PredictRequest& request, std::size_t first, std::size_t count,
                          std::span<PredictiveSummary> summaries) noexcept {
  EngineLayout& engine = *engine_->layout_;
  WINDHOVER_CHECK(asked_ != nullptr && first + count <= request.rows);
  Predictor& predictor = engine.parts.predictors[id_];
  predictor.rows(*asked_, engine.parts.model->response(), request, first, count, summaries);
  if (request.keys.empty()) return;
  engine.keep_rows(*asked_, served_, predictor, request, first, count, summaries);
}

void Reader::end_predict(const PredictRequest& request, std::span<PredictiveSummary> summaries,
                         Provenance& provenance) noexcept {
  EngineLayout& engine = *engine_->layout_;
  WINDHOVER_CHECK(asked_ != nullptr);
  engine.parts.predictors[id_].end(engine.parts.model->response(), request, summaries);
  engine.stamp(*asked_, provenance);
  provenance.robust_spread = is_wider(provenance, request);
  abandon_predict();
  engine.counters.add(RuntimeCounter::kPredictions, request.rows);
}

void Reader::abandon_predict() noexcept {
  if (asked_ != nullptr && held_ == nullptr) engine_->layout_->parts.snapshots.unpin(id_);
  asked_ = nullptr;
}

Status Reader::provenance(Provenance& provenance) noexcept {
  EngineLayout& engine = *engine_->layout_;
  if (asked_ != nullptr) return Status::kUnavailable;
  const Posterior* p = held_ != nullptr ? held_ : engine.parts.snapshots.pin(id_);
  engine.stamp(*p, provenance);
  if (held_ == nullptr) engine.parts.snapshots.unpin(id_);
  return Status::kOk;
}

Status Reader::posterior(std::span<ParameterSummary> summaries, Provenance& provenance) noexcept {
  EngineLayout& engine = *engine_->layout_;
  if (summaries.size() < engine.config.model.dimension()) return Status::kInvalidArgument;
  if (asked_ != nullptr) return Status::kUnavailable;
  const Posterior* p = held_ != nullptr ? held_ : engine.parts.snapshots.pin(id_);
  const ParameterColumns& of = p->parameters;
  const double z = normal_quantile(0.95);
  if (p->shared.any()) describe_shared(*p, summaries);
  const std::uint32_t kept = p->shared.any() ? 0 : p->dimension;
  for (std::uint32_t j = 0; j < kept; ++j) {
    summaries[j] = {of.raw_mean[j],
                    of.mode[j],
                    of.sd[j],
                    of.sd_robust[j],
                    of.raw_mean[j] - z * of.sd[j],
                    of.raw_mean[j],
                    of.raw_mean[j] + z * of.sd[j],
                    of.ess_bulk[j],
                    of.r_hat[j],
                    of.ess_tail[j],
                    of.mcse_mean[j],
                    of.autocorrelation_time[j],
                    of.prior_precision[j],
                    of.drift_score[j]};
  }
  engine.stamp(*p, provenance);
  if (held_ == nullptr) engine.parts.snapshots.unpin(id_);
  return Status::kOk;
}

Status Reader::draws(std::uint64_t snapshot_id, std::size_t first, std::size_t count,
                     std::span<double> out, Provenance& provenance) noexcept {
  EngineLayout& engine = *engine_->layout_;
  const std::uint32_t dimension = engine.config.model.dimension();
  const std::size_t draws = engine.config.retained_draws;
  if (first > draws || count > draws - first || out.size() < count * dimension) {
    return Status::kInvalidArgument;
  }
  if (asked_ != nullptr) return Status::kUnavailable;
  if (snapshot_id == 0) {
    release();
    held_ = engine.parts.snapshots.pin(id_);
  }
  if (held_ == nullptr || (snapshot_id != 0 && held_->provenance.snapshot_id != snapshot_id)) {
    return Status::kUnavailable;
  }
  const ModelConfig& model = engine.config.model;
  const ParameterLayout parameters = find_model(model.name)->layout(model);
  for (std::size_t m = 0; m < count; ++m) {
    double* theta = &out[m * dimension];
    if (held_->shared.any()) {
      copy_shared(*held_, first + m, theta);
      continue;
    }
    for (std::uint32_t j = 0; j < dimension; ++j) {
      theta[j] = held_->mean[j] + held_->deviations[j * draws + first + m];
    }
    to_raw_features(parameters, held_->transform, theta, theta);
  }
  engine.stamp(*held_, provenance);
  return Status::kOk;
}

void Reader::release() noexcept {
  if (held_ == nullptr) return;
  engine_->layout_->parts.snapshots.unpin(id_);
  held_ = nullptr;
}

}  // namespace windhover
