#include "windhover/samplers/constant_sgd.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Result<bool> ScalarConstantSgd::check(const SamplerConfig&) noexcept { return true; }
Result<bool> DiagonalConstantSgd::check(const SamplerConfig&) noexcept { return true; }
Result<bool> FullConstantSgd::check(const SamplerConfig&) noexcept { return true; }

Status ScalarConstantSgd::refresh(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const double noise_trace = ConstMatrixMap(e.noise_covariance, d, d).trace();
  const double curvature_trace = ConstMatrixMap(e.curvature, d, d).trace();
  if (!(curvature_trace > 0)) return Status::kNotPositiveDefinite;
  const double optimum =
      2.0 * static_cast<double>(d) * e.minibatch_size / (e.n * std::max(noise_trace, 1e-300));
  // Tr A bounds the largest eigenvalue of A, and a rate below 2 over that is stable.
  std::fill_n(preconditioner_.step_size(), d, std::min(optimum, 1.0 / curvature_trace));
  std::fill_n(preconditioner_.noise_deviation(), d, 0.0);
  preconditioner_.finish();
  return Status::kOk;
}

Status DiagonalConstantSgd::refresh(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const ConstMatrixMap noise(e.noise_covariance, d, d);
  const ConstMatrixMap curvature(e.curvature, d, d);
  for (Index j = 0; j < d; ++j) {
    const double optimum = 2.0 * e.minibatch_size / (e.n * std::max(noise(j, j), 1e-300));
    preconditioner_.step_size()[j] = std::min(optimum, 1.0 / curvature(j, j));
    preconditioner_.noise_deviation()[j] = 0;
  }
  preconditioner_.finish();
  return Status::kOk;
}

Status FullConstantSgd::refresh(const Estimates& e) noexcept {
  const double scale = 2.0 * e.minibatch_size / e.n;
  const Status status = preconditioner_.set_inverse(e.noise_covariance, scale);
  if (ok(status)) return status;
  const Index d = e.dimension;
  MatrixMap lifted(preconditioner_.scratch(), d, d);
  lifted = ConstMatrixMap(e.noise_covariance, d, d);
  lifted += (e.minibatch_size / e.n) * ConstMatrixMap(e.curvature, d, d);
  return preconditioner_.set_inverse(preconditioner_.scratch(), scale);
}

}  // namespace windhover
