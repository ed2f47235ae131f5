// Rows, runs and figures for the crossover of NUTS and minibatch samplers.
//
// A run is JSON: mean, sd and bulk (effective draws) of each parameter; least, the smallest bulk,
// with its relative standard error least_error; spread_error, the largest relative error of an sd;
// gradients and rows, the gradient calls and the single rows' gradients that drawing took; cold,
// seconds before the first draw; and seconds of drawing. Both times are processor time of the
// calling thread.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_
#define WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_

#include "windhover/tools/data/dataset.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/hmc.h"

namespace windhover::reproduce {

inline constexpr double kMeanBar = 0.1;  // posterior sd
inline constexpr double kSpreadBar = 0.05;

// 10 standard normal features, coefficients N(0, 0.25), y Bernoulli with a logistic link.
Dataset make_rows(std::size_t rows, std::uint64_t seed);

// The library's NUTS with 1000 moves of warm-up, which count as its cold start, and `draws` draws.
nlohmann::ordered_json run_nuts(const Dataset& data, std::size_t draws, std::uint64_t seed);

nlohmann::ordered_json to_json(const Draws& draws, double cold_seconds, double draw_seconds);

// The relative standard error of the smallest number of effective draws over all parameters: from
// the spread of that parameter's effective draws among eight stretches of the chains.
double error_of_effective(const Draws& draws, const Summary& summary);

// An engine with prior N(0, 1), no intercept, and the defaults of engine and sampler otherwise.
// Runs until the iterates are worth `wanted` effective draws or `most` seconds of drawing have
// passed.
nlohmann::ordered_json run_engine(const char* sampler, const Dataset& data, double wanted,
                                  double most, std::uint64_t seed);

// The tutorial's SGLD or, with momentum, SGHMC as sections 6.5 and 7.7 print them, on the potential
// of all rows. Step 1e-3, minibatch 32 and friction 0.1, as section 11.5 recommends for about a
// thousand rows. The first fifth of the steps is burn-in, and every fourth later iterate counts.
nlohmann::ordered_json run_printed(bool momentum, const Dataset& data, std::size_t steps,
                                   std::uint64_t seed);

// "seconds": how long after the creation of the engine the default's served posterior begins to
// meet kMeanBar and kSpreadBar, past warm-up, and stays so. It is read after every poll for
// kWatchedSeconds; null when the bars are not met at the end of them. "mean" and "ratio" (Bias) and
// "warming_up" are those at the end.
inline constexpr double kWatchedSeconds = 2;
nlohmann::ordered_json run_served(const Dataset& data, const nlohmann::ordered_json& truth,
                                  std::uint64_t seed);

// The number of rows at which one method's lead over another first passes 1, interpolated between
// two sizes linearly in logarithms. NaN where it does not, and `words` says what it does. `errors`
// are relative standard errors of the leads.
struct Crossover {
  double rows = std::numeric_limits<double>::quiet_NaN();
  const char* words = "";
  double mcse = std::numeric_limits<double>::quiet_NaN();
};
Crossover crossover_of(const std::vector<std::size_t>& sizes, const std::vector<double>& leads,
                       const std::vector<double>& errors);

// The largest |mean - truth| in sd of the truth, and the sd ratio that is furthest from 1.
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
  const char* key;  // the library's name of a sampler
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

// |mean - truth| of the worst parameter in sd of the truth, with the standard error that the
// effective draws of both leave. mean_off_wide() is for runs whose sd is larger than the truth's.
Estimate mean_off(const CrossoverRun& run, const CrossoverRun& truth);
Estimate mean_off_wide(const CrossoverRun& run, const CrossoverRun& truth);
// The sd over the truth's that is furthest from 1.
Estimate sd_ratio(const CrossoverRun& run, const CrossoverRun& truth);

// Effective draws per second; and seconds to kWanted of them, cold start included. Their errors
// count those of the effective draws alone, not of the clock.
Estimate rate(const CrossoverRun& run);
Estimate time_to_draws(const CrossoverRun& run);
// `what` ("rows" or "gradients") per effective draw, in multiples of `unit`.
Estimate a_draw(const CrossoverRun& run, const char* what, double unit);
// Seconds until what is served is near enough, from all runs of a size; NaN where it never was.
double served_seconds(const CrossoverRun& all);
// The ratio a / b of independent estimates.
Estimate ratio(const Estimate& a, const Estimate& b);

// `results`: for each size, all runs by the method's key.
void add_crossover_panels(Report& report, const std::vector<std::size_t>& sizes,
                          const std::vector<CrossoverRun>& results);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CROSSOVER_H_
