// Stan, where it is installed: Debian's r-cran-rstan, run as a program of its own.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STAN_H_
#define WINDHOVER_TOOLS_REPRODUCE_STAN_H_

#include <filesystem>
#include <vector>

#include "windhover/tools/dataset.h"

namespace windhover::reproduce {

struct StanRun {
  std::vector<double> mean;  // of each parameter
  std::vector<double> sd;
  std::vector<double> bulk;    // effective draws
  double warm_up_seconds = 0;  // as Stan counts them, compilation not included
  double draw_seconds = 0;
};

// Looks for R with rstan in it.
bool has_stan();

// One chain of NUTS, 1000 moves of warm-up and `draws` draws, on a logistic model without an
// intercept and with a standard normal prior, written with Stan's fast function for just that.
// Script and data go to `directory`. RunError when it fails; takes half a minute to compile.
StanRun run_stan(const std::filesystem::path& directory, const Dataset& data, std::size_t draws,
                 std::uint64_t seed);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STAN_H_
