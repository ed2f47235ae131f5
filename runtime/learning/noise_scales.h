// What the noise of the next row is, told by memories of different length.
#ifndef WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_
#define WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/posterior/noise_mixture.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The variances that several memories have learned, mixed by how well each has predicted the rows
// (fixed share: Herbster and Warmuth 1998): a short memory knows that the stream has become calm or
// wild, a long one what is usual. Beside them there are far rows (a contaminated normal, Tukey
// 1960): how many of all, and how far they scatter, is learned from how likely each row was one of
// them. What one variance does not know of all this costs tenths of a nat a row, and whole ones
// where outliers are gross.
//
// A take is predicted by what was known before it, as the answers were that were served meanwhile.
// Invariant: weights add up to 1 and none is less than kShare / count. One thread. O(count) a row.
class NoiseScales {
 public:
  static constexpr std::size_t kMost = 18;

  // Begins anew with so many memories, all of the same weight.
  void reset(std::size_t count) noexcept;
  // Begins a take of rows that were predicted while the variances were these.
  void begin_take(std::span<const double> variances) noexcept;
  // -log of the density of rows, each times its weight, up to a constant. O(count) a row.
  double loss(std::span<const PredictiveResidual> rows) const noexcept;
  // Adds a row of the take as it was predicted by the posterior that is served. Its weight says how
  // many equal rows tell as much, 1 on average or less.
  void add(const PredictiveResidual& row) noexcept;
  void end_take() noexcept {
    weights_ = next_;
    far_ = next_far_;
  }

  // The mixture that is served while the variances are these. Where only rounding is left of
  // targets of this variance, half of the far rows are as far off as those are from one another:
  // many equal targets, or ones explained perfectly, do not tell how far off the first other one
  // is.
  NoiseMixture mixture(std::span<const double> variances, double of_targets) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // The share of the weights that each row gives to all alike: how often another memory is to be
  // believed. A stream where nothing changes loses a thousandth of a nat a row by it, and one that
  // is calm after a wild time some thousandths, for as long as a memory holds that.
  static constexpr double kShare = 0.005;
  using Numbers = std::array<double, kMost>;

  // Sums over rows by how likely they were far ones. Before any is seen half a row in a thousand is
  // taken to be far, ten times as far as others, which is soon unlearned. A row counts as a hundred
  // times as far at most: one that is no number at all would be believed for thousands of rows.
  struct FarRows {
    double count = 0.5;
    double of_rows = 1'000;
    double variance = 0;     // 0: not known yet
    double variance_of = 1;  // so many rows

    // A share of 0, however long no far row came, would rule them out for ever; where all rows are
    // far the memories will have learned it soon.
    double share() const noexcept { return std::clamp(count / of_rows, 1e-6, 0.5); }
  };

  double far_variance(std::span<const double> variances) const noexcept;
  // The loss of a row that is so far off for all that one component alone counts.
  double far_loss(const PredictiveResidual& row) const noexcept;
  void add_to_far(const PredictiveResidual& row, double likely) noexcept;

  Numbers weights_{};
  FarRows far_;
  // The take at hand: weights and far rows after its rows so far, and the components that predict
  // it, the far rows last.
  std::size_t count_ = 0;
  Numbers next_{};
  FarRows next_far_;
  std::array<double, kMost + 1> variances_{};
  std::array<double, kMost + 1> shares_{};  // of all rows
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_
