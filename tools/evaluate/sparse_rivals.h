// Methods that an informed user would take instead where columns are many: stochastic gradient
// descent, as in Vowpal Wabbit.
#ifndef WINDHOVER_TOOLS_EVALUATE_SPARSE_RIVALS_H_
#define WINDHOVER_TOOLS_EVALUATE_SPARSE_RIVALS_H_

#include <span>
#include <vector>

#include "windhover/tools/evaluate/rivals.h"

namespace windhover {

// Like rival_scores(), for sparse rows of any number of columns: SGD and AdaGrad, each at the rate
// that turned out best on these very rows, and AdaGrad at that rate with an online bootstrap (each
// of twenty copies learns a row as often as a Poisson number of mean 1 says; Oza 2005), whose
// predictions are averaged. For 0 or 1 also coverage and calibration. Empty unless y is a number or
// 0 or 1. Complexity O(non-zeros) for each of 12 rates, and for each of 20 copies.
std::vector<RivalScore> sparse_rival_scores(const Dataset& data, Response response,
                                            std::span<const StreamChunk> chunks);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_SPARSE_RIVALS_H_
