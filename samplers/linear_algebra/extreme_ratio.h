// The direction in which the ratio of two quadratic forms is largest, or smallest: the extreme
// eigenvalue of a pair of matrices that are known by their products with a vector.
//
// Locally optimal conjugate gradients for one vector (Knyazev 2001). A step takes the best vector
// in the span of the direction, the gradient of the ratio there and the last change. No equation is
// solved, and a start near the answer saves steps. The ratio is always that of a real direction, so
// it reaches the largest one from below and the smallest one from above.
#ifndef WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_EXTREME_RATIO_H_
#define WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_EXTREME_RATIO_H_

#include <array>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// A direction w and three images of it, D numbers each, such that
//   f(x, y) = x.dual . y.numerator  and  g(x, y) = x.dual . y.denominator
// are the two forms, and dual is linear in w. With dual = w they are those of two matrices. With
// dual = B w, B positive definite, they are those of two operators that are symmetric in the inner
// product of B, and steps are taken in that geometry.
struct RatioVector {
  double* w = nullptr;
  double* dual = nullptr;
  double* numerator = nullptr;
  double* denominator = nullptr;

  RatioVector() = default;
  RatioVector(Arena& arena, std::uint32_t dimension) noexcept;
  double ratio(std::uint32_t dimension) const noexcept;
  void visit_state(StateVisitor& visitor, std::uint32_t dimension) noexcept;
};

// One thread. Memory 12 D.
class ExtremeRatio {
 public:
  ExtremeRatio(Arena& arena, std::uint32_t dimension, bool largest) noexcept;
  // Begins from w_j = scale_j x a number of a fixed sequence, so that units do not matter.
  void reset(const double* scale) noexcept;
  // Call it after the forms have changed. The search goes on from where it is.
  void forms_changed() noexcept { stale_ = true; }

  // Makes one step. apply(v) fills in the images of v.w. It is called once, or twice after
  // forms_changed().
  template <class Apply>
  void step(Apply&& apply) noexcept {
    if (stale_) {
      apply(best_);
      forms_known();
    }
    if (!begin_step()) return;
    apply(gradient_);
    end_step();
  }

  double ratio() const noexcept { return ratio_; }
  const double* direction() const noexcept { return best_.w; }
  // Whether two looks in a row, kLook steps apart, found the ratio unchanged within a per cent.
  // From a random start, k steps leave the largest eigenvalue short by a tenth of (ln(D) / k)^2 on
  // average (Kuczynski and Wozniakowski 1992, for Lanczos's method): a third of a per cent at D =
  // 1000. After forms_changed() it holds again once the next step has the ratio within a per cent.
  bool converged() const noexcept { return quiet_looks_ >= 2 && !stale_; }
  // Whether there is a direction in which g is not positive.
  bool indefinite() const noexcept { return indefinite_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr int kLook = 12;

  bool near_what_was_looked_at() const noexcept;
  void forms_known() noexcept;
  bool begin_step() noexcept;
  void end_step() noexcept;
  void replace(const std::array<double, 3>& coefficients) noexcept;

  std::uint32_t dimension_;
  bool largest_;
  bool stale_ = true;
  bool has_change_ = false;
  bool indefinite_ = false;
  int steps_ = 0;
  int quiet_looks_ = 0;
  double ratio_ = 0;
  double looked_at_ = 0;
  RatioVector best_;
  RatioVector gradient_;
  RatioVector change_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LINEAR_ALGEBRA_EXTREME_RATIO_H_
