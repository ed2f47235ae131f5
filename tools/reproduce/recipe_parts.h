// The parts of `complete-recipe`, one file each, and what they share: agreement with exact laws,
// slopes, ratios of paired runs, and sentences that follow the figures.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_

#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

// Each adds its figures, panels and findings.
void add_metric(const Context& context, Report& report);        // Figure 2
void add_mixture(const Context& context, Report& report);       // Figure 5
void add_running_mean(const Context& context, Report& report);  // Figure 6
void add_friction(const Context& context, Report& report);      // Figure 7
void add_conditions(Report& report);                            // section 7.6
void add_bias(const Context& context, Report& report);          // Figure 8
void add_variance(const Context& context, Report& report);      // section 9.2
void add_estimates(const Context& context, Report& report);     // Figure 9
void add_funnel(const Context& context, Report& report);        // Figure 10

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

// The mean of `a` over that of `b`, of runs of the same seeds in the same order: what they have in
// common cancels in the jackknife's error.
Estimate paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

// What a note says of a figure that is more than three standard errors above what it is compared
// with, below it, or neither. An exact figure has no error.
struct Sentences {
  std::string above, below, neither;
};
std::string sentence(const Estimate& figure, double compared_with, const Sentences& sentences);
// "1.05 ± 0.01".
std::string shown(const Estimate& figure);

// Points from `first` to `last` at equal ratios; those rounded; and at equal distances.
std::vector<double> geometric(double first, double last, std::size_t count);
std::vector<std::size_t> geometric_marks(double first, double last, std::size_t count);
std::vector<double> evenly(double first, double distance, std::size_t count);

// The density that histograms of `bins` bins from -reach to reach say, "shares" of each run,
// without so many bins at either end.
Series density(const std::string& label, int colour, const std::vector<ordered_json>& runs,
               double reach, std::size_t bins, std::size_t without = 0);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
