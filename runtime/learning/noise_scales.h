// What the noise of the next row is, told by memories of different length.
#ifndef WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_
#define WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/memory_weights.h"
#include "windhover/runtime/posterior/noise_mixture.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// The variances that several memories have learned, mixed by how well each has predicted the rows
// (fixed share: Herbster and Warmuth 1998): a short memory knows that the stream has become calm or
// wild, a long one what is usual. Beside them there are far rows (a contaminated normal, Tukey
// 1960): how many of all, and how far they scatter, is learned from how likely each row was one of
// them. A single variance instead costs tenths of a nat a row, and whole nats where outliers are
// gross.
//
// Where the errors of neighbours hang together, as in a time series, those at the end of a take of
// many rows say little of the next one, and an error that all rows of a take share looks like
// noise. So the memories' weights as forecasters, which takes as a whole have decided, stand beside
// those of single rows: what is served is a mixture of both, by how well they have predicted takes
// (MemoryWeights). loss() knows those of single rows alone: forecasters that were compared by the
// noise that they are believed by would confirm themselves.
//
// A take is predicted by what was known before it, as the answers were that were served meanwhile.
// Invariant: weights add up to 1, and none of a memory is less than kShare / count. One thread.
// O(count) a row.
class NoiseScales {
 public:
  static constexpr std::size_t kMost = 18;
  // Before any far row is seen so many of all are taken to be far, by a variance so much larger.
  static constexpr double kFarShareAtFirst = 5e-4;
  static constexpr double kFarAtFirst = 100;

  // Begins anew with so many memories, all of the same weight.
  void reset(std::size_t count) noexcept;
  // Begins a take of rows that were predicted while the variances were these. `believed`: the
  // memories' weights as forecasters; empty: they are left out.
  void begin_take(std::span<const double> variances,
                  std::span<const double> believed = {}) noexcept;
  // -log of the density of rows, each times its weight, up to a constant. O(count) a row.
  double loss(std::span<const PredictiveResidual> rows) const noexcept;
  // Adds a row of the take as it was predicted by the average that was served. Its weight says how
  // many equal rows tell as much, 1 on average or less.
  void add(const PredictiveResidual& row) noexcept;
  // `worth`: how many rows a change of what to believe is expected in.
  void end_take(double worth = 1'000) noexcept;

  // The mixture that is served while the variances are these, and the memories' weights as
  // forecasters, where they are not left out. `of_targets`: the targets' variance.
  // Where the noise is but rounding beside it, half of the far rows get that variance: many equal
  // targets, or ones explained perfectly, do not tell how far off the first other one is.
  NoiseMixture mixture(std::span<const double> variances, double of_targets,
                       std::span<const double> believed = {}) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // The share of the weights that goes to all alike with each row: how often another memory becomes
  // the one to believe. A stream where nothing changes loses a thousandth of a nat a row by it; one
  // that is calm after a wild time some thousandths, for as long as a memory holds the wild rows.
  static constexpr double kShare = 0.005;
  using Numbers = std::array<double, kMost>;

  // Sums over rows by how likely they were far ones. Before any is seen half a row in a thousand is
  // taken to be far, ten times as far as others, which is soon unlearned. A row counts as a hundred
  // times as far as others at most: an absurd number would be believed for thousands of rows.
  struct FarRows {
    double count = 1'000 * kFarShareAtFirst;
    double of_rows = 1'000;
    double variance = 0;     // 0: not known yet
    double variance_of = 1;  // so many rows

    // At a share of 0 far rows would be ruled out for ever, so it has a lower bound; and an upper
    // one, as the memories soon learn where most rows are far.
    double share() const noexcept { return std::clamp(count / of_rows, 1e-6, 0.5); }
  };

  // The weight of each memory: that of single rows and that of takes, as far as each is trusted.
  Numbers mixed(std::span<const double> believed) const noexcept;
  double far_variance(std::span<const double> variances) const noexcept;
  // The loss of a row whose density underflows: that of the likeliest component alone.
  double far_loss(const PredictiveResidual& row) const noexcept;
  void add_to_far(const PredictiveResidual& row, double likely) noexcept;

  Numbers weights_{};
  MemoryWeights trust_{2, 2};  // in the weights of single rows, and in those of takes
  FarRows far_;
  // The take under way: the components that predict it, far rows last, and the weights and far rows
  // after its rows so far.
  std::size_t count_ = 0;
  Numbers next_{};
  FarRows next_far_;
  Numbers believed_{};
  std::array<double, 2> losses_{};  // by the weights of single rows, and by those of takes
  std::size_t rows_ = 0;
  std::array<double, kMost + 1> variances_{};
  std::array<double, kMost + 1> shares_{};  // of all rows
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_NOISE_SCALES_H_
