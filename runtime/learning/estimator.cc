#include "windhover/runtime/learning/estimator.h"

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

Response response_of(const ModelConfig& model) noexcept { return find_model(model.name)->response; }

}  // namespace

Estimator::Estimator(Arena& arena, const EngineConfig& config) noexcept
    : temperature_(config.sampler.temperature),
      sums_(arena, config.model.dimension(), response_of(config.model), config.model.weighted(),
            weighs_ages(config.horizon), !keeps_window(config.horizon)),
      noise_(arena, config.sampler, config.model, !keeps_window(config.horizon)),
      laplace_(arena, config.model),
      hyper_(arena, config.model, laplace_),
      checks_(arena, laplace_, noise_, hyper_.prior(), hyper_.dispersion(), config.model) {
  if (keeps_window(config.horizon)) return;
  search_ = arena.make<ModeSearch>(arena, config.model.dimension(), sums_, laplace_);
}

void Estimator::reset(const EngineConfig& config) noexcept {
  hyper_.reset(config.model);
  hyper_.dispersion().set_shortens(keeps_window(config.horizon));
  set_target_scale(1.0);
  start_over();
}

void Estimator::set_target_scale(double scale) noexcept {
  hyper_.dispersion().set_target_scale(scale);
  laplace_.clear_mode();
}

void Estimator::start_over() noexcept {
  noise_.start_over();
  forget_mode();
}

void Estimator::forget_mode() noexcept {
  hyper_.start_over();
  laplace_.clear_mode();
  checks_.start_over();
  sums_.start_over(laplace_.mode(), dispersion().value());
}

bool Estimator::far_from_mode() const noexcept {
  return !laplace_.loss().quadratic && laplace_.loss().is_summary() &&
         (laplace_.newton_decrement() > 0.01 || laplace_.third_share() < 1 ||
          dispersion().step() > 0.1 * dispersion().relative_sd(laplace_.weight()));
}

Status Estimator::refresh(double n, double target_variance, double longest,
                          Interlude* interlude) noexcept {
  const Dispersion before = dispersion();
  laplace_.begin(n, done().mean_weight(), interlude);
  const Status status = compute(target_variance, longest, interlude);
  refresh_failed_ = !ok(status);
  if (refresh_failed_) {
    hyper_.dispersion() = before;
    laplace_.restore();
  }
  return status;
}

Status Estimator::refresh_at_mode(Model& model, const RowBatch& rows, double n,
                                  double target_variance) noexcept {
  const Dispersion before = dispersion();
  laplace_.begin(n, done().mean_weight(), nullptr);
  Status status = search_->find(model, rows, hyper_.input(done(), nullptr), before.value());
  if (ok(status)) {
    status = compute(target_variance, laplace_.loss().trusted_step(laplace_.weight()), nullptr);
  }
  refresh_failed_ = !ok(status);
  if (refresh_failed_) {
    hyper_.dispersion() = before;
    laplace_.restore();
    sums_.restore();
  }
  return status;
}

Status Estimator::compute(double target_variance, double longest, Interlude* interlude) noexcept {
  Status status = laplace_.compute_curvature(hyper_.input(done(), interlude));
  if (ok(status) && hyper_.learned() && done().rows() > 0) {
    status = hyper_.update(done(), target_variance, longest, interlude);
  }
  if (!ok(status)) return status;
  laplace_.compute_covariance(interlude);
  laplace_.compute_centre(hyper_.input(done(), interlude), longest, temperature_,
                          laplace_.covariance(), std::size_t{done().dimension()} + 1);
  if (prior().learned() && done().rows() > 0) hyper_.look_ahead(interlude);
  noise_.refresh(done(), dispersion().divisor(), interlude);
  checks_.refresh(done(), interlude);
  noise_.assume(done(), laplace_.curvature(), interlude);
  return Status::kOk;
}

Estimates Estimator::estimates(double minibatch_size, bool noise_known) const noexcept {
  Estimates e;
  e.dimension = done().dimension();
  e.n = laplace_.n();
  e.minibatch_size = minibatch_size;
  e.curvature = laplace_.curvature();
  if (!noise_known) {
    e.noise_covariance = noise_.assumed() != nullptr ? noise_.assumed() : laplace_.curvature();
  } else if (noise_.is_full()) {
    e.noise_covariance = noise_.values().data();
  } else {
    e.noise_variances = noise_.values().data();
  }
  e.anchor = done().anchor();
  e.anchor_gradient = laplace_.anchor_gradient();
  return e;
}

void Estimator::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("estimates", 3);
  visitor.value(refresh_failed_);
  laplace_.visit_state(visitor);
  hyper_.dispersion().visit_state(visitor);
  checks_.visit_state(visitor);
  hyper_.prior().visit_state(visitor);
  sums_.visit_state(visitor);
  noise_.visit_state(visitor);
}

}  // namespace windhover
