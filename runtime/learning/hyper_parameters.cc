#include "windhover/runtime/learning/hyper_parameters.h"

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {

HyperParameters::HyperParameters(Arena& arena, const ModelConfig& model,
                                 LaplaceApproximation& laplace) noexcept
    : laplace_(laplace), prior_(arena, model), dispersion_(model) {
  if (!shape_crosses(find_model(model.name)->response)) return;
  scratch_ = arena.allocate<double>(model.dimension()).data();
}

void HyperParameters::reset(const ModelConfig& model) noexcept {
  prior_.reset(model);
  dispersion_.reset(model);
}

void HyperParameters::start_over() noexcept {
  prior_.start_over();
  dispersion_.start_over();
}

// Updates prior precision and dispersion in turn, each from the posterior that both lead to
// (hyper-parameters.md). The precision moves no further than the mode can be told from the anchor's
// sums: beyond, coefficients of categories with few rows would run away with it. A step of it costs
// two factorizations, so after a short one the next is left to the next refresh.
Status HyperParameters::update(const AnchorSums& rows, double target_variance, double longest,
                               Interlude* interlude) noexcept {
  constexpr int kMaxIterations = 8;
  constexpr double kShortPriorStep = 1e-2;
  const double previous = dispersion_.value();
  const bool learn_prior = prior_.learned() && laplace_.step_is_trusted();
  bool update_prior = learn_prior;
  double farthest = 1e300;
  prior_.mark();
  for (int i = 0; i < kMaxIterations; ++i) {
    const double before = dispersion_.value();
    double change = 0;
    const double* variances = laplace_.compute_variances(interlude);
    if (update_prior) {
      laplace_.compute_centre(input(rows, interlude), longest, 1.0, variances, 1);
      change = prior_.update(laplace_.mode(), laplace_.mean(), variances, farthest);
      update_prior = change > kShortPriorStep;
    }
    if (dispersion_.learned()) {
      change =
          std::max(change, dispersion_.update(rows, rows.scale_to(laplace_.n()),
                                              laplace_.newton_step(), prior_.values(), variances,
                                              coupling(rows), target_variance, interlude));
    }
    const Status status = laplace_.compute_curvature(input(rows, interlude));
    if (!ok(status)) {
      dispersion_.set(before);
      prior_.undo();
      return laplace_.compute_curvature(input(rows, interlude));
    }
    if (learn_prior && !laplace_.step_is_trusted()) {
      farthest = 0.5 * prior_.moved();
      update_prior = true;
      prior_.undo();
      const Status undone = laplace_.compute_curvature(input(rows, interlude));
      if (!ok(undone)) return undone;
    } else if (change < 1e-9) {
      break;
    }
  }
  dispersion_.end_refresh(previous);
  return Status::kOk;
}

void HyperParameters::look_ahead(Interlude* interlude) noexcept {
  prior_.look_ahead(laplace_.mode(), laplace_.mean(), laplace_.covariance());
  const auto d = static_cast<double>(prior_.groups().size());
  advance(interlude, 2 * kSweptNumber * d * d);
}

// None where the Newton step cannot be trusted: theta is then far from where the rows' mixed
// derivatives were taken.
ShapeCoupling HyperParameters::coupling(const AnchorSums& rows) noexcept {
  const double* cross = rows.sums().shape_cross;
  if (cross == nullptr || !laplace_.step_is_trusted()) return {};
  const std::uint32_t d = rows.dimension();
  const double scale = rows.scale_to(laplace_.n());
  ShapeCoupling taken;
  std::copy_n(cross, d, scratch_);
  laplace_.factor().solve_root(scratch_);
  for (std::uint32_t j = 0; j < d; ++j) {
    taken.slope -= scale * cross[j] * laplace_.newton_step()[j];
    taken.information += scale * scale * scratch_[j] * scratch_[j] / laplace_.n();
  }
  return taken;
}

}  // namespace windhover
