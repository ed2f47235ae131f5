// The bound that split R-hat rarely exceeds by chance where all chains agree.
//
// k chains of `effective` independent draws in all are 2 k halves of m = effective / (2 k) draws
// each. Then (B / n) / W of R-hat^2 = (n - 1) / n + (B / n) / W (Gelman et al. 2013, section 11.4)
// is an F of 2 k - 1 and 2 k (m - 1) degrees of freedom over m - 1. With several parameters the
// largest stays below the bound with the same certainty if each does so with its share of the rate
// (Bonferroni).
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_R_HAT_CHANCE_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_R_HAT_CHANCE_H_

namespace windhover {

// How often chance alone may exceed the bound.
inline constexpr double kRHatRate = 0.01;

// The bound on the largest R-hat of `dimension` parameters, by Paulson's quantile of F (1942), to 2
// % of R-hat^2 - 1. Infinity: so few draws that R-hat says nothing. REQUIRES: chains and dimension
// are 1 or more. O(1).
double r_hat_chance(double effective, double chains, double dimension) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_R_HAT_CHANCE_H_
