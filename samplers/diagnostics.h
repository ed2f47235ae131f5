// Effective sample size and split R-hat per parameter, in memory that does not grow with the
// chains.
#ifndef WINDHOVER_SAMPLERS_DIAGNOSTICS_H_
#define WINDHOVER_SAMPLERS_DIAGNOSTICS_H_

#include <cstdint>

#include "windhover/platform/arena.h"

namespace windhover {

// Batch means per chain and parameter: at most kBatches batches, whose length doubles when they are
// full. One thread.
//
// ess_bulk = K n var / (b var_of_batch_means), var taken over all chains; needs at least 16 batches
// of several autocorrelation times to be trusted. r_hat is the split R-hat (each chain's first and
// second half). Both without rank normalisation.
class ChainDiagnostics {
 public:
  static constexpr std::uint32_t kBatches = 32;

  ChainDiagnostics(Arena& arena, std::uint32_t chains, std::uint32_t dimension) noexcept;
  void reset() noexcept;

  // One iterate of every chain; `theta` is chains x dimension. O(chains x dimension).
  void add(const double* theta) noexcept;

  // `dimension` numbers each: 0 and 0 while there are fewer than 16 batches. The smallest and
  // largest are returned too.
  struct Extremes {
    double ess_min = 0;
    double r_hat_max = 0;
  };
  Extremes summarize(double* ess_bulk, double* r_hat) const noexcept;

  std::uint64_t iterates() const noexcept { return count_; }

 private:
  double& batch(std::uint32_t chain, std::uint32_t index, std::uint32_t parameter) const noexcept {
    return batches_[(static_cast<std::size_t>(chain) * kBatches + index) * dimension_ + parameter];
  }
  void merge() noexcept;

  std::uint32_t chains_;
  std::uint32_t dimension_;
  std::uint64_t count_ = 0;         // iterates of one chain
  std::uint64_t batch_length_ = 1;  // iterates a batch
  std::uint32_t full_ = 0;          // complete batches
  std::uint64_t filling_ = 0;       // iterates in the batch being filled
  double* batches_;                 // sums: chains x kBatches x dimension
  double* squares_;  // chains x dimension: sum of (theta - origin)^2, complete pairs of batches
  double* pending_;  // the same, of the pair being filled
  double* origin_;   // dimension: the first chain's first iterate; sums are relative to it
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_DIAGNOSTICS_H_
