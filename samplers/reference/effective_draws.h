// Effective number of draws for the bulk of a distribution, as Stan reports it.
#ifndef WINDHOVER_SAMPLERS_REFERENCE_EFFECTIVE_DRAWS_H_
#define WINDHOVER_SAMPLERS_REFERENCE_EFFECTIVE_DRAWS_H_

#include <vector>

namespace windhover::reference {

// The bulk effective sample size of one quantity over chains of equal length. The chains are
// rank-normalised and split in half, and Geyer's initial monotone sequence is summed (Vehtari,
// Gelman, Simpson, Carpenter and Buerkner 2021).
double bulk_effective_draws(const std::vector<std::vector<double>>& chains);

}  // namespace windhover::reference

#endif  // WINDHOVER_SAMPLERS_REFERENCE_EFFECTIVE_DRAWS_H_
