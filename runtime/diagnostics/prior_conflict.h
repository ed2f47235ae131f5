// Whether a prior and the rows contradict each other.
//
// Let N(0, Lambda^-1) be the prior, I the information of the rows, m the mode of the posterior and
// theta the mode of the rows alone, I (theta - m) = Lambda m. Before any row theta is expected as
// N(0, Lambda^-1 + I^-1), so
//   theta' (Lambda^-1 + I^-1)^-1 theta = m' Lambda m + (Lambda m)' I^-1 (Lambda m)
// is chi-square with D degrees of freedom where the prior holds (Box 1980, section 2; Evans and
// Moshonov 2006). Directions of which the rows say nothing add nothing. A prior that is right,
// tight or not, raises no alarm. One that the rows lie far outside does, however much they outweigh
// it by now, because it cannot have been meant.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_PRIOR_CONFLICT_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_PRIOR_CONFLICT_H_

#include <algorithm>
#include <cmath>

namespace windhover {

// How often chance alone may exceed the bound.
inline constexpr double kPriorConflictRate = 1e-5;

// The bound that a chi-square variable with D degrees of freedom exceeds at most that often
// (Laurent and Massart 2000, lemma 1).
inline double prior_conflict_bound(double dimension) noexcept {
  const double x = -std::log(kPriorConflictRate);
  return dimension + 2 * std::sqrt(dimension * x) + 2 * x;
}

// Corrects the statistic for a dispersion that was learned from n rows. It is then D times an F of
// D and n - D degrees of freedom, whose tail is heavier than chi-square's. What is returned, the
// log of the likelihood ratio with Bartlett's factor or a little less, has no heavier tail.
inline double with_learned_dispersion(double statistic, double n, double dimension) noexcept {
  const double freedom = n - dimension;
  return std::max(freedom - 1, 0.0) * std::log1p(statistic / std::max(freedom, 1.0));
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_PRIOR_CONFLICT_H_
