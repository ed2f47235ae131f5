// The dispersion of the likelihood: the noise variance of y given x, or the square of Student's
// scale; or the shape of a likelihood of counts, an overdispersion or the odds of a structural
// zero. Given, or learned from the rows; a shape is learned always.
#ifndef WINDHOVER_RUNTIME_LEARNING_DISPERSION_H_
#define WINDHOVER_RUNTIME_LEARNING_DISPERSION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/linear_algebra/interlude.h"

namespace windhover {

// What a shape and theta have in common, by the mixed derivatives c of minus the log likelihood:
// `slope` is c times the way from the anchor to the mode, `information` is c^T P c.
struct ShapeCoupling {
  double slope = 0;
  double information = 0;
};

// Invariant: value() is positive; 1 for models that have none. A dispersion is in units of y^2 as
// the model sees y, a shape has none. One thread.
class Dispersion {
 public:
  explicit Dispersion(const ModelConfig& model) noexcept;
  void reset(const ModelConfig& model) noexcept;
  // The unit in which y is seen from here on. A given variance is converted from units of the rows'
  // y^2; a learned value starts again at 1.
  void set_target_scale(double scale) noexcept;
  void start_over() noexcept {
    value_ = initial_;
    forget_steps();
  }
  // Bounds a learned dispersion from below: below 1e-12 of the targets' variance the prior would be
  // lost beside the data where features depend on each other.
  void set_target_variance(double variance) noexcept { least_ = kRounding * variance; }
  double target_variance() const noexcept { return least_ / kRounding; }

  double value() const noexcept { return value_; }
  // What -log p of unit dispersion is divided by.
  double divisor() const noexcept { return kind_ == Kind::kDivides ? value_ : 1.0; }
  bool is_shape() const noexcept { return kind_ == Kind::kOverdispersion || kind_ == Kind::kOdds; }
  bool learned() const noexcept { return learned_; }
  // The least that a learned dispersion, not a shape, can be: the rounding of the targets.
  double least() const noexcept { return std::max(least_, 1e-300); }
  // |log ratio| of the value to that of the refresh before, had its step been taken in full, or
  // what is left of that step; 0 when it is given.
  double step() const noexcept { return step_; }
  // log ratio of the value to what it was where the sums of `rows` began.
  double change(const AnchorSums& rows) const noexcept {
    return std::log(value_ / rows.dispersion());
  }
  // sd(log value) in the posterior of rows that count as n; 0 when the value is given, and for a
  // shape before the first rows.
  double relative_sd(double n) const noexcept {
    return learned_ && information_ > 0 ? 1.0 / std::sqrt(information_ * n) : 0.0;
  }

  // Makes one step towards the value that the rows call for. A dispersion is set to the expected
  // squared residual over the posterior that the present value leads to: a fixed-point iteration. A
  // shape makes Newton's step from the value that the sums began with, so that a second call with
  // the same sums changes nothing. `scale`: the factor of the sums, AnchorSums::scale_to();
  // `newton_step`: anchor minus mode; `prior`, `variances`: Lambda and P_jj; `coupling`: of the
  // odds of a structural zero and theta. Returns the relative change. O(D^2).
  double update(const AnchorSums& rows, double scale, const double* newton_step,
                const double* prior, const double* variances, const ShapeCoupling& coupling,
                double target_variance, Interlude* interlude) noexcept;
  void set(double value) noexcept { value_ = value; }
  // Whether odds take a part of a step where steps go back and forth. Sums that are made anew with
  // each pass can call for that; those that rows join for good cannot.
  void set_shortens(bool shortens) noexcept { shortens_ = shortens; }
  // Ends a refresh that began at the value `previous`.
  void end_refresh(double previous) noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(initial_, value_, least_, step_);
    if (is_shape()) visitor.value(information_);
    if (kind_ == Kind::kOdds) visitor.values(change_, share_, anchor_, adapted_at_);
  }

 private:
  static constexpr double kRounding = 1e-12;

  enum class Kind : std::uint8_t { kNone, kDivides, kOverdispersion, kOdds };

  static Kind kind_of(const ModelConfig& model) noexcept;
  double update_dispersion(const AnchorSums& rows, double scale, const double* newton_step,
                           const double* prior, const double* variances, double target_variance,
                           Interlude* interlude) const noexcept;
  double update_shape(const AnchorSums& rows, double scale, const ShapeCoupling& coupling) noexcept;
  void forget_steps() noexcept {
    change_ = anchor_ = adapted_at_ = left_ = 0;
    share_ = 1;
  }

  Kind kind_;
  bool learned_ = false;
  bool shortens_ = false;
  double given_ = 0;
  double information_ = 0.5;  // of one row about the logarithm
  double initial_ = 1;
  double value_ = 1;
  double least_ = 0;
  double step_ = 0;
  // Of odds: the change of their logarithm in the newest refresh with sums that began elsewhere,
  // and the share of their step that is taken.
  double change_ = 0;
  double share_ = 1;
  double anchor_ = 0;      // where the sums of the newest refresh began
  double adapted_at_ = 0;  // the anchor that the two are of
  double left_ = 0;        // of the newest step, what is not taken
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_DISPERSION_H_
