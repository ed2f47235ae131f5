// Online estimate of the gradient-noise covariance C: the covariance over observations of one
// row's gradient, averaged along the chains (E_q[C(theta)], what the exact law needs).
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_NOISE_COVARIANCE_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_NOISE_COVARIANCE_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/linear_algebra/interlude.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The weight of update t = 1, 2, ... under a schedule.
double decay_weight(DecaySchedule schedule, double constant, std::uint64_t t) noexcept;

// One thread. Everything is in units of dispersion 1. Memory 2 D^2, and O(S D^2) work a minibatch;
// with NoiseStructure::kDiagonal 4 D and O(S D).
class NoiseCovariance {
 public:
  NoiseCovariance(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  void reset() noexcept;

  // The rolling sweep: every row of the window once a pass, at the iterate of the moment. It adds
  // no variance by sampling rows, so one pass is as good as some 300 estimates by eq. 12.
  // `end_pass` blends the pass in with weight max(decay, weight_floor).
  void add_rows(Model& model, const RowBatch& rows, const double* theta) noexcept;
  // Returns that weight, or 0 when the pass had no rows, or sums that are not finite; the estimate
  // then stays. An interlude must leave this object alone.
  double end_pass(double weight_floor, Interlude* interlude = nullptr) noexcept;

  // Forgets the rows of a pass that was not ended.
  void begin_pass() noexcept {
    if (rows_ > 0) clear_sums();
  }

  // For rows that are seen once, in place of passes: the sums fade and go on.
  void fade(double keep) noexcept;
  void estimate_from_sums() noexcept;

  // Ahn et al. 2012, eq. 12: V = 1/(S-1) sum (g_i - g)(g_i - g)^T over one minibatch.
  void add_minibatch(Model& model, const RowBatch& minibatch, const double* theta) noexcept;

  // Mandt et al. 2017, eq. 21: (g_1 - g_S)(g_1 - g_S)^T, times S / (S - 1) because g_1 is inside
  // g_S.
  void add_pair(Model& model, const RowBatch& minibatch, const double* theta) noexcept;

  NoiseStructure structure() const noexcept { return structure_; }
  // kFull: D x D with width matrix_width(D), lower triangle.
  const double* matrix() const noexcept { return estimate_; }
  // kDiagonal: the D variances.
  const double* variances() const noexcept { return estimate_; }
  std::uint64_t updates() const noexcept { return updates_; }
  double rows_in_pass() const noexcept { return rows_; }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(updates_, rows_);
    visitor.visit(estimate_, size());
    visitor.visit(gradient_, dimension_);
    visitor.visit(second_, size());
  }

 private:
  // How many numbers make up the estimate.
  std::size_t size() const noexcept { return full() ? width_ * width_ : dimension_; }
  bool full() const noexcept { return structure_ == NoiseStructure::kFull; }
  void clear_sums(Interlude* interlude = nullptr) noexcept;
  bool finite() const noexcept;
  bool centre(double divisor, Interlude* interlude = nullptr) noexcept;
  void blend(double weight, Interlude* interlude = nullptr) noexcept;

  NoiseStructure structure_;
  DecaySchedule decay_;
  double decay_constant_;
  std::uint32_t dimension_;
  std::size_t width_;
  std::uint64_t updates_ = 0;
  double* estimate_;
  double* gradient_;  // sums over rows_ rows: of g, and of g g^T or its diagonal
  double* second_;
  double rows_ = 0;
  double* first_gradient_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_NOISE_COVARIANCE_H_
