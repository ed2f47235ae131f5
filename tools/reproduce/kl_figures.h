// Figures and the panel of `stationary-kl`: one line a method.
#ifndef WINDHOVER_TOOLS_REPRODUCE_KL_FIGURES_H_
#define WINDHOVER_TOOLS_REPRODUCE_KL_FIGURES_H_

#include <cstdint>

#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

// What is known of one method in one case; KL from the posterior in nats.
struct KlLine {
  std::string label;
  double papers = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> exact = {};  // NaN or infinite: there is no law
  std::optional<Estimate> simulated = {};
  std::uint64_t steps = 0;              // of the simulation, all runs together
  std::optional<Estimate> chance = {};  // of its KL: what chance alone makes
  int papers_decimals = -1;             // as in Figure
  std::optional<Bar> bar = {};          // of what is exact and of what is simulated
};

// Without `linear` the exact law is that for Laplace's Gaussian. What is below the panel's floor is
// drawn there, with a mark of its own.
void add_kl_figures(const std::string& group, bool linear, const std::vector<KlLine>& lines,
                    Report& report);

// What these figures mean, of a simulation by so many runs with so many chains in all.
void add_kl_notes(std::size_t runs, std::size_t chains, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_KL_FIGURES_H_
