// The parts of `complete-recipe`, one file each, and what they share: agreement with exact laws and
// slopes.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_

#include <string>
#include <vector>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/replications.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

// Each adds its figures, panels and findings.
void add_mixture(const Context& context, Report& report);    // Figure 5
void add_friction(const Context& context, Report& report);   // Figure 7
void add_bias(const Context& context, Report& report);       // Figures 6 and 8
void add_variance(const Context& context, Report& report);   // section 9.2
void add_estimates(const Context& context, Report& report);  // Figure 9
void add_metric(const Context& context, Report& report);     // Figures 2 and 10

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

// log y = slope log x + ..., by least squares with the given standard errors of y.
Estimate log_slope(const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& error);

// Points from `first` to `last` at equal ratios.
std::vector<double> geometric(double first, double last, std::size_t count);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
