// Stan, where it is installed: Debian's r-cran-rstan, run as a separate program.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STAN_H_
#define WINDHOVER_TOOLS_REPRODUCE_STAN_H_

#include <cstdint>
#include <filesystem>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

struct StanOptions {
  std::size_t chains = 1;
  std::size_t draws = 1000;  // of each chain, after 1000 moves of warm-up
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

struct StanRun {
  std::vector<std::vector<std::vector<double>>> draws;  // by chain, draw and parameter
  std::vector<double> r_hat;                            // of each parameter, by Stan
  std::vector<double> bulk;                             // effective draws, by Stan
  std::size_t divergences = 0;
  double warm_up_seconds = 0;  // of all chains together, as Stan counts them
  double draw_seconds = 0;
};

// Whether R and its package rstan are installed.
bool has_stan();
// Says that Stan is missing.
inline constexpr const char* kNoStan =
    "Stan is not installed (Debian: `apt-get install r-cran-rstan r-cran-bh`)";

// NUTS on a logistic model without an intercept and with a standard normal prior, written with
// Stan's fast function for just that. Script and data go to `directory`, and the compiled model
// stays there: half a minute the first time. RunError when it fails.
StanRun run_stan(const std::filesystem::path& directory, const Dataset& data,
                 const StanOptions& options);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STAN_H_
