// A sampler with momentum on one coordinate of a Gaussian, exactly, in discrete time.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_RECURSION_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_RECURSION_H_

#include <Eigen/Core>
#include <vector>

#include "windhover/tools/reproduce/density.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

// One coordinate of curvature lambda under a sampler's law: (theta, v) <- F (theta, v) + noise of
// covariance Q, from v <- beta v - H (lambda theta + e), theta <- theta + v.
class Recursion {
 public:
  Recursion(const SamplerConfig& config, const Told& told, Eigen::Index coordinate, double lambda);

  double variance() const { return sigma_(0, 0); }
  // Autocorrelations of theta at lags 0, 1, ..., count - 1.
  std::vector<double> correlations(std::size_t count) const;
  // Autocorrelation time of theta, 1 + 2 sum of rho_k, ...
  double time() const;
  // ... and of theta^2: theta is Gaussian, so its squares have correlations rho_k^2.
  double squares_time() const;
  // Moves in which what is left of a start falls by e.
  double relaxation() const;

 private:
  Eigen::Matrix2d f_;
  Eigen::Matrix4d squared_;
  Eigen::Matrix2d sigma_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_RECURSION_H_
