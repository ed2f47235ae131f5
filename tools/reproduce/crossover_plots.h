// Figures of `nuts-crossover` from runs as crossover_methods.h has them, with errors, and its
// panels.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_PLOTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_PLOTS_H_

#include "windhover/tools/reproduce/crossover_methods.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

inline constexpr double kWanted = 2000;  // effective draws
// The tutorial's section 12.1 and its Figure 12.
inline constexpr double kPapersCrossover = 5000;  // rows
inline constexpr double kPapersLead = 5;          // NUTS over SGLD at kPapersSmallest rows
inline constexpr std::size_t kPapersSmallest = 500;

struct CrossoverMethod {
  const char* key;  // samplers of the library: their name
  const char* label;
  int colour;
};
inline constexpr CrossoverMethod kEngineMethods[] = {{"calibrated", "default (calibrated)", 0},
                                                     {"sgld-cv", "sgld-cv", 5},
                                                     {"sghmc", "sghmc", 2},
                                                     {"sgld", "sgld", 1}};
inline constexpr CrossoverMethod kPrintedMethods[] = {
    {"printed-sghmc", "SGHMC, tutorial's step", 4}, {"printed-sgld", "SGLD, tutorial's step", 3}};
inline constexpr CrossoverMethod kNuts = {"nuts", "NUTS", 6};

using CrossoverRun = ordered_json;

// |mean - truth| of the worst parameter in sd, with the error that as many effective draws leave as
// both have; and so where those of the run are wider than the truth's.
Estimate mean_off(const CrossoverRun& run, const CrossoverRun& truth);
Estimate mean_off_wide(const CrossoverRun& run, const CrossoverRun& truth);
// The sd over the truth's that is furthest from 1.
Estimate sd_ratio(const CrossoverRun& run, const CrossoverRun& truth);

// Effective draws a second, and seconds until kWanted of them, the cold start included. Errors of
// what a clock measured are those of the effective draws alone.
Estimate rate(const CrossoverRun& run);
Estimate time_to_draws(const CrossoverRun& run);
// "rows" or "gradients" that an effective draw takes, in that unit.
Estimate a_draw(const CrossoverRun& run, const char* what, double unit);
// Of all runs of a size; NaN where nothing as near was served.
double served_seconds(const CrossoverRun& all);
// Of independent ones.
Estimate ratio(const Estimate& a, const Estimate& b);

// `results`: all runs of each size, by the method's key.
void add_crossover_panels(Report& report, const std::vector<std::size_t>& sizes,
                          const std::vector<CrossoverRun>& results);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_PLOTS_H_
