#include "windhover/tools/reproduce/recipe_recursion.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "windhover/tools/error.h"

namespace windhover::reproduce {

using Eigen::Matrix2d;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;

namespace {

// Of column-major 2 x 2 matrices: vec(F S F^T) = kronecker(F) vec(S).
Matrix4d kronecker(const Matrix2d& f) {
  Matrix4d k;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) k.block<2, 2>(2 * i, 2 * j) = f(i, j) * f;
  }
  return k;
}

}  // namespace

Recursion::Recursion(const SamplerConfig& config, const Told& told, Eigen::Index coordinate,
                     double lambda) {
  const Eigen::Index d = told.curvature.rows();
  const OwnedSampler sampler(config, told);
  MatrixXd h(d, d);
  MatrixXd injected(d, d);
  sampler->law(h.data(), injected.data());
  const double rate = h(coordinate, coordinate);
  const double beta = sampler->momentum();
  f_ << 1 - rate * lambda, beta, -rate * lambda, beta;
  const Matrix2d q = Matrix2d::Constant(rate * rate * injected(coordinate, coordinate));
  squared_ = kronecker(f_);
  const Vector4d sigma =
      (Matrix4d::Identity() - squared_).partialPivLu().solve(Eigen::Map<const Vector4d>(q.data()));
  sigma_ = Eigen::Map<const Matrix2d>(sigma.data());
}

std::vector<double> Recursion::correlations(std::size_t count) const {
  std::vector<double> rho;
  Vector2d covariance = sigma_.col(0);
  for (std::size_t k = 0; k < count; ++k) {
    rho.push_back(covariance[0] / variance());
    covariance = f_ * covariance;
  }
  return rho;
}

double Recursion::time() const {
  const Vector2d sum = (Matrix2d::Identity() - f_).partialPivLu().solve(sigma_.col(0));
  return 2 * sum[0] / variance() - 1;
}

double Recursion::squares_time() const {
  const Vector2d c = sigma_.col(0) / variance();
  Vector4d products;
  products << c[0] * c[0], c[1] * c[0], c[0] * c[1], c[1] * c[1];
  const Vector4d sum = (Matrix4d::Identity() - squared_).partialPivLu().solve(products);
  return 2 * sum[0] - 1;
}

double Recursion::relaxation() const {
  return -1 / std::log(f_.eigenvalues().cwiseAbs().maxCoeff());
}

}  // namespace windhover::reproduce
