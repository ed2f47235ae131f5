// Sums of whole numbers, from which what was added can be taken out again, to the bit.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_SUM_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_SUM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/state_visitor.h"

namespace windhover {

__extension__ using Quanta = __int128;

inline constexpr int kLowBits = 62;
inline constexpr double kHighQuanta = 0x1p62;

// Rounds to the nearest whole number, symmetrically in sign. REQUIRES: |number| < 2^124.
inline Quanta quanta_of(double number) noexcept {
  const std::int64_t high = std::llrint(number * (1 / kHighQuanta));
  const std::int64_t low = std::llrint(number - static_cast<double>(high) * kHighQuanta);
  return Quanta{high} * (Quanta{1} << kLowBits) + low;
}

// REQUIRES: |quanta| < 2^124.
inline double number_of(Quanta quanta) noexcept {
  // The lower bits are read as a signed number, or no digits would be left where the two parts
  // cancel.
  constexpr int kSpare = 64 - kLowBits;
  const auto bits = static_cast<std::uint64_t>(quanta) << kSpare;
  const std::int64_t low = static_cast<std::int64_t>(bits) >> kSpare;
  const auto high = static_cast<std::int64_t>((quanta - low) >> kLowBits);
  return static_cast<double>(high) * kHighQuanta + static_cast<double>(low);
}

inline void visit_quanta(StateVisitor& visitor, Quanta* quanta, std::size_t count) noexcept {
  static_assert(sizeof(Quanta) == 2 * sizeof(std::uint64_t));
  visitor.visit({reinterpret_cast<std::uint64_t*>(quanta), 2 * count});
}

// An exact sum of numbers, each rounded once: to a part in 10^7 where it is above 10^-26, otherwise
// to 2^-110. REQUIRES: each is at most kMost in size, and there are at most 2^30.
class ExactSum {
 public:
  static constexpr double kMost = 0x1p60;

  // Adds a number; adding -number takes it out again.
  void add(double number) noexcept {
    const Quanta coarse = quanta_of(number * kCoarse);
    coarse_ += coarse;
    fine_ += quanta_of((number - number_of(coarse) / kCoarse) * kFine);
  }
  double value() const noexcept { return number_of(coarse_) / kCoarse + number_of(fine_) / kFine; }

 private:
  static constexpr double kCoarse = 0x1p20;  // quanta in 1
  static constexpr double kFine = 0x1p110;

  Quanta coarse_;
  Quanta fine_;  // of what coarse_ leaves of each number
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_SUM_H_
