// The Gaussian at the mode: what a refresh makes of the sums over rows.
#ifndef WINDHOVER_RUNTIME_LEARNING_LAPLACE_APPROXIMATION_H_
#define WINDHOVER_RUNTIME_LEARNING_LAPLACE_APPROXIMATION_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/linear_algebra/inverse_factor.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// How the loss of a model curves: what a Newton step may be trusted with.
struct LossShape {
  explicit LossShape(const ModelConfig& model) noexcept;

  // The longest step, squared and in posterior sd, that stays where the loss of rows that count as
  // `n` looks quadratic.
  double trusted_step(double n) const noexcept;

  // Whether a Gaussian at the mode says how wide the posterior is.
  bool is_summary() const noexcept { return !network; }

  bool network;  // several modes
  bool quadratic;
  // A step never raises a quadratic loss, nor that of Student's t (samplers/models/likelihoods.h).
  bool steps_are_safe;
};

// All numbers are those of the posterior itself, at temperature 1, but the mean, which is that of
// the distribution drawn from.
//
// For a network (Model::log_concave() false) A is Gauss-Newton's at one mode, plus on the diagonal
// a tenth of the mean eigenvalue of its data part, as Levenberg and Marquardt would: a guide for
// steps, no summary.
//
// A refresh: begin(), then compute_curvature() and what follows from it, in that order, and
// restore() if one fails. Invariant: outside a refresh n, A and P are of the last one that
// succeeded, and so are mode and mean unless they were set since. One thread. Memory about 4.5 D^2
// doubles.
class LaplaceApproximation {
 public:
  // What it is computed from: sums over rows, the dispersion, the precisions of the prior.
  struct Input {
    const AnchorSums& rows;
    double dispersion;
    const double* prior;
    Interlude* interlude;  // may be null
  };
  // The Gaussian as of one refresh: where it lies, and how wide it is.
  struct Gaussian {
    Gaussian(Arena& arena, std::uint32_t dimension) noexcept;
    void copy_from(const Gaussian& other, Interlude* interlude) noexcept;

    std::uint32_t dimension;
    double n = 0;
    double mean_weight = 1;  // of the rows
    double newton_decrement = 0;
    double third_share = 1;
    double* mode;
    double* mean;
    Factor factor;  // of A
  };

  LaplaceApproximation(Arena& arena, const ModelConfig& model) noexcept;
  void set_mode(const double* mode) noexcept;  // and the mean
  void clear_mode() noexcept;                  // both are 0

  double n() const noexcept { return now_.n; }
  // What the n rows count as: n where they have no weight.
  double weight() const noexcept { return now_.n * now_.mean_weight; }
  const double* mode() const noexcept { return now_.mode; }
  const double* mean() const noexcept { return now_.mean; }
  const double* curvature() const noexcept { return curvature_; }    // A
  const double* covariance() const noexcept { return covariance_; }  // P
  const Factor& factor() const noexcept { return now_.factor; }      // of A
  const InverseFactor& inverse_factor() const noexcept { return inverse_factor_; }
  // The gradient of L at the anchor of the rows, prior included.
  const double* anchor_gradient() const noexcept { return anchor_gradient_; }
  // The Gaussian that the newest refresh replaced, or tried to.
  const Gaussian& before() const noexcept { return before_; }

  const LossShape& loss() const noexcept { return loss_; }

  // Anchor minus mode of the whole Newton step that was worked out last.
  const double* newton_step() const noexcept { return step_; }
  // Its squared length, in posterior sd.
  double newton_decrement() const noexcept { return now_.newton_decrement; }
  bool step_is_trusted() const noexcept {
    return newton_decrement() <= loss_.trusted_step(weight());
  }
  // Whether that step changes the linear predictors by a tenth of their noise or more, root mean
  // square.
  bool anchor_is_far() const noexcept { return newton_decrement() >= 0.01 * weight(); }

  // The factor, 1 at most, that the mean's distance from the mode was taken down by because rows
  // had been summed with another P.
  double third_share() const noexcept { return now_.third_share; }

  // The squared distance that the mode moved in the newest refresh, in posterior sd of before.
  // REQUIRES: no refresh is under way. O(D^2).
  double way_from_before() noexcept;

  // The distance of the mean from the mode, in posterior sd. O(D^2).
  double mean_from_mode() const noexcept;

  // Begins a refresh for `n` rows of that mean weight.
  void begin(double n, double mean_weight, Interlude* interlude) noexcept;
  // Works out A and the Newton step from the anchor. O(D^3).
  Status compute_curvature(const Input& input) noexcept;
  // P_jj, valid until the next call or way_from_before(). covariance() is scratch from then on,
  // until compute_covariance(). O(D^3 / 3).
  const double* compute_variances(Interlude* interlude) noexcept;
  void compute_covariance(Interlude* interlude) noexcept;  // O(D^3)
  // Works out mode and mean, the latter at a temperature and with the variances P_jj, each `stride`
  // numbers after the one before. A Newton step longer than `longest` (squared, in posterior sd) is
  // shortened. O(D^2).
  void compute_centre(const Input& input, double longest, double temperature,
                      const double* variances, std::size_t stride) noexcept;
  // Goes back to where begin() was called: A to rounding, all else bit for bit, but for
  // newton_step() and anchor_gradient(), which stay those of the refresh that failed. O(D^3).
  void restore() noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::uint32_t dimension_;
  bool weighted_;
  LossShape loss_;
  Gaussian now_;
  Gaussian before_;
  double* step_;
  double* anchor_gradient_;
  double* curvature_;
  double* covariance_;
  double* variances_;
  InverseFactor inverse_factor_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LAPLACE_APPROXIMATION_H_
