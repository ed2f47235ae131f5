#include "windhover/samplers/constant_rate/square_root_sgd.h"

#include <algorithm>
#include <cmath>

namespace windhover {

Result<bool> SquareRootSgd::check(const SamplerConfig&) noexcept { return true; }

Status SquareRootSgd::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  double trace = 0;  // Tr(C G^-1)
  for (std::size_t j = 0; j < e.dimension; ++j) trace += std::sqrt(e.noise_variance_of(j));
  const double rate =
      2.0 * static_cast<double>(e.dimension) * e.minibatch_size / (e.n * std::max(trace, 1e-150));
  for (std::size_t j = 0; j < e.dimension; ++j) {
    const double optimum = rate / std::max(std::sqrt(e.noise_variance_of(j)), 1e-150);
    preconditioner_.step_size()[j] = std::min(optimum, 1.0 / e.curvature_of(j));
    preconditioner_.noise_deviation()[j] = 0;
  }
  preconditioner_.finish(e.curvature);
  return Status::kOk;
}

}  // namespace windhover
