// The precisions of a Gaussian prior of mean 0: given, or learned group by group from the posterior
// they lead to (runtime/learning/hyper-parameters.md).
#ifndef WINDHOVER_RUNTIME_LEARNING_PRIOR_PRECISION_H_
#define WINDHOVER_RUNTIME_LEARNING_PRIOR_PRECISION_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"

namespace windhover {

// Variational EM (Mandt, Hoffman and Blei 2017, section 4.4) is at rest where the precision of a
// group of D_g coefficients is lambda = D_g / E[|theta_g|^2], the expectation over the posterior
// N(m, P) under that lambda. That holds exactly where
//   lambda = gamma / |m_g|^2,  gamma = D_g - lambda Tr P_gg
// (MacKay 1992). Steps of the latter are taken: they do not shrink where the prior outweighs the
// rows. Where they go on and on, by a factor less each, all that are left are taken at once.
//
// Invariant: values() has for each parameter the precision of its group, or the intercept's own.
//
// One thread. Memory 2.5 D doubles and 12 for each group. Groups share nothing with the intercept,
// which keeps its given precision. An empty group, and one that no row says anything about, stay
// where they are.
class PriorPrecision {
 public:
  static constexpr std::uint32_t kNoGroup = UINT32_MAX;  // of an intercept

  PriorPrecision(Arena& arena, const ModelConfig& model) noexcept;
  void reset(const ModelConfig& model) noexcept;
  // Goes back to where reset() put it.
  void start_over() noexcept;

  bool learned() const noexcept { return learned_; }
  const double* values() const noexcept { return values_; }  // Lambda: one number a parameter
  // The group of each parameter, features first and in their order; and the precision of each
  // group.
  std::span<const std::uint32_t> groups() const noexcept { return group_; }
  std::span<const double> of_groups() const noexcept { return precision_; }

  // Sets the mark that update() measures from, and undo() returns to.
  void mark() noexcept;
  void undo() noexcept;
  // Makes a step of every group towards the fixed point, from the posterior's means and
  // variances, to within a factor of exp(longest) of the mark. A mean that lies x sd from its mode
  // counts as x / sqrt(1 + x^2) sd off: the correction of the mean, which is of first order, goes
  // too far where a posterior leans much to one side. Returns the largest |step| of log lambda.
  // Complexity O(D).
  double update(const double* mode, const double* mean, const double* variance,
                double longest) noexcept;
  // The largest |log lambda - log lambda at the mark|.
  double moved() const noexcept;

  // Works out way_left() of the posterior that the present precisions lead to; P is D x D. O(D^2).
  void look_ahead(const double* mode, const double* mean, const double* covariance) noexcept;
  // How far the posterior still goes with the precisions, about, in its own sd: the larger of the
  // way of its mode, and of the largest relative change of a coefficient's sd.
  double way_left() const noexcept { return way_left_; }
  bool converged() const noexcept { return way_left_ < kNear; }
  // Rows are summed with the posterior of the present precisions from here on; these sums are the
  // ones in use from here on.
  void begin_sums() noexcept;
  void end_sums() noexcept;
  // Whether the precisions have changed a coefficient's sd since the sums in use began.
  bool sums_are_of_others() const noexcept { return way_from_sums_ > 2 * kNear; }

  // Shows what is learned; values() follow from it.
  void visit_state(StateVisitor& visitor) noexcept {
    for (const auto of_groups : {precision_, marked_, summing_, summed_, leap_}) {
      visitor.visit(of_groups);
    }
    visitor.values(way_left_, way_from_sums_);
    if (visitor.restores()) spread();
  }

  static constexpr double kNear = 0.01;  // posterior sd

 private:
  struct Sums {
    double count;       // D_g
    double determined;  // gamma
    double squares;     // |m_g|^2
    double turn;        // d log(gamma / |m_g|^2) / d log lambda
    double way;         // in log lambda
  };
  void spread() noexcept;  // of_groups() into values()
  void sum(const double* mode, const double* mean, const double* variance,
           std::size_t stride) noexcept;
  // Where the fixed-point iteration goes next, within the bounds.
  double next(std::size_t group) const noexcept;
  void find_turns(const double* covariance) noexcept;
  double change_of_sd(const double* covariance) const noexcept;
  double way_of_mode(const double* covariance) noexcept;

  bool learned_ = false;
  double start_ = 1;
  double least_ = 0;
  double most_ = 0;
  double* values_;
  std::span<std::uint32_t> group_;
  std::span<double> precision_;
  std::span<double> marked_;
  std::span<double> summing_;  // what they were where the pass under way began
  std::span<double> summed_;   // where the last one did
  std::span<double> leap_;     // steps of the iteration that are taken at once
  std::span<Sums> sums_;
  double* centre_;  // dimension: m
  double way_left_ = 0;
  double way_from_sums_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_PRIOR_PRECISION_H_
