// The hyper-parameters of a posterior: dispersion and prior precision, given or learned
// (runtime/learning/hyper-parameters.md).
#ifndef WINDHOVER_RUNTIME_LEARNING_HYPER_PARAMETERS_H_
#define WINDHOVER_RUNTIME_LEARNING_HYPER_PARAMETERS_H_

#include "windhover/platform/arena.h"
#include "windhover/runtime/learning/dispersion.h"
#include "windhover/runtime/learning/laplace_approximation.h"
#include "windhover/runtime/learning/prior_precision.h"

namespace windhover {

// Invariant: after an update() that succeeded, A of the Gaussian is that of the dispersion and the
// prior held here. One thread. Memory 2.5 D doubles and 12 for each group of the prior, D more
// where shape_crosses().
class HyperParameters {
 public:
  // The Gaussian outlives it.
  HyperParameters(Arena& arena, const ModelConfig& model, LaplaceApproximation& laplace) noexcept;
  void reset(const ModelConfig& model) noexcept;
  void start_over() noexcept;

  Dispersion& dispersion() noexcept { return dispersion_; }
  const Dispersion& dispersion() const noexcept { return dispersion_; }
  PriorPrecision& prior() noexcept { return prior_; }
  const PriorPrecision& prior() const noexcept { return prior_; }
  bool learned() const noexcept { return dispersion_.learned() || prior_.learned(); }

  // What the Gaussian of these rows is computed from.
  LaplaceApproximation::Input input(const AnchorSums& rows, Interlude* interlude) const noexcept {
    return {rows, dispersion_.divisor(), prior_.values(), interlude};
  }
  // Updates both by the rows, and A with them. REQUIRES: LaplaceApproximation::compute_curvature()
  // came before. The arguments are those of Estimator::refresh(). O(D^3) an iteration, 8 at most.
  Status update(const AnchorSums& rows, double target_variance, double longest,
                Interlude* interlude) noexcept;
  // Works out whether the prior has further to go: PriorPrecision::way_left(). REQUIRES: P, mode
  // and mean are of the newest update(). O(D^2).
  void look_ahead(Interlude* interlude) noexcept;

 private:
  ShapeCoupling coupling(const AnchorSums& rows) noexcept;

  LaplaceApproximation& laplace_;
  PriorPrecision prior_;
  Dispersion dispersion_;
  double* scratch_ = nullptr;  // dimension, for a shape that shape_crosses()
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_HYPER_PARAMETERS_H_
