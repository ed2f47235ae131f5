#include "windhover/runtime/learning/estimator.h"

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

Response response_of(const ModelConfig& model) noexcept { return find_model(model.name)->response; }

}  // namespace

Estimator::Estimator(Arena& arena, const EngineConfig& config) noexcept
    : temperature_(config.sampler.temperature),
      pass_(arena, config.model.dimension(), response_of(config.model), config.model.weighted(),
            weighs_ages(config.horizon)),
      done_(arena, config.model.dimension(), response_of(config.model), config.model.weighted(),
            weighs_ages(config.horizon)),
      noise_(arena, config.sampler, config.model.dimension(),
             !find_model(config.model.name)->network, !keeps_window(config.horizon)),
      prior_(arena, config.model),
      dispersion_(config.model),
      laplace_(arena, config.model),
      checks_(arena, laplace_, noise_, prior_, dispersion_, config.model) {
  if (keeps_window(config.horizon)) {
    const std::size_t d = config.model.dimension();
    if (shape_crosses(response_of(config.model))) at_ = arena.allocate<double>(d).data();
    if (config.model.weighted()) assumed_noise_ = arena.allocate<double>(d * d).data();
    return;
  }
  begin_ = arena.allocate<double>(config.model.dimension()).data();
  at_ = arena.allocate<double>(config.model.dimension()).data();
}

void Estimator::reset(const EngineConfig& config) noexcept {
  prior_.reset(config.model);
  dispersion_.reset(config.model);
  set_target_scale(1.0);
  start_over();
}

void Estimator::set_target_scale(double scale) noexcept {
  dispersion_.set_target_scale(scale);
  laplace_.clear_mode();
}

void Estimator::start_over() noexcept {
  prior_.start_over();
  dispersion_.start_over();
  laplace_.clear_mode();
  checks_.start_over();
  noise_.start_over();
  pass_.begin(laplace_.mode(), dispersion_.value());
  done_.begin(laplace_.mode(), dispersion_.value());
}

bool Estimator::far_from_mode() const noexcept {
  return !laplace_.loss().quadratic && laplace_.is_summary() &&
         (laplace_.newton_decrement() > 0.01 ||
          dispersion_.step() > 0.1 * dispersion_.relative_sd(laplace_.weight()));
}

Status Estimator::refresh(double n, double target_variance, double longest, double prior_move,
                          Interlude* interlude) noexcept {
  const Dispersion before = dispersion_;
  laplace_.begin(n, done_.mean_weight(), interlude);
  const Status status = compute(target_variance, longest, prior_move, interlude);
  refresh_failed_ = !ok(status);
  if (refresh_failed_) {
    dispersion_ = before;
    laplace_.restore();
  }
  return status;
}

// done() <- the kept sums, seen from `anchor`, and the rows at it.
void Estimator::sum_at(const double* anchor, Model& model, const RowBatch& rows) noexcept {
  done_.copy_from(pass_);
  done_.move_anchor(anchor, dispersion_.value(), 1.0);
  done_.add(model, rows, laplace_.covariance());
}

Status Estimator::refresh_at_mode(Model& model, const RowBatch& rows, double n,
                                  double target_variance) noexcept {
  const Dispersion before = dispersion_;
  laplace_.begin(n, done_.mean_weight(), nullptr);
  Status status = find_mode(model, rows);
  if (ok(status)) {
    status = compute(target_variance, laplace_.loss().trusted_step(laplace_.weight()),
                     PriorPrecision::kFree, nullptr);
  }
  refresh_failed_ = !ok(status);
  if (refresh_failed_) {
    dispersion_ = before;
    laplace_.restore();
    done_.copy_from(pass_);
  }
  return status;
}

// Where the slope at the end of a step, upwards, is more than 0.3 of what it was where the step
// began, downwards, the step has passed the lowest point by far (as in ColdStart).
Status Estimator::find_mode(Model& model, const RowBatch& rows) noexcept {
  constexpr int kMostIterations = 100;
  constexpr int kMostHalvings = 40;
  constexpr double kNear = 1e-4;  // squared way to the mode, in posterior sd
  constexpr double kSlope = 0.3;
  const std::uint32_t d = done_.dimension();
  std::copy_n(pass_.anchor(), d, at_);
  double fall = 0;  // along the step under way
  int halvings = 0;
  for (int i = 0; i < kMostIterations; ++i) {
    sum_at(at_, model, rows);
    const Status status = laplace_.compute_curvature(input(nullptr));
    double slope = 0;
    for (std::uint32_t j = 0; j < d && i > 0; ++j) {
      slope += laplace_.anchor_gradient()[j] * (at_[j] - begin_[j]);
    }
    const bool too_far =
        !ok(status) || (!laplace_.loss().steps_are_safe && !(slope <= kSlope * fall));
    if (i > 0 && halvings < kMostHalvings && too_far) {
      for (std::uint32_t j = 0; j < d; ++j) at_[j] = 0.5 * (at_[j] + begin_[j]);
      fall *= 0.5;
      ++halvings;
      continue;
    }
    if (!ok(status)) return status;
    if (laplace_.newton_decrement() < kNear) break;
    fall = laplace_.newton_decrement() / laplace_.n();
    halvings = 0;
    std::copy_n(at_, d, begin_);
    for (std::uint32_t j = 0; j < d; ++j) at_[j] -= laplace_.newton_step()[j];
  }
  // For the mean: third-order sums under the P of before would be those of rows that nothing was
  // known of.
  laplace_.compute_covariance(nullptr);
  sum_at(std::copy_n(done_.anchor(), d, at_) - d, model, rows);
  return Status::kOk;
}

Status Estimator::compute(double target_variance, double longest, double prior_move,
                          Interlude* interlude) noexcept {
  Status status = laplace_.compute_curvature(input(interlude));
  if (ok(status) && (dispersion_.learned() || prior_.learned()) && done_.rows() > 0) {
    status = update_hyperparameters(target_variance, longest, prior_move, interlude);
  }
  if (!ok(status)) return status;
  laplace_.compute_centre(input(interlude), longest, temperature_);
  laplace_.compute_covariance(interlude);
  noise_.refresh(done_, dispersion_.divisor(), interlude);
  checks_.refresh(done_, interlude);
  if (assumed_noise_ != nullptr) assume_noise(interlude);
  return Status::kOk;
}

void Estimator::assume_noise(Interlude* interlude) noexcept {
  const double scale = 1 / done_.weight_ratio();
  const std::size_t d = done_.dimension();
  for (std::size_t i = 0; i < d * d; ++i) assumed_noise_[i] = scale * laplace_.curvature()[i];
  advance(interlude, kSweptNumber * static_cast<double>(d * d));
}

// Dispersion and prior precision, each from the posterior that both lead to, in turn
// (hyper-parameters.md). The precision stays where the mode it calls for can be told from the
// anchor's sums: past that, coefficients of categories with few rows would run away with it.
Status Estimator::update_hyperparameters(double target_variance, double longest, double prior_move,
                                         Interlude* interlude) noexcept {
  constexpr int kMaxIterations = 8;
  const double previous = dispersion_.value();
  const bool free = prior_move == PriorPrecision::kFree;
  const bool learn_prior = prior_.learned() && laplace_.step_is_trusted();
  prior_.mark();
  for (int i = 0; i < kMaxIterations; ++i) {
    const double before = dispersion_.value();
    double change = 0;
    const double* variances = laplace_.compute_variances(interlude);
    if (learn_prior && (i == 0 || free)) {
      laplace_.compute_centre(input(interlude), longest, 1.0);
      change = prior_.update(laplace_.mode(), laplace_.mean(), variances, prior_move);
    }
    if (dispersion_.learned()) {
      change = std::max(change, dispersion_.update(done_, row_scale(done_), laplace_.newton_step(),
                                                   prior_.values(), variances, shape_coupling(),
                                                   target_variance, interlude));
    }
    const Status status = laplace_.compute_curvature(input(interlude));
    if (!ok(status)) {
      dispersion_.set(before);
      prior_.undo();
      return laplace_.compute_curvature(input(interlude));
    }
    if (learn_prior && !laplace_.step_is_trusted()) {
      prior_move = 0.5 * prior_.moved();
      prior_.undo();
      const Status undone = laplace_.compute_curvature(input(interlude));
      if (!ok(undone)) return undone;
    } else if (change < 1e-9) {
      break;
    }
  }
  dispersion_.end_refresh(previous);
  return Status::kOk;
}

bool Estimator::curvature_is_known(const Model& model, double least) const noexcept {
  constexpr double kLaw = 0.3;
  if (model.curvature() != Curvature::kFisher) return true;
  if (const double* cross = done_.sums().shape_cross; cross != nullptr) {
    const double relative_sd = dispersion_.relative_sd(laplace_.weight());
    const double scaled_sd = row_scale(done_) * relative_sd;
    const double taken = checks_.variance_along(cross).posterior;
    if (!(taken * scaled_sd * scaled_sd < kLaw)) return false;
  }
  return !done_.weighted() || effective_rows() >= least;
}

// Where a step cannot be trusted theta is far from where the rows' mixed derivatives are of.
ShapeCoupling Estimator::shape_coupling() noexcept {
  const double* cross = done_.sums().shape_cross;
  if (cross == nullptr || !laplace_.step_is_trusted()) return {};
  const std::uint32_t d = done_.dimension();
  const double scale = row_scale(done_);
  ShapeCoupling coupling;
  std::copy_n(cross, d, at_);
  laplace_.factor().solve_root(at_);
  for (std::uint32_t j = 0; j < d; ++j) {
    coupling.slope -= scale * cross[j] * laplace_.newton_step()[j];
    coupling.information += scale * scale * at_[j] * at_[j] / laplace_.n();
  }
  return coupling;
}

Estimates Estimator::estimates(double minibatch_size, bool noise_known) const noexcept {
  Estimates e;
  e.dimension = done_.dimension();
  e.n = laplace_.n();
  e.minibatch_size = minibatch_size;
  e.curvature = laplace_.curvature();
  if (!noise_known) {
    e.noise_covariance = assumed_noise_ != nullptr ? assumed_noise_ : laplace_.curvature();
  } else if (noise_.is_full()) {
    e.noise_covariance = noise_.values().data();
  } else {
    e.noise_variances = noise_.values().data();
  }
  e.anchor = done_.anchor();
  e.anchor_gradient = laplace_.anchor_gradient();
  return e;
}

void Estimator::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("estimates");
  visitor.value(refresh_failed_);
  laplace_.visit_state(visitor);
  dispersion_.visit_state(visitor);
  checks_.visit_state(visitor);
  prior_.visit_state(visitor);
  visitor.section("sums of the last pass");
  done_.visit_state(visitor);
  visitor.section("sums of the pass under way");
  pass_.visit_state(visitor);
  noise_.visit_state(visitor);
  if (assumed_noise_ != nullptr) {
    visitor.visit(assumed_noise_, std::size_t{done_.dimension()} * done_.dimension());
  }
}

}  // namespace windhover
