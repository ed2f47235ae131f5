#include "windhover/samplers/constant_rate/reverse_kl_sgd.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Result<bool> ReverseKlSgd::check(const SamplerConfig& config) noexcept {
  return check_noise_is_full(config);
}

Status ReverseKlSgd::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const Index d = e.dimension;
  const double size = static_cast<double>(d);
  double curvature_trace = 0;
  for (std::size_t j = 0; j < e.dimension; ++j) curvature_trace += e.curvature_of(j);
  // The largest eigenvalue of A is at least Tr A / D, so no longer rate is stable. With a
  // singular C the optimum is infinite.
  double rate = 2.0 * size / curvature_trace;
  if (ok(factor_.compute(e.noise_covariance))) {
    double inverse_trace = 0;  // sum over j of (C^-1)_jj
    for (Index j = 0; j < d; ++j) {
      std::fill_n(column_, d, 0.0);
      column_[j] = 1.0;
      factor_.whiten(column_);
      inverse_trace += ConstVectorMap(column_, d).squaredNorm();
    }
    const double optimum = 2.0 * e.minibatch_size / (e.n * size) * inverse_trace;
    if (optimum < rate) rate = optimum;  // a factor of a C singular up to rounding may give a NaN
  }
  std::fill_n(preconditioner_.step_size(), d, rate);
  std::fill_n(preconditioner_.noise_deviation(), d, 0.0);
  preconditioner_.finish(e.curvature);
  return Status::kOk;
}

}  // namespace windhover
