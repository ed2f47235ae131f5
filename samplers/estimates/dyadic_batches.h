// Autocovariances of a long series in memory that does not grow with it.
#ifndef WINDHOVER_SAMPLERS_ESTIMATES_DYADIC_BATCHES_H_
#define WINDHOVER_SAMPLERS_ESTIMATES_DYADIC_BATCHES_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// Sums over consecutive batches of 1, 2, 4, ... values, of several series in several chains. The
// series' means should be near 0, or rounding grows. One thread. Memory kLevels (chains + 3) series
// doubles. A value costs about two additions of a batch to its level.
//
// own + 2 lagged sums the autocovariances under a trapezoid, which is 1 up to lag b = 2^level and
// falls to 0 at 2 b (Politis and Romano 1995). Once correlations have died out by lag b it misses
// nothing, where plain batch means would still miss one part in b.
class DyadicBatches {
 public:
  static constexpr std::uint32_t kLevels = 12;

  // Takes memory, writes nothing.
  DyadicBatches(Arena& arena, std::uint32_t chains, std::uint32_t series) noexcept;
  void reset() noexcept;

  // Adds the next value of every series of every chain: chains x series.
  void add(const double* values) noexcept;

  std::uint64_t count() const noexcept { return count_; }  // values a chain
  // How many complete batches a chain has.
  std::uint64_t batches(std::uint32_t level) const noexcept { return count_ >> level; }

  // Autocovariances of batch sums about their mean over all chains, divided by the batch length.
  // REQUIRES: two batches a chain.
  struct Autocovariance {
    double own = 0;     // variance of a batch
    double lagged = 0;  // covariance of neighbouring batches
    double long_run() const noexcept { return own + 2 * lagged; }
  };
  Autocovariance at(std::uint32_t level, std::uint32_t series) const noexcept;
  double mean(std::uint32_t series) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.value(count_);
    visitor.visit(sums_, std::size_t{3} * kLevels * width_);
    visitor.visit(previous_, std::size_t{kLevels} * chains_ * width_);
  }

 private:
  double* sums(std::uint32_t level) const noexcept {
    return sums_ + level * 3 * std::size_t{width_};
  }
  double* previous(std::uint32_t level, std::uint32_t chain) const noexcept {
    return previous_ + (std::size_t{level} * chains_ + chain) * width_;
  }

  std::uint32_t chains_;
  std::uint32_t width_;
  std::uint64_t count_ = 0;
  double* sums_;      // kLevels x {sum, squares, products with the batch before} x series
  double* previous_;  // kLevels x chains x series: the last complete batch
  double* batch_;     // series
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ESTIMATES_DYADIC_BATCHES_H_
