#include "windhover/samplers/linear_algebra/linear_algebra.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

namespace {

// c <- a b, column by column, so that Eigen's blocked product with its heap scratch never runs.
void multiply(const double* a, const double* b, Index d, double* c) noexcept {
  const ConstMatrixMap left(a, d, d);
  for (Index j = 0; j < d; ++j) {
    VectorMap(c + j * d, d).noalias() = left * ConstVectorMap(b + j * d, d);
  }
}

// c <- a b^T for symmetric results: c's column j is a times row j of b.
void multiply_transposed(const double* a, const double* b, Index d, double* c) noexcept {
  const ConstMatrixMap left(a, d, d);
  const ConstMatrixMap right(b, d, d);
  for (Index j = 0; j < d; ++j) {
    auto column = VectorMap(c + j * d, d);
    column.setZero();
    for (Index k = 0; k < d; ++k) {
      column.noalias() += right(j, k) * left.col(k);
    }
  }
}

}  // namespace

void semidefinite_root(double* matrix, Eigen::Index dimension) noexcept {
  const Index d = dimension;
  MatrixMap m(matrix, d, d);
  for (Index j = 0; j < d; ++j) {
    const double diagonal = m(j, j);
    auto column = m.col(j).tail(d - j);
    for (Index k = 0; k < j; ++k) column -= m(j, k) * m.col(k).tail(d - j);
    const double pivot = m(j, j);
    const double smallest = 1e-12 * diagonal;
    if (pivot > smallest) {
      column /= std::sqrt(pivot);
    } else {
      column.setZero();
    }
    m.col(j).head(j).setZero();
  }
}

Status stationary_covariance(const double* preconditioner, const double* curvature,
                             const double* noise, Index d, double* sigma, double* work) noexcept {
  // Sigma = sum_k R^k Q R^kT with R = I - HA and Q = H noise H^T; each round doubles the terms.
  double* transition = work;
  double* power = work + d * d;
  double* product = work + 2 * d * d;
  double* spare = work + 3 * d * d;
  multiply(preconditioner, curvature, d, product);
  MatrixMap r(transition, d, d);
  r = -ConstMatrixMap(product, d, d);
  r.diagonal().array() += 1.0;
  multiply(preconditioner, noise, d, product);
  multiply_transposed(product, preconditioner, d, sigma);
  constexpr int kMaxDoublings = 60;
  for (int round = 0; round < kMaxDoublings; ++round) {
    multiply(transition, sigma, d, product);
    multiply_transposed(product, transition, d, spare);
    MatrixMap total(sigma, d, d);
    const ConstMatrixMap increment(spare, d, d);
    const double size = total.diagonal().cwiseAbs().maxCoeff();
    const double change =
        (increment.diagonal().array() / (total.diagonal().array() + 1e-300)).abs().maxCoeff();
    total += increment;
    if (!std::isfinite(size)) {
      return Status::kDiverged;
    }
    if (change < 1e-15) {
      return Status::kOk;
    }
    multiply(transition, transition, d, power);
    r = ConstMatrixMap(power, d, d);
  }
  return Status::kDiverged;
}

// Works block by block: a page is touched a few dozen times before the next.
void symmetrize(double* matrix, Index d, Interlude* interlude) noexcept {
  constexpr Index kBlock = 32;
  MatrixMap full(matrix, d, d);
  for (Index first = 0; first < d; first += kBlock) {
    const Index width = std::min(kBlock, d - first);
    for (Index top = first; top < d; top += kBlock) {
      const Index bottom = std::min(top + kBlock, d);
      for (Index j = first; j < first + width; ++j) {
        for (Index i = std::max(top, j + 1); i < bottom; ++i) full(j, i) = full(i, j);
      }
    }
    advance(interlude, kProductsANumber * static_cast<double>(width * (d - first)));
  }
}

namespace {

// apply(image, vector) is one product; `work` holds 2 d doubles.
template <class Apply>
double power_iteration(Index d, double* work, Apply&& apply) noexcept {
  VectorMap vector(work, d);
  VectorMap image(work + d, d);
  for (Index j = 0; j < d; ++j) {
    vector(j) =
        1.0 + 0.1 * static_cast<double>((7 * j + 3) % 11);  // not orthogonal to anything usual
  }
  vector /= vector.norm();
  double eigenvalue = 0;
  constexpr int kMaxIterations = 1000;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    apply(image, vector);
    const double size = image.norm();
    if (!(size > 0)) {
      return 0;
    }
    vector = image / size;
    // Much stricter than 1 %, because close to a second eigenvalue the estimate moves by tiny
    // steps.
    if (std::abs(size - eigenvalue) < 1e-6 * size) {
      return size;
    }
    eigenvalue = size;
  }
  return eigenvalue;
}

}  // namespace

double largest_eigenvalue(const double* matrix, Index d, double* work) noexcept {
  const ConstMatrixMap full(matrix, d, d);
  return power_iteration(
      d, work, [&](VectorMap& image, const VectorMap& vector) { image.noalias() = full * vector; });
}

double largest_scaled_eigenvalue(const double* scale, const double* matrix, Index d,
                                 double* work) noexcept {
  const ConstMatrixMap full(matrix, d, d);
  const ConstVectorMap scales(scale, d);
  return power_iteration(d, work, [&](VectorMap& image, const VectorMap& vector) {
    image.noalias() = full * vector;
    image.array() *= scales.array();
  });
}

double largest_ratio(const double* matrix, const Factor& metric, double* work) noexcept {
  const Index d = metric.dimension();
  const ConstMatrixMap full(matrix, d, d);
  return power_iteration(d, work, [&](VectorMap& image, const VectorMap& vector) {
    image.noalias() = full * vector;
    metric.solve(image.data());
  });
}

}  // namespace windhover
