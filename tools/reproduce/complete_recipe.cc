// Samplers of one recipe on densities whose laws are known: Rocha 2026, Figures 2 and 5 to 10,
// each in a file of its own.
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {

void run_complete_recipe(const Context& context, Report& report) {
  report.plot().columns = 3;
  report.plot().panel_height = 480;
  context.progress(0.0, "mixture");
  add_mixture(context, report);
  context.progress(0.2, "friction");
  add_friction(context, report);
  add_conditions(report);
  context.progress(0.4, "running mean");
  add_running_mean(context, report);
  context.progress(0.45, "bias");
  add_bias(context, report);
  context.progress(0.7, "variance reduction");
  add_variance(context, report);
  add_estimates(context, report);
  context.progress(0.85, "metrics");
  add_metric(context, report);
  add_funnel(context, report);
  report.note(
      "Bars around an exact value are three standard errors of the run wider than their tolerance. "
      "A run whose standard error exceeds a third of the tolerance cannot tell, and does not meet "
      "its bar. What is \"exact by derivation\" follows from the formulas alone and can fail by an "
      "error in them only; the simulated figure beside it is the measurement. A sentence calls two "
      "figures different where they are more than three standard errors apart.");
}

}  // namespace windhover::reproduce
