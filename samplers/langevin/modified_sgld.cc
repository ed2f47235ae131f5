#include "windhover/samplers/langevin/modified_sgld.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Status ModifiedSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const Index d = dimension_;
  const double temperature = temperature_.last();
  double* work = preconditioner_.work();
  const double curvature = largest_eigenvalue(e.curvature, d, work);
  const double least = least_curvature(e.curvature, d, work);
  const double noise = e.n / e.minibatch_size * largest_eigenvalue(e.noise_covariance, d, work);
  if (!(least > 0 && noise >= 0)) return Status::kNotPositiveDefinite;
  double h = given_step_ > 0 ? given_step_ : langevin_step(curvature, 0.0, 1.0);
  Status status = Status::kOk;
  if (temperature > 0) {
    h = std::min(h, 0.9 * 2.0 * temperature / std::max(noise, 1e-300));
    MatrixMap matrix(preconditioner_.scratch(), d, d);
    matrix = (-1.0 / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
    matrix.diagonal().array() += 2.0 * temperature / (e.n * h);
    status = preconditioner_.set_noise(preconditioner_.scratch(), 1.0);
  } else {
    status = preconditioner_.set_noise(nullptr, 0.0);
  }
  if (!ok(status)) return status;
  relaxation_ = 1.0 / (h * least);
  MatrixMap(preconditioner_.scratch(), d, d).setIdentity();
  return preconditioner_.set_inverse(preconditioner_.scratch(), h);
}

}  // namespace windhover
