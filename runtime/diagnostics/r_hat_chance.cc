#include "windhover/runtime/diagnostics/r_hat_chance.h"

#include <cmath>
#include <limits>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

double r_hat_chance(double effective, double chains, double dimension) noexcept {
  const double within = effective - 2 * chains;  // degrees of freedom
  if (!(within > 0)) return std::numeric_limits<double>::infinity();
  const double a = 2 / (9 * (2 * chains - 1));
  const double b = 2 / (9 * within);
  const double z = -normal_quantile(kRHatRate / dimension);
  const double lead = (1 - b) * (1 - b) - z * z * b;
  if (!(lead > 0)) return std::numeric_limits<double>::infinity();
  const double root = std::sqrt(a * (1 - b) * (1 - b) + b * (1 - a) * (1 - a) - z * z * a * b);
  const double cube_root = ((1 - a) * (1 - b) + z * root) / lead;
  const double f = cube_root * cube_root * cube_root;
  return std::sqrt(1 + f * 2 * chains / within);
}

}  // namespace windhover
