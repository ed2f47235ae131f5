// Small dense linear algebra on the arena's memory. Matrices are column-major D x D, symmetric ones
// are read from the lower triangle only. Nothing allocates; every call is noexcept.
//
// Factorisations scale to a unit diagonal first: columns whose scales are 10^6 apart would
// otherwise have a condition number of 10^12.
//
// Functions that take long for many parameters let an interlude, if given, run between their
// pieces.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LINEAR_ALGEBRA_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LINEAR_ALGEBRA_H_

#include <Eigen/Core>
#include <cstddef>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/platform/status.h"
#include "windhover/samplers/linear_algebra/interlude.h"

namespace windhover {

using VectorMap = Eigen::Map<Eigen::VectorXd>;
using MatrixMap = Eigen::Map<Eigen::MatrixXd>;
using ConstVectorMap = Eigen::Map<const Eigen::VectorXd>;
using ConstMatrixMap = Eigen::Map<const Eigen::MatrixXd>;

// Writes the lower Cholesky factor of `matrix` (D x D) to `lower`, with zeros above the diagonal;
// the two may be the same memory. Left-looking, a block of columns at a time: D^3 / 3 operations.
// kNotPositiveDefinite when a pivot is not positive or not finite; `lower` is then unspecified.
Status cholesky(const double* matrix, Eigen::Index dimension, double* lower,
                Interlude* interlude = nullptr) noexcept;

// Replaces a positive semi-definite matrix by a lower triangular root, root root^T = matrix. A
// column whose pivot is 0 up to rounding becomes 0. Reads the lower triangle. Complexity D^3 / 3.
void semidefinite_root(double* matrix, Eigen::Index dimension) noexcept;

// b <- L^-1 b and b <- L^-T b.
void solve_lower(const double* lower, Eigen::Index dimension, double* b) noexcept;
void solve_lower_transposed(const double* lower, Eigen::Index dimension, double* b) noexcept;

// Replaces a lower triangular R, stored by rows, by scale x R^T R, both triangles. Complexity D^3 /
// 3.
void square_root_rows(double scale, Eigen::Index dimension, double* rows,
                      Interlude* interlude = nullptr) noexcept;

// out <- a x + b y, all D x D.
void combine(double a, const double* x, double b, const double* y, Eigen::Index dimension,
             double* out, Interlude* interlude = nullptr) noexcept;

// Cholesky factor of a symmetric positive definite matrix, equilibrated: matrix = S L L^T S with
// S diagonal. Memory: D^2 + D doubles.
class Factor {
 public:
  Factor(Arena& arena, std::uint32_t dimension) noexcept;

  // Reads the lower triangle of `matrix`. kNotPositiveDefinite leaves nothing usable. Complexity
  // D^3 / 3.
  Status compute(const double* matrix, Interlude* interlude = nullptr) noexcept;

  // b <- matrix^-1 b. Complexity 2 D^2.
  void solve(double* b) const noexcept;
  // b <- (S L)^-T b: turns a standard normal vector into a draw with covariance matrix^-1.
  void solve_root(double* b) const noexcept;
  // b <- (S L)^T b, which undoes solve_root().
  void colour(double* b) const noexcept;
  // These two take many vectors at once: D rows of `columns` numbers, a vector a column. Complexity
  // D^2 a column; the factor is read once for all of them.
  void solve_root(double* rows, std::size_t columns, Interlude* interlude = nullptr) const noexcept;
  void colour(double* rows, std::size_t columns, Interlude* interlude = nullptr) const noexcept;
  // b <- (S L)^-1 b: |b|^2 is then b^T matrix^-1 b.
  void whiten(double* b) const noexcept;
  // The same for many vectors at once, laid out as in solve_root().
  void whiten(double* rows, std::size_t columns) const noexcept;
  // inverse <- scale x matrix^-1, both triangles. Complexity 2/3 D^3.
  void inverse(double scale, double* inverse, Interlude* interlude = nullptr) const noexcept;
  // root <- scale x S L (lower triangular, zeros above): root root^T = scale^2 matrix.
  void root(double scale, double* root, Interlude* interlude = nullptr) const noexcept;
  // inverse <- (S L)^-1 (lower triangular, zeros above). Complexity D^3 / 3.
  void inverse_root(double* inverse, Interlude* interlude = nullptr) const noexcept;
  // rows <- R = (S L)^-1, stored by rows, with zeros above the diagonal: |R x|^2 = x^T matrix^-1 x,
  // and R^T R is the inverse. Complexity D^3 / 3.
  void inverse_root_rows(double* rows, Interlude* interlude = nullptr) const noexcept;
  void copy_from(const Factor& other, Interlude* interlude = nullptr) noexcept;
  Eigen::Index dimension() const noexcept { return dimension_; }

  void visit_state(StateVisitor& visitor) noexcept {
    const auto d = static_cast<std::size_t>(dimension_);
    visitor.visit(lower_, d * d);
    visitor.visit(scale_, d);
  }

 private:
  Eigen::Index dimension_;
  double* lower_;
  double* scale_;  // S
};

// Sigma of theta <- theta - H (A (theta - mode) + noise), noise of covariance `noise`: the solution
// of Sigma = (I - HA) Sigma (I - HA)^T + H noise H^T, by doubling. All are D x D, A and noise with
// both triangles filled; H need not be symmetric. `work` holds 4 D^2 doubles. Complexity about 60
// D^3. kDiverged when the iteration is not stable.
Status stationary_covariance(const double* preconditioner, const double* curvature,
                             const double* noise, Eigen::Index dimension, double* sigma,
                             double* work) noexcept;

// Fills the upper triangle from the lower.
void symmetrize(double* matrix, Eigen::Index dimension, Interlude* interlude = nullptr) noexcept;

// The largest eigenvalue of a symmetric positive semi-definite matrix (both triangles filled), by
// power iteration. Never too large, and at most 3 % too small, unless the start is nearly
// orthogonal to its vector. `work` holds 2 D doubles. Complexity about 100 D^2, at most 1000 D^2.
double largest_eigenvalue(const double* matrix, Eigen::Index dimension, double* work) noexcept;
// The same for diag(scale) matrix, scale positive, and for metric^-1 matrix, through the symmetric
// S^1/2 matrix S^1/2.
double largest_scaled_eigenvalue(const double* scale, const double* matrix, Eigen::Index dimension,
                                 double* work) noexcept;
double largest_ratio(const double* matrix, const Factor& metric, double* work) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LINEAR_ALGEBRA_H_
