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
// rows.
//
// Invariant: values() has for each parameter the precision of its group, or the intercept's own.
//
// One thread. Memory 1.5 D doubles and 5 for each group. Groups share nothing with the intercept,
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
  // Makes one step of every group towards the fixed point, from the posterior's means and
  // variances, to within a factor of exp(longest) of the mark. A mean that lies x sd from its mode
  // counts as x / sqrt(1 + x^2) sd off: the correction of the mean, which is of first order, goes
  // too far where a posterior leans much to one side. Returns the largest |step| of log lambda.
  // Complexity O(D).
  double update(const double* mode, const double* mean, const double* variance,
                double longest) noexcept;
  // The largest |log lambda - log lambda at the mark|.
  double moved() const noexcept;
  // Whether that is next to nothing.
  bool converged() const noexcept { return moved() < 1e-3; }

  // Shows what is learned; values() follow from it.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.visit(precision_);
    visitor.visit(marked_);
    if (visitor.restores()) spread();
  }

 private:
  void spread() noexcept;  // of_groups() into values()

  struct Sums {
    double count;       // D_g
    double determined;  // gamma
    double squares;     // |m_g|^2
  };
  bool learned_ = false;
  double start_ = 1;
  double least_ = 0;
  double most_ = 0;
  double* values_;
  std::span<std::uint32_t> group_;
  std::span<double> precision_;
  std::span<double> marked_;
  std::span<Sums> sums_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_PRIOR_PRECISION_H_
