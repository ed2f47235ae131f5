#include "windhover/tests/samplers/laws.h"

#include <gtest/gtest.h>

#include <vector>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

OwnedEstimates random_estimates(std::uint64_t seed, Index d) {
  return {random_covariance(seed, d), random_covariance(seed + 1000, d), 1000, 40};
}

Matrix stationary(const Law& law, const OwnedEstimates& e) {
  const Index d = e.curvature.rows();
  Matrix sigma(d, d);
  std::vector<double> work(static_cast<std::size_t>(4 * d * d));
  const Matrix noise = e.noise / e.minibatch_size + law.injected;
  EXPECT_EQ(stationary_covariance(law.h.data(), e.curvature.data(), noise.data(), d, sigma.data(),
                                  work.data()),
            Status::kOk);
  return sigma;
}

Matrix posterior_covariance(const OwnedEstimates& e) { return e.curvature.inverse() / e.n; }

double kl_of(const Law& law, const OwnedEstimates& e) {
  return gaussian_kl(stationary(law, e), e.n * e.curvature);
}

Matrix continuous_covariance(const Matrix& h, const OwnedEstimates& e) {
  const Index d = h.rows();
  const Matrix drift = h * e.curvature;
  const Matrix q = h * e.noise * h.transpose() / e.minibatch_size;
  Matrix system = Matrix::Zero(d * d, d * d);
  const Matrix identity = Matrix::Identity(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      system.block(i * d, j * d, d, d) += drift(i, j) * identity;
      if (i == j) system.block(i * d, j * d, d, d) += drift;
    }
  }
  const Vector solution = system.partialPivLu().solve(Eigen::Map<const Vector>(q.data(), d * d));
  const Matrix sigma = Eigen::Map<const Matrix>(solution.data(), d, d);
  return 0.5 * (sigma + sigma.transpose());
}

}  // namespace windhover
