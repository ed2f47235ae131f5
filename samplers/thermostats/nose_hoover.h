// Stochastic gradient Nose-Hoover thermostats: one thermostat for all parameters (SGNHT: Ding et
// al. 2014) or one a parameter (mSGNHT: Chen, Carlson, Gan, Li and Carin 2016, section 2).
//
//   alpha_j <- alpha_j + n v_j^2 / s_j^2 - h T      (SGNHT: the mean of it over j)
//   v_j     <- (1 - alpha_j) v_j - h s_j^2 gradient_j + N(0, 2 a h T s_j^2 / n)
//   theta   <- theta + v,                            s_j^2 = 1 / A_jj
//
// These are the published equations in the parameters sqrt(n) theta_j / s_j, in which the posterior
// has about unit variances, with eta^2 = h. The thermostat holds n v^2 / s^2 at h T. So it finds
// the friction that the minibatch's noise needs without knowing C: alpha is a + (n / S) h s^2 C /
// (2 T) on average. On a quadratic loss a constant alpha multiplies the variances by (1 - alpha /
// 2), a bias of first order in alpha.
#ifndef WINDHOVER_SAMPLERS_THERMOSTATS_NOSE_HOOVER_H_
#define WINDHOVER_SAMPLERS_THERMOSTATS_NOSE_HOOVER_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// What the two samplers share: everything but the thermostat. State: v, then alpha. O(D) a step.
class NoseHoover {
 public:
  static Result<bool> check(const SamplerConfig& config) noexcept;
  NoseHoover(Arena& arena, const SamplerConfig& config, std::uint32_t dimension,
             bool one_for_all) noexcept;
  void start(Chain& chain, Rng& rng) const noexcept;
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, n_, relaxation_);
    visitor.visit(variance_, dimension_);
    visitor.visit(expected_, dimension_);
  }

 private:
  void heat(const double* v, double* alpha) const noexcept;

  std::uint32_t dimension_;
  bool one_for_all_;
  double given_step_;
  double friction_;  // a
  Temperature temperature_;
  double step_size_ = 0;
  double n_ = 1;
  double relaxation_ = 1;
  double* variance_;  // s^2
  double* expected_;  // alpha
  double* work_;      // scratch of refresh(), 4 D
};

class ScalarNoseHoover : public NoseHoover {
 public:
  static constexpr std::string_view kName = "sgnht";
  static constexpr bool kTempered = true;
  ScalarNoseHoover(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : NoseHoover(arena, config, dimension, true) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return std::size_t{dimension} + 1;
  }
};

class DiagonalNoseHoover : public NoseHoover {
 public:
  static constexpr std::string_view kName = "msgnht";
  static constexpr bool kTempered = true;
  DiagonalNoseHoover(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : NoseHoover(arena, config, dimension, false) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return 2 * std::size_t{dimension};
  }
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_THERMOSTATS_NOSE_HOOVER_H_
