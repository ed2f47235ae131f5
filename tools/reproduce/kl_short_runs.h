// What short runs make of a stationary law: the moments of their iterates are still those of
// chance, or of the way to the mode.
#ifndef WINDHOVER_TOOLS_REPRODUCE_KL_SHORT_RUNS_H_
#define WINDHOVER_TOOLS_REPRODUCE_KL_SHORT_RUNS_H_

#include <Eigen/Core>
#include <cstdint>
#include <string>

#include "windhover/samplers/config.h"
#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

struct ShortRun {
  std::string method;
  SamplerConfig config;
  std::string from;  // where it starts, in words
  Eigen::VectorXd start;
  std::uint64_t steps;
  double papers;  // of Table 1
  std::size_t chains;
};

// Adds the KL from the posterior of the Gaussian that is fitted to all iterates of one such chain,
// of a sampler that is told `estimates`: the mean of some, given back. `name` is that of the
// problem.
Estimate add_short_run(const Context& context, const std::string& name, const Problem& problem,
                       const KnownEstimates& estimates, const ShortRun& run, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_KL_SHORT_RUNS_H_
