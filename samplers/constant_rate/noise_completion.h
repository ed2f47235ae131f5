// SGD at any stable scalar or diagonal rate, with the posterior as its stationary law: the noise
// that the minibatches lack is injected.
//
//   H is given, and noise of covariance E = (2/n) H^-1 - A/n - C/S is added to the gradient.
//
// theta <- theta - H (gradient + noise) keeps the covariance A^-1 / n if and only if H E H = 2 H/n
// - H (A/n + C/S) H. This is positive semi-definite if and only if H <= 2 [A + (n/S) C]^-1: the
// minibatches alone must not make too much noise. The rates then decide how fast a chain moves, and
// no longer how wide it spreads.
//
// step_size scales the rates; 0 takes nine tenths of the largest that passes. A larger one is
// refused at refresh(), never cut.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_NOISE_COMPLETION_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_NOISE_COMPLETION_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// What the scalar and the diagonal sampler share. H = step_size x diag(shape).
class NoiseCompletion {
 public:
  static Result<bool> check(const SamplerConfig& config) noexcept;
  NoiseCompletion(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* h, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.value(relaxation_);
    visitor.visit(step_size_, dimension_);
    visitor.visit(noise_root_, std::size_t{dimension_} * dimension_);
  }

 protected:
  ~NoiseCompletion() = default;
  double* shape() noexcept { return shape_; }
  // Computes H and the noise from shape(). Complexity O(D^3).
  Status complete(const Estimates& estimates) noexcept;

 private:
  std::uint32_t dimension_;
  double given_step_size_;
  double* shape_;
  double* step_size_;   // diagonal of H
  double* scratch_;     // D x D
  double* noise_root_;  // of E
  double* work_;        // 4 D
  double relaxation_ = 1;
  Factor factor_;
};

// H = step_size I.
class ScalarNoiseCompletion : public NoiseCompletion {
 public:
  static constexpr std::string_view kName = "sgd-completed";
  using NoiseCompletion::NoiseCompletion;
  Status refresh(const Estimates& estimates) noexcept;
};

// H_jj = step_size x 2 / (A_jj + (n/S) C_jj), the exact rate of each parameter if it were alone.
class DiagonalNoiseCompletion : public NoiseCompletion {
 public:
  static constexpr std::string_view kName = "sgd-d-completed";
  using NoiseCompletion::NoiseCompletion;
  Status refresh(const Estimates& estimates) noexcept;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_NOISE_COMPLETION_H_
