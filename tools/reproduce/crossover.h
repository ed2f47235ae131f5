// What the crossover of NUTS and minibatch samplers is measured with: rows, runs, and how far off;
// figures of such runs, with errors, and panels.
//
// A run is JSON: mean, sd and bulk (effective draws) of each parameter, the least bulk, its
// relative standard error (least_error), the largest relative error of an sd (spread_error),
// gradients (calls that drawing took), rows whose gradients were taken to draw, cold (seconds
// before the first draw) and seconds (of drawing), processor time of the calling thread.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_
#define WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_

#include "windhover/tools/data/dataset.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/hmc.h"

namespace windhover::reproduce {

inline constexpr double kMeanBar = 0.1;  // posterior sd
inline constexpr double kSpreadBar = 0.05;

// 10 standard normal features, coefficients N(0, 0.25), y logistic.
Dataset make_rows(std::size_t rows, std::uint64_t seed);

// The library's, a thousand moves of warm-up and `draws` draws. The warm-up is its cold start.
nlohmann::ordered_json run_nuts(const Dataset& data, std::size_t draws, std::uint64_t seed);

nlohmann::ordered_json to_json(const Draws& draws, double cold_seconds, double draw_seconds);

// The relative standard error of the least effective draws of all parameters: from the spread of
// those of that parameter among eight stretches of the chains.
double error_of_effective(const Draws& draws, const Summary& summary);

// An engine with everything at its default but the sampler. Runs until the iterates are worth
// `wanted` draws, or `most` seconds.
nlohmann::ordered_json run_engine(const char* sampler, const Dataset& data, double wanted,
                                  double most, std::uint64_t seed);

// The tutorial's SGLD or, with momentum, SGHMC as its sections 6.5 and 7.7 print them, on the
// potential of all rows, with what section 11.5 recommends for about a thousand: step 1e-3,
// minibatch 32, friction 0.1.
nlohmann::ordered_json run_printed(bool momentum, const Dataset& data, std::size_t steps,
                                   std::uint64_t seed);

// When the default's served posterior begins to stay as near to the truth as the bars ask, with its
// status past warm-up: a run's seconds from the creation of the engine, looked at after every poll
// for kWatchedSeconds; null when it is not so at the end of them. Also how far off it is then: mean
// and ratio as in Bias, and whether it is warming_up.
inline constexpr double kWatchedSeconds = 2;
nlohmann::ordered_json run_served(const Dataset& data, const nlohmann::ordered_json& truth,
                                  std::uint64_t seed);

// Where one method's lead over another passes 1 on its way up: between two sizes on straight lines
// of logarithms. NaN where it does not, and in words what it does. `errors` are relative standard
// errors of the leads.
struct Crossover {
  double rows = std::numeric_limits<double>::quiet_NaN();
  const char* words = "";
  double mcse = std::numeric_limits<double>::quiet_NaN();
};
Crossover crossover_of(const std::vector<std::size_t>& sizes, const std::vector<double>& leads,
                       const std::vector<double>& errors);

// The largest |mean - truth| in sd, and the sd ratio that is furthest from 1.
struct Bias {
  double mean = 0;
  double ratio = 1;
};
Bias bias(const std::vector<double>& mean, const std::vector<double>& sd,
          const nlohmann::ordered_json& truth);

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
// Seconds until what is served is near enough, from all runs of a size; NaN where it never was.
double served_seconds(const CrossoverRun& all);
// The ratio of independent estimates.
Estimate ratio(const Estimate& a, const Estimate& b);

// `results`: all runs of each size, by the method's key.
void add_crossover_panels(Report& report, const std::vector<std::size_t>& sizes,
                          const std::vector<CrossoverRun>& results);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_
