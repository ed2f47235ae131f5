#include "windhover/samplers/linear_algebra.h"

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

// Substitution with the d x d triangle that starts at `lower` in a matrix of the given stride.
void solve_lower_strided(const double* lower, Index stride, Index d, double* b) noexcept {
  for (Index j = 0; j < d; ++j) {
    const double* column = lower + j * stride;
    b[j] /= column[j];
    VectorMap(b + j + 1, d - j - 1).noalias() -= b[j] * ConstVectorMap(column + j + 1, d - j - 1);
  }
}

void solve_transposed_strided(const double* lower, Index stride, Index d, double* b) noexcept {
  for (Index j = d - 1; j >= 0; --j) {
    const double* column = lower + j * stride;
    const Index below = d - j - 1;
    b[j] -= ConstVectorMap(column + j + 1, below).dot(ConstVectorMap(b + j + 1, below));
    b[j] /= column[j];
  }
}

}  // namespace

Status cholesky(const double* matrix, Index d, double* lower) noexcept {
  const ConstMatrixMap source(matrix, d, d);
  MatrixMap factor(lower, d, d);
  for (Index j = 0; j < d; ++j) {
    auto column = factor.col(j).tail(d - j);
    column = source.col(j).tail(d - j);
    if (j > 0) {
      column.noalias() -= factor.block(j, 0, d - j, j) * factor.row(j).head(j).transpose();
    }
    const double pivot = column(0);
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      return Status::kNotPositiveDefinite;
    }
    column /= std::sqrt(pivot);
    factor.col(j).head(j).setZero();
  }
  return Status::kOk;
}

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

void solve_lower(const double* lower, Index d, double* b) noexcept {
  solve_lower_strided(lower, d, d, b);
}

void solve_lower_transposed(const double* lower, Index d, double* b) noexcept {
  solve_transposed_strided(lower, d, d, b);
}

Factor::Factor(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      lower_(arena.allocate<double>(static_cast<std::size_t>(dimension) * dimension).data()),
      scale_(arena.allocate<double>(dimension).data()) {}

Status Factor::compute(const double* matrix) noexcept {
  const Index d = dimension_;
  const ConstMatrixMap source(matrix, d, d);
  MatrixMap scaled(lower_, d, d);
  for (Index j = 0; j < d; ++j) {
    const double diagonal = source(j, j);
    if (!(diagonal > 0) || !std::isfinite(diagonal)) {
      return Status::kNotPositiveDefinite;
    }
    scale_[j] = std::sqrt(diagonal);
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      scaled(i, j) = source(i, j) / (scale_[i] * scale_[j]);
    }
  }
  return cholesky(lower_, d, lower_);
}

void Factor::solve(double* b) const noexcept {
  whiten(b);
  solve_root(b);
}

void Factor::solve_root(double* b) const noexcept {
  solve_lower_transposed(lower_, dimension_, b);
  VectorMap(b, dimension_).array() /= ConstVectorMap(scale_, dimension_).array();
}

void Factor::colour(double* b) const noexcept {
  VectorMap(b, dimension_).array() *= ConstVectorMap(scale_, dimension_).array();
  for (Index j = 0; j < dimension_; ++j) {
    const Index rows = dimension_ - j;
    b[j] = ConstVectorMap(lower_ + j * dimension_ + j, rows).dot(ConstVectorMap(b + j, rows));
  }
}

void Factor::whiten(double* b) const noexcept {
  VectorMap(b, dimension_).array() /= ConstVectorMap(scale_, dimension_).array();
  solve_lower(lower_, dimension_, b);
}

void Factor::inverse(double scale, double* inverse) const noexcept {
  // Column j of L^-1 is 0 above row j, and only the lower triangle is wanted, so both
  // substitutions stay within rows j and below.
  const Index d = dimension_;
  for (Index j = 0; j < d; ++j) {
    double* column = inverse + j * d;
    std::fill_n(column, d, 0.0);
    column[j] = scale / scale_[j];
    const Index rows = d - j;
    const double* trailing = lower_ + j * d + j;
    solve_lower_strided(trailing, d, rows, column + j);
    solve_transposed_strided(trailing, d, rows, column + j);
    for (Index i = j; i < d; ++i) column[i] /= scale_[i];
  }
  symmetrize(inverse, d);
}

void Factor::root(double scale, double* root) const noexcept {
  const ConstMatrixMap factor(lower_, dimension_, dimension_);
  MatrixMap result(root, dimension_, dimension_);
  for (Index j = 0; j < dimension_; ++j) {
    for (Index i = 0; i < dimension_; ++i) {
      result(i, j) = i < j ? 0.0 : scale * scale_[i] * factor(i, j);
    }
  }
}

void Factor::inverse_root(double* inverse) const noexcept {
  const Index d = dimension_;
  for (Index j = 0; j < d; ++j) {
    double* column = inverse + j * d;
    std::fill_n(column, d, 0.0);
    column[j] = 1.0 / scale_[j];
    solve_lower_strided(lower_ + j * d + j, d, d - j, column + j);
  }
}

void Factor::copy_from(const Factor& other) noexcept {
  std::copy_n(other.lower_, dimension_ * dimension_, lower_);
  std::copy_n(other.scale_, dimension_, scale_);
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

void symmetrize(double* matrix, Index d) noexcept {
  MatrixMap full(matrix, d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = j + 1; i < d; ++i) {
      full(j, i) = full(i, j);
    }
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
    // Much stricter than 1 %: close to a second eigenvalue the estimate moves on by tiny steps.
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

double smallest_eigenvalue(const double* matrix, double largest, Index d, double* work) noexcept {
  const ConstMatrixMap full(matrix, d, d);
  // A little beyond, so that the shifted matrix is positive semi-definite.
  const double shift = 1.05 * largest;
  return shift - power_iteration(d, work, [&](VectorMap& image, const VectorMap& vector) {
           image = shift * vector;
           image.noalias() -= full * vector;
         });
}

double smallest_scaled_eigenvalue(const double* scale, const double* matrix, double largest,
                                  Index d, double* work) noexcept {
  const ConstMatrixMap full(matrix, d, d);
  const ConstVectorMap scales(scale, d);
  const double shift = 1.05 * largest;
  return shift - power_iteration(d, work, [&](VectorMap& image, const VectorMap& vector) {
           image.noalias() = full * vector;
           image.array() *= -scales.array();
           image += shift * vector;
         });
}

}  // namespace windhover
