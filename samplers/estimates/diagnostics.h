// Effective sample sizes and split R-hat per parameter, in memory that does not grow with the
// chains.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_DIAGNOSTICS_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_DIAGNOSTICS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/estimates/dyadic_batches.h"

namespace windhover {

// Takes iterates as deviations from the centre in posterior standard deviations, so that values are
// about standard normal. Rank normalisation (Vehtari et al. 2021) would change nothing then, and is
// left out. One thread. Memory (73 chains + 112) dimension doubles.
//
// ess_bulk: the number of iterates of all chains over their autocorrelation time. That time sums
// the autocorrelations about the mean of all chains, so that chains that disagree have a low
// ess_bulk, over a window of at least twice the time (Sokal 1997). ess_tail: the smaller one of the
// two for the indicators of the outer 5 % on either side, beyond +- kTail. r_hat: split R-hat, over
// the two halves of each chain. Not to be trusted below about 100 autocorrelation times in all.
class ChainDiagnostics {
 public:
  static constexpr std::uint32_t kBatches = 32;
  static constexpr std::uint64_t kLeastIterates = 16;
  static constexpr double kTail = 1.6448536269514722;  // 5 % of the normal law lie beyond

  // Takes memory, writes nothing.
  ChainDiagnostics(Arena& arena, std::uint32_t chains, std::uint32_t dimension) noexcept;
  void reset() noexcept;

  // Adds one iterate of every chain; `theta` is chains x dimension. O(chains x dimension).
  void add(const double* theta) noexcept;

  // `dimension` numbers each: 0 while there are fewer than kLeastIterates. mcse_mean is the Monte
  // Carlo standard error of the mean of all iterates, in the units they came in.
  struct Summary {
    double* ess_bulk;
    double* ess_tail;
    double* mcse_mean;
    double* r_hat;
  };
  void summarize(const Summary& summary) const noexcept;

  std::uint64_t iterates() const noexcept { return count_; }  // of one chain
  bool suffices() const noexcept { return count_ >= kLeastIterates; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double& batch(std::uint32_t chain, std::uint32_t index, std::uint32_t parameter) const noexcept {
    return batches_[(static_cast<std::size_t>(chain) * kBatches + index) * dimension_ + parameter];
  }
  void merge() noexcept;
  double effective(std::uint32_t series) const noexcept;
  void split_r_hat(std::uint32_t first, std::uint32_t parameters, double* r_hat) const noexcept;

  std::uint32_t chains_;
  std::uint32_t dimension_;
  DyadicBatches series_;            // per parameter: its value, and indicators of the two tails
  double* values_;                  // chains x 3 dimension
  std::uint64_t count_ = 0;         // iterates of one chain
  std::uint64_t batch_length_ = 1;  // iterates a batch
  std::uint32_t full_ = 0;          // complete batches
  std::uint64_t filling_ = 0;       // iterates in the batch being filled
  double* batches_;                 // sums: chains x kBatches x dimension
  double* squares_;  // chains x dimension: sum of (theta - origin)^2 over complete pairs of batches
  double* pending_;  // the same over the pair being filled
  double* origin_;   // dimension: the first chain's first iterate; sums are relative to it
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_DIAGNOSTICS_H_
