// Samplers of one recipe on densities whose laws are known: Rocha 2026. Figures 2 and 5 to 10 have
// a file each; section 7.6, autocorrelation times over the condition number, is here.
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {

namespace {

constexpr const char* kConditionGroup = "Over the condition number (section 7.6)";

SamplerConfig sghmc_with(double friction) { return {.name = "sghmc", .friction = friction}; }

// The tutorial's slope, drawn from the first point on.
Series tutorials_slope(const Series& s, double slope) {
  return Series::dashes(fmt::format("tutorial: slope {}", slope), 7, {s.x.front(), s.x.back()},
                        {s.y.front(), s.y.front() * std::pow(s.x.back() / s.x.front(), slope)});
}

}  // namespace

// Autocorrelation times over the condition number. The computed steps have a bias of 5 % on the
// short axis.
void add_conditions(Report& report) {
  Table table(report, kConditionGroup);
  Panel panel =
      Panel{"Least autocorrelation time, exact", "condition number", "time of theta_2^2 (moves)"}
          .log("xy")
          .below();
  const auto sgld_time = [](double condition) {
    return Recursion({.name = "sgld"}, Told::unit(), 1, 1 / condition).squares_time();
  };
  const auto least_time = [](double condition) {
    double least = INFINITY;
    for (const double a : geometric(1e-4, 1, 401)) {
      least =
          std::min(least, Recursion(sghmc_with(a), Told::unit(), 1, 1 / condition).squares_time());
    }
    return least;
  };
  const auto curved_time = [](double condition) {
    const Told told = Told::noiseless(Vector2d(1, 1 / condition).asDiagonal().toDenseMatrix());
    return Recursion(sghmc_with(0.1), told, 1, 1 / condition).squares_time();
  };
  const std::vector<double> conditions = geometric(10, 1e5, 9);
  const Series sgld = Series::curve("sgld", 1).sample(conditions, sgld_time);
  const Series unit = Series::curve("sghmc, best friction", 2).sample(conditions, least_time);
  const Series curved = Series::curve("sghmc, mass = curvature", 0).sample(conditions, curved_time);
  const auto slope = [&](const Series& s) { return log_slope(s.x, s.y, s.y).value; };
  table.add("slope of the time over the condition number: sgld", slope(sgld))
      .beside(1, "section 7.6, O(kappa); 2 in section 5.3");
  table.add("the same: sghmc, mass I, best friction", slope(unit))
      .beside(0.5, "section 7.6, O(sqrt kappa)");
  const double far = sgld_time(1e4);
  table
      .add("sgld over sghmc (mass I, best friction) at condition number 10^4",
           far / least_time(1e4))
      .beside(100, "section 7.6");
  panel.series = {sgld, unit, curved};
  panel.add(Series::points("tutorial: sgld / 100", 6, {1e4}, {far / 100}).of_paper());
  panel.add(tutorials_slope(sgld, 1));
  panel.add(tutorials_slope(unit, 0.5));
  report.add(panel);
}

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
