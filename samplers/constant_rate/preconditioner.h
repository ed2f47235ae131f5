// H of theta <- theta - H (gradient + injected noise): a scalar, a diagonal or a full matrix, with
// the noise that goes with it.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_PRECONDITIONER_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_PRECONDITIONER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// The largest eigenvalue of HA for symmetric positive definite H and A, by power iteration: never
// too large, seldom too small by more than a few per cent. apply(b, d): b <- H b. `vector` and
// `image` hold D doubles of scratch. Complexity 200 (D^2 + apply).
template <class Apply>
double largest_rate(const double* curvature, Eigen::Index d, double* vector, double* image,
                    Apply&& apply) noexcept {
  const ConstMatrixMap a(curvature, d, d);
  VectorMap v(vector, d);
  VectorMap w(image, d);
  for (Eigen::Index j = 0; j < d; ++j) v(j) = 1.0 + 0.1 * static_cast<double>((7 * j + 3) % 11);
  double eigenvalue = 0;
  constexpr int kIterations = 200;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    w.noalias() = a * v;
    apply(image, d);
    eigenvalue = w.norm() / v.norm();
    v = w / w.norm();
  }
  return eigenvalue;
}

// A largest eigenvalue of HA above this is scaled to 1: stability ends at 2, and power iteration
// stays below.
inline constexpr double kLargestRate = 1.9;

// H = diag(step) and noise of covariance diag(deviation^2) added to the gradient. O(D) a step.
class DiagonalPreconditioner {
 public:
  DiagonalPreconditioner(Arena& arena, std::uint32_t dimension) noexcept;

  double* step_size() noexcept { return step_size_; }
  double* noise_deviation() noexcept { return noise_deviation_; }
  // Call after writing the two. Scales the step down where an eigenvalue of HA is near 2, because
  // little gradient noise asks for long steps, and correlated directions add theirs up. Scales the
  // injected noise up alike, because its covariance belongs to H^-1. Complexity that of
  // slowest_rate().
  void finish(const double* curvature) noexcept;
  // Moves in which the slowest direction forgets.
  double relaxation() const noexcept { return relaxation_; }

  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* preconditioner, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(noisy_, relaxation_);
    visitor.visit(step_size_, dimension_);
    visitor.visit(noise_deviation_, dimension_);
  }

 private:
  void stabilize(const double* curvature) noexcept;

  std::uint32_t dimension_;
  bool noisy_ = false;
  double relaxation_ = 1;
  double* step_size_;
  double* noise_deviation_;
  double* work_;  // 4 D
};

// H full and symmetric, noise of any covariance. O(D^2) a step. A refresh is O(D^3); meanwhile
// chains may move by the old H and noise, because each is replaced as a whole.
class FullPreconditioner {
 public:
  FullPreconditioner(Arena& arena, std::uint32_t dimension) noexcept;

  // H = scale x matrix^-1, from the lower triangle. Keeps the old H when the matrix is not positive
  // definite.
  Status set_inverse(const double* matrix, double scale, Interlude* interlude = nullptr) noexcept;
  // Noise of covariance scale^2 x matrix; 0: none. Keeps the old noise when that fails.
  Status set_noise(const double* matrix, double scale, Interlude* interlude = nullptr) noexcept;
  // Sets both at once where they belong together: H = scale x matrix^-1 and noise of covariance
  // noise_scale^2 x matrix. A step then takes one triangular matrix R = L^-1, matrix = L L^T,
  // twice: H (g + noise_scale L z) = scale R^T (R g + noise_scale z). Keeps the old ones when that
  // fails.
  Status set_inverse_and_noise(const double* matrix, double scale, double noise_scale,
                               Interlude* interlude = nullptr) noexcept;
  bool is_positive_definite(const double* matrix, Interlude* interlude = nullptr) noexcept {
    return ok(factor_.compute(matrix, interlude));
  }

  // The largest eigenvalue of A^-1 matrix, where A is what set_inverse, set_noise or
  // is_positive_definite last took with success. O(D^2) an iteration.
  double largest_ratio(const double* matrix) noexcept;

  // target <- target - H (gradient at the chain + noise)
  void displace(const Chain& chain, GradientSource& gradient, Rng& rng,
                double* target) const noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* preconditioner, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;
  // In how many moves the slowest direction forgets. Complexity that of slowest_rate().
  double relaxation(const double* curvature, Interlude* interlude = nullptr) noexcept;

  // D x D scratch, free between calls. Each call that sets something moves it elsewhere.
  double* scratch() noexcept { return scratch_; }
  double* work() noexcept { return work_; }  // 6 D, likewise
  // Leaves out the factor, which is used only within a refresh.
  void visit_state(StateVisitor& visitor) noexcept {
    const std::size_t numbers = std::size_t{dimension_} * dimension_;
    visitor.values(noisy_, rooted_, scale_, noise_scale_);
    visitor.visit(preconditioner_, numbers);
    if (noisy_) visitor.visit(noise_root_, numbers);
  }

 private:
  std::uint32_t dimension_;
  bool noisy_ = false;
  bool rooted_ = false;     // set by set_inverse_and_noise()
  double scale_ = 0;        // of H, then (when rooted_)
  double noise_scale_ = 0;  // likewise: multiplies a standard normal beside R g
  double* preconditioner_;  // H, or R when rooted_
  double* noise_root_;
  double* scratch_;
  double* work_;  // 6 D
  Factor factor_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_PRECONDITIONER_H_
