// What rows in memory count for by their age.
#ifndef WINDHOVER_RUNTIME_WINDOW_AGE_WEIGHTS_H_
#define WINDHOVER_RUNTIME_WINDOW_AGE_WEIGHTS_H_

#include <cstdint>
#include <limits>

#include "windhover/runtime/config.h"

namespace windhover {

// With Horizon::kForgetting the likelihood of a row has the exponent c r, r = exp(-age / tau):
// older rows count less. 2 N rows are held, and tau is such that they are worth N equal ones, by
// (sum of r)^2 / (sum of r^2) (Kish 1965). That makes tau 0.522 N, the mean age 0.48 N, and leaves
// out what 2 % of all would count. c makes the posterior as wide as that of N rows, which is right
// where the truth stands still. With ForgettingSpread::kPosterior c is 1: the newest row counts
// once, all together count 0.511 N, and the variance is 1.96 times as large, for a truth that
// wanders.
//
// r falls in steps of N / 32 rows, so that sums over rows need to fade only between steps; within
// its step a row is summed, and drawn (age_draws.h), as any other. The newest row counts 1, so
// nothing overflows.
//
// By default all rows count the same. With Horizon::kAdaptive they do while the longest memory is
// chosen, and otherwise count as above, N the rows of the memory; with other horizons always. A
// value type; any thread.
class AgeWeights {
 public:
  // What rows count as together, and the sum of the squares.
  struct Sums {
    double weight = 0;
    double squares = 0;
  };

  AgeWeights() noexcept = default;
  // Weights of 2 N rows that are worth N = `rows` together.
  AgeWeights(std::uint64_t rows, ForgettingSpread spread) noexcept;
  // The weights that the configured horizon begins with.
  explicit AgeWeights(const EngineConfig& config) noexcept
      : AgeWeights(config.horizon == Horizon::kForgetting
                       ? AgeWeights(config.window_size, config.forgetting_spread)
                       : AgeWeights()) {}

  bool operator==(const AgeWeights&) const noexcept = default;

  bool flat() const noexcept { return tau_ == 0; }
  // How many rows are looked at: 2 N; where all count the same, all there are.
  std::uint64_t rows() const noexcept {
    return flat() ? std::numeric_limits<std::uint64_t>::max() : 2 * series_rows_;
  }
  // How many of the newest rows are tested for drift and dependence in their order: N, or all.
  std::uint64_t series_rows() const noexcept { return series_rows_; }

  // The first row after `row` that counts more than it.
  std::uint64_t end_of_step(std::uint64_t row) const noexcept {
    return flat() ? std::numeric_limits<std::uint64_t>::max() : (row / step_ + 1) * step_;
  }
  // What a row counts for where the newer row `newest` counts 1.
  double weight(std::uint64_t row, std::uint64_t newest) const noexcept;
  // Sums over the rows [first, end), the newest of which counts 1. O(1).
  Sums sums(std::uint64_t first, std::uint64_t end) const noexcept;

  // The n of a posterior, for rows whose weights are worth `kish` equal rows: as many, or fewer
  // with ForgettingSpread::kPosterior.
  double worth(double kish) const noexcept { return kish / (1 + kish * discount_); }
  // The same for the rows [first, end).
  double worth(std::uint64_t first, std::uint64_t end) const noexcept {
    if (flat() || end == first) return static_cast<double>(end - first);
    const Sums all = sums(first, end);
    return worth(all.weight * all.weight / all.squares);
  }

 private:
  double tau_ = 0;  // in rows; 0: all count the same
  double log_keep_ = 0;
  double keep_ = 1;      // the factor from one step to the one before
  double discount_ = 0;  // 1 / (2 tau) with ForgettingSpread::kPosterior
  std::uint64_t step_ = 1;
  std::uint64_t series_rows_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_WINDOW_AGE_WEIGHTS_H_
