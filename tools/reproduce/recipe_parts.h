// The parts of `complete-recipe`, one file each, and what they share: independent runs, agreement
// with exact laws, slopes.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

// Each adds its figures, panels and findings.
void add_mixture(const Context& context, Report& report);    // Figure 5
void add_friction(const Context& context, Report& report);   // Figure 7
void add_bias(const Context& context, Report& report);       // Figures 6 and 8
void add_variance(const Context& context, Report& report);   // section 9.2
void add_estimates(const Context& context, Report& report);  // Figure 9
void add_metric(const Context& context, Report& report);     // Figures 2 and 10

// `run(seed)` that many times, on all threads and in parts.
std::vector<nlohmann::ordered_json> replicated(
    const Context& context, const std::string& key, std::size_t replications,
    const std::function<nlohmann::ordered_json(std::uint64_t seed)>& run);

// Mean of a number, or of one of a list of numbers, over independent runs.
Estimate mean_of(const std::vector<nlohmann::ordered_json>& runs, const char* key);
Estimate mean_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                 std::size_t index);

// How far simulated figures of one part are from their exact values.
class Agreement {
 public:
  void add(const Estimate& simulated, double exact);
  // The furthest of them, in standard errors, held to 4.
  void add_to(Report& report, const std::string& group) const;

 private:
  double furthest_ = 0;
  int count_ = 0;
};

// `value`, give or take `within` and three standard errors; in round numbers.
Bar around(double value, double within, const Estimate& simulated);

// log y = slope log x + ..., by least squares with the given standard errors of y.
Estimate log_slope(const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& error);

// Points from `first` to `last` at equal ratios.
std::vector<double> geometric(double first, double last, std::size_t count);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
