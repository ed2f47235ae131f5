// The gradient-noise covariance C as the newest refresh has it.
#ifndef WINDHOVER_RUNTIME_LEARNING_NOISE_ESTIMATE_H_
#define WINDHOVER_RUNTIME_LEARNING_NOISE_ESTIMATE_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/null_directions.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/estimates/noise_covariance.h"

namespace windhover {

// C as measured is an average over passes, while A is of the present rows. Rows of a kind that have
// become more or fewer since make both grow or shrink alike, so C is scaled with A's diagonal.
// Where there were no such rows, A's diagonal stands for C's, as if the model held: a C that is too
// small there would make the draws too wide. The scaling puts noise into directions that no row
// says anything about (NullDirections), and C is made 0 along them again. Where rows have weights C
// is that of a gradient times its weight; with `of_equal_rows` it is multiplied by
// AnchorSums::weight_ratio(), to be that of as many equal rows. Invariant: the reference is the
// data curvature averaged as C is. One thread. Memory about 3 D^2 doubles; 7 D with
// NoiseStructure::kDiagonal.
class NoiseEstimate {
 public:
  NoiseEstimate(Arena& arena, const SamplerConfig& config, const ModelConfig& model,
                bool of_equal_rows = false) noexcept;
  void start_over() noexcept;

  // What has been measured: rows and minibatches are added there.
  NoiseCovariance& measured() noexcept { return measured_; }
  const NoiseCovariance& measured() const noexcept { return measured_; }
  bool is_of_equal_rows() const noexcept { return of_equal_rows_; }
  bool is_full() const noexcept { return measured_.structure() == NoiseStructure::kFull; }

  // A pass over `rows` ends: blends the noise it has measured in (NoiseCovariance::end_pass).
  // false: what it summed is not finite.
  bool end_pass(const AnchorSums& rows, double weight_floor, Interlude* interlude) noexcept;
  // For sums that go on without passes: takes C and the reference from them as they stand.
  void follow_sums(const AnchorSums& rows) noexcept;

  // Works out C for the present `rows`, at this dispersion. O(D^3).
  void refresh(const AnchorSums& rows, double dispersion, Interlude* interlude) noexcept;
  // Works out assumed(), which stands for C before it is known: for rows with weights A divided by
  // AnchorSums::weight_ratio(). O(D^2).
  void assume(const AnchorSums& rows, const double* curvature, Interlude* interlude) noexcept;
  const double* assumed() const noexcept { return assumed_; }  // null: A itself stands for C
  // C: D x D, or with NoiseStructure::kDiagonal its D variances.
  std::span<const double> values() const noexcept { return {values_, numbers()}; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // C_jj where the model holds, in units of the dispersion: with weights it grows with their
  // squares, or is that of as many equal rows.
  double expected(const AnchorSums& rows, std::uint32_t j) const noexcept;

  std::size_t numbers() const noexcept {
    return is_full() ? std::size_t{dimension_} * dimension_ : dimension_;
  }

  std::uint32_t dimension_;
  bool of_equal_rows_;
  NoiseCovariance measured_;
  double* values_;
  double* reference_;                          // data curvature A_jj averaged as C is, dispersion 1
  double* scale_;                              // dimension: scratch
  NullDirections* null_directions_ = nullptr;  // with a full C, not for networks
  double* assumed_ = nullptr;                  // D x D, of rows with weights, unless of equal rows
  bool reference_known_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_NOISE_ESTIMATE_H_
