// The spread of the draws in a few directions, for models of too many parameters to compare all:
// where the sampler's law is farthest from the posterior on either side, the best and the worst
// determined combination of the parameters, and some that are chosen at random.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_SPREAD_DIRECTIONS_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_SPREAD_DIRECTIONS_H_

#include <array>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/linear_algebra/extreme_ratio.h"
#include "windhover/samplers/linear_algebra/interlude.h"

namespace windhover {

// One thread. Memory 31 D.
class SpreadDirections {
 public:
  static constexpr std::size_t kLaw = 2;      // first those in which the law is farthest off
  static constexpr std::size_t kExtreme = 2;  // then the worst and the best determined
  static constexpr std::size_t kRandom = 2;
  static constexpr std::size_t kCount = kLaw + kExtreme + kRandom;
  using Numbers = std::array<double, kCount>;

  SpreadDirections(Arena& arena, std::uint32_t dimension) noexcept;

  // The next follow() that knows the directions takes them anew; until then squares() is false.
  void choose_again() noexcept { chosen_ = false; }
  // Follows the posterior's covariance P; `version`: another number whenever P has changed. `law`:
  // the law's two directions, null where there is no law. Takes 2 D^2 products, about 1e6 more
  // while directions are looked for, and kCount D^2 where P has changed or directions were chosen.
  // An interlude may run between them.
  void follow(const double* covariance, std::uint64_t version,
              const std::array<const double*, kLaw>& law, Interlude* interlude) noexcept;

  // The squared deviation in each direction over the posterior's variance; false: no directions
  // have been chosen. O(kCount D).
  bool squares(const double* deviation, Numbers& squares) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double* direction(std::size_t i) const noexcept { return directions_ + i * dimension_; }
  void search(const double* covariance, Interlude* interlude) noexcept;
  void choose(const double* covariance, const std::array<const double*, kLaw>& law) noexcept;

  std::uint32_t dimension_;
  bool begun_ = false;
  bool chosen_ = false;
  std::uint64_t version_ = 0;
  std::uint64_t choices_ = 0;
  ExtremeRatio worst_;  // the worst determined: the most variance beside the parameters' own
  ExtremeRatio best_;
  double* directions_;  // kCount x D
  Numbers variances_{};
  double* room_;  // D
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_SPREAD_DIRECTIONS_H_
