// The smallest eigenvalue of HA: how slowly theta <- theta - H A (theta - mode) + noise forgets.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LANCZOS_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LANCZOS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// The tridiagonal matrix of Lanczos's method for an operator that is symmetric and positive
// semi-definite in some inner product. One thread.
class LanczosMatrix {
 public:
  static constexpr std::size_t kMostSteps = 512;

  // Whether more steps are worthwhile: until two looks in a row, eight steps apart, find the
  // smallest eigenvalue lower by less than a per mille. Two, because it falls in stairs. Rounding
  // makes more steps than dimensions useful.
  bool goes_on(std::ptrdiff_t dimension) noexcept {
    constexpr std::size_t kLook = 8;
    const std::size_t most = 6 * static_cast<std::size_t>(dimension) + kLook;
    if (steps_ >= std::min(most, kMostSteps)) return false;
    if (steps_ == 0 || steps_ % kLook != 0) return true;
    const double before = smallest_;
    smallest_ = smallest_eigenvalue(1e-4);
    const bool lower = smallest_ < 0.999 * before;
    const bool stays = !lower && stayed_;
    stayed_ = !lower;
    return !stays;
  }
  // The coupling of the last step; 0 at first.
  double last_coupling() const noexcept { return steps_ == 0 ? 0.0 : coupling_[steps_ - 1]; }
  void add(double diagonal, double coupling) noexcept {
    diagonal_[steps_] = diagonal;
    coupling_[steps_] = coupling;
    ++steps_;
  }

  // The smallest eigenvalue, to a relative `precision` and never too small, by bisection with the
  // count of negative pivots (Golub and Van Loan, section 8.4).
  double smallest_eigenvalue(double precision) const noexcept {
    if (steps_ == 0) return 0;
    double low = 0;
    double high = *std::min_element(diagonal_.begin(), diagonal_.begin() + steps_);
    while (high - low > precision * high) {
      const double middle = low > 0 ? std::sqrt(low * high) : 1e-3 * high;
      if (!(middle > 1e-300)) break;
      (any_below(middle) ? high : low) = middle;
    }
    return high;
  }

 private:
  bool any_below(double bound) const noexcept {
    double pivot = 1;
    for (std::size_t k = 0; k < steps_; ++k) {
      const double coupled = k == 0 ? 0.0 : coupling_[k - 1] * coupling_[k - 1] / pivot;
      pivot = diagonal_[k] - bound - coupled;
      if (pivot < 0) return true;
      pivot = std::max(pivot, 1e-300);
    }
    return false;
  }

  std::size_t steps_ = 0;
  double smallest_ = INFINITY;
  bool stayed_ = false;
  std::array<double, kMostSteps> diagonal_;
  std::array<double, kMostSteps> coupling_;
};

// The smallest eigenvalue of HA, which belongs to the direction that takes longest to forget, by
// Lanczos's method in the inner product of A, in which HA is symmetric. Never too small, and too
// large by some per cent at most where the condition number is below 3e4. apply(b, d): b <- H b.
// `work` holds 4 D doubles. Complexity (D^2 + apply) times the root of the condition number, or 512
// times.
template <class Apply>
double slowest_rate(const double* curvature, Eigen::Index d, double* work, Interlude* interlude,
                    Apply&& apply) noexcept {
  const ConstMatrixMap a(curvature, d, d);
  VectorMap v(work, d);
  VectorMap before(work + d, d);
  VectorMap image(work + 2 * d, d);
  VectorMap av(work + 3 * d, d);
  LanczosMatrix tridiagonal;
  for (Eigen::Index j = 0; j < d; ++j) v(j) = 1.0 + 0.1 * static_cast<double>((7 * j + 3) % 11);
  before.setZero();
  av.noalias() = a * v;
  const double swept = kSweptNumber * static_cast<double>(d * d);
  advance(interlude, swept);
  double size = std::sqrt(v.dot(av));
  while (size > 0 && tridiagonal.goes_on(d)) {
    v /= size;
    av /= size;
    image = av;
    apply(image.data(), d);
    const double along = image.dot(av);
    image -= along * v + tridiagonal.last_coupling() * before;
    before = v;
    v = image;
    av.noalias() = a * v;
    size = std::sqrt(std::max(0.0, v.dot(av)));
    tridiagonal.add(along, size);
    advance(interlude, 2.0 * swept);
  }
  // Steps beyond the dimension are made of rounding, and bisection starts from the least number
  // they left. So it is run to the end, or the same matrix in other units would give another
  // result.
  return tridiagonal.smallest_eigenvalue(1e-12);
}

// The same for diag(rates) A, and for A itself. The latter is positive only where A is positive
// definite.
inline double slowest_scaled_rate(const double* rates, const double* curvature, Eigen::Index d,
                                  double* work) noexcept {
  return slowest_rate(curvature, d, work, nullptr, [rates](double* b, Eigen::Index size) {
    for (Eigen::Index j = 0; j < size; ++j) b[j] *= rates[j];
  });
}
inline double least_curvature(const double* curvature, Eigen::Index d, double* work) noexcept {
  return slowest_rate(curvature, d, work, nullptr, [](double*, Eigen::Index) {});
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_LANCZOS_H_
