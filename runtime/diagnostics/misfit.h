// Whether the spread of the rows around the model is so unlike the one that the model predicts that
// `sd` means nothing. misspecification_index, Tr(A^-1 C) / D, is the square of the factor by which
// sd is too small, averaged over directions.
//
// A mild misfit is what sd_robust is for, and no reason: noise whose sd is in proportion to a
// normal feature has an index of 3. At 4, sd is half of what it should be, at 1/4 twice. Chance
// widens these bounds. The index is the mean over n rows of q = g^T A^-1 g / D, whose variance is 2
// at least, and up to 54 on real rows with outlying features (E q^2 of the Protein data). So where
// the model holds it lies within 1 +- 4.3 sqrt(54 / n) in all but one of 100,000 cases.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_MISFIT_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_MISFIT_H_

#include <algorithm>
#include <cmath>

namespace windhover {

// Whether the index is beyond its bounds. An `index` of 0 or NaN is not known: false. `n`: equal
// rows.
inline bool misfits(double index, double n) noexcept {
  constexpr double kGross = 4;
  constexpr double kSpread = 4.3 * 7.35;  // 7.35 is sqrt(54)
  const double most = kGross * (1 + kSpread / std::sqrt(std::max(n, 1.0)));
  return index > most || (index > 0 && index < 1 / most);
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_MISFIT_H_
