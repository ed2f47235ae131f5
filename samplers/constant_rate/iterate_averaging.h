// The iterate averaging stochastic gradient sampler (IASG): Mandt, Hoffman and Blei 2017,
// Algorithm 1. An iterate moves by plain SGD at a constant rate; a draw is the mean of a window of
// T = n / S successive iterates, and stands until the next window is complete.
//
// Where A = C and T >> 1 / (rate x eigenvalue of A), the means of windows have the covariance A^-1
// / n plus (S / (rate n^2)) U Lambda^-2 (exp(-rate n Lambda / S) - I) U^T, with A = U Lambda U^T
// (eq. 34): weakly determined directions come out too narrow. Where the model does not hold, the
// law is the sandwich A^-1 C A^-1 / n, not the posterior.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_ITERATE_AVERAGING_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_ITERATE_AVERAGING_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// State: the iterate, the sum of the window so far, and its length: 2 D + 1 whatever the window.
class IterateAveraging {
 public:
  static constexpr std::string_view kName = "iasg";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  IterateAveraging(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_rate_(config.step_size),
        work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return 2 * std::size_t{dimension} + 1;
  }
  void start(Chain& chain, Rng& rng) const noexcept;  // a new window, from theta
  // Takes step_size as the rate, or one over the largest eigenvalue of A when it is 0. A rate that
  // is unstable with A is refused.
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;

  double rate() const noexcept { return rate_; }
  double window() const noexcept { return window_; }  // T
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(rate_, window_, relaxation_); }

 private:
  std::uint32_t dimension_;
  double given_rate_;
  double rate_ = 0;
  double window_ = 1;
  double relaxation_ = 1;
  double* work_;  // scratch of refresh(), 4 D
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_ITERATE_AVERAGING_H_
