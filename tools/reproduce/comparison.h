// Two samples of one posterior, beside each other by their Gaussian moments.
#ifndef WINDHOVER_TOOLS_REPRODUCE_COMPARISON_H_
#define WINDHOVER_TOOLS_REPRODUCE_COMPARISON_H_

#include <vector>

#include "windhover/tools/reproduce/moments_json.h"

namespace windhover::reproduce {

struct Comparison {
  std::vector<Estimate> off;  // difference of the means of each parameter, in sd of the truth
  Estimate furthest;          // that of the parameter where it is largest, without its sign
  Estimate least_sd;          // over the truth's, the smallest and the largest of all parameters
  Estimate most_sd;
  // KL(ours || truth). It is never negative: chance alone makes `kl_by_chance` of it, give or take
  // that one's error.
  Estimate kl;
  Estimate kl_by_chance;
};

// Either side in independent parts of equal length, at least two, or in one when it is exact.
// Errors by the jackknife over parts.
Comparison compare(const std::vector<RunMoments>& ours, const std::vector<RunMoments>& truth);

// Mean of ours less theirs where the same seeds gave both, so that what they share cancels: the
// error is that of the differences, over seeds (at least 2).
Estimate paired_difference(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_COMPARISON_H_
