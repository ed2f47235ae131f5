// One chain of a sampler on a loss that is a function, with gradient noise of a known covariance.
#ifndef WINDHOVER_TESTS_SAMPLERS_WALK_H_
#define WINDHOVER_TESTS_SAMPLERS_WALK_H_

#include <functional>
#include <string_view>

#include "windhover/tests/samplers/support.h"

namespace windhover {

// The gradient of the mean loss plus noise of covariance C / S, the same at every theta.
class NoisyGradient {
 public:
  NoisyGradient(const OwnedEstimates& estimates, FunctionModel::Gradient mean_gradient);
  // The same for the quadratic loss with the curvature of the estimates, mode 0.
  explicit NoisyGradient(const OwnedEstimates& estimates);
  GradientSource& source() { return gradient_.source(); }

 private:
  Matrix root_;
  Vector z_;
  Rng rng_{77};
  FunctionGradient gradient_;
};

// visit(chain) after each of `steps` moves from `start`.
void walk(std::string_view name, const SamplerConfig& config, const OwnedEstimates& estimates,
          GradientSource& gradient, const Vector& start, int steps,
          const std::function<void(OwnedChain&)>& visit);

// Second moments about 0 over a walk from 0, the first tenth left out.
Matrix walked_covariance(std::string_view name, const SamplerConfig& config,
                         const OwnedEstimates& estimates, int steps);

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_WALK_H_
