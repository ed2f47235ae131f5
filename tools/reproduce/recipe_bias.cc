// The bias of a constant step and of minibatches: tutorial Figure 8.
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kBiasGroup = "Bias over step and batch (Figure 8)";
constexpr std::size_t kRuns = 8;
constexpr std::uint32_t kBatch = 10;  // of 100 rows

struct Sweep {
  const char* label;
  SamplerConfig config;
  std::uint32_t batch;
  std::vector<double> steps;
  int colour;
};

struct Simulated {
  std::vector<double> x, exact, y, error;
  std::vector<std::vector<double>> runs;  // of each point, by seed

  void add_to(Panel& panel, const std::string& label, int colour) const {
    panel.add(Series::line(label, colour, x, exact));
    Series points = Series::points("", colour, x, y);
    points.error = error;
    panel.add(points);
  }
};

// The simulated and the exact bias at one setting. The length of the chain follows from its step.
void simulate_point(const Context& context, const std::string& key, const Problem& problem,
                    const SamplerConfig& config, double x, Simulated& out, Agreement& agreement) {
  const double moves = context.choose(2e4, 2e5) / config.step_size;
  const auto runs =
      replicated(context, key, fmt::format("{}, {} moves", settings_text(config), moves), kRuns,
                 [&](std::uint64_t seed) {
                   KnownChain chain(problem, config, seed);
                   const auto whole = static_cast<std::uint64_t>(moves);
                   return run_excess(chain, problem, whole / 20, whole);
                 });
  const Estimate simulated = mean_of(runs, "excess");
  out.x.push_back(x);
  out.runs.push_back(values_of(runs, "excess"));
  out.exact.push_back(excess(problem, exact_covariance_of(problem, config)));
  out.y.push_back(simulated.value);
  out.error.push_back(simulated.mcse);
  agreement.add(simulated, out.exact.back());
}

// Slopes of the simulated biases and of their exact values with the same weights. Errors are
// relative to the exact values, so that a point that is too high by chance does not weigh more.
struct Slopes {
  Estimate simulated;
  double exact = 0;
};
Slopes add_slopes(Report& report, const std::string& label, const Simulated& s, double papers,
                  const char* source) {
  Table table(report, kBiasGroup);
  std::vector<double> error;
  for (std::size_t i = 0; i < s.x.size(); ++i) error.push_back(s.error[i] * s.y[i] / s.exact[i]);
  const Slopes slopes{log_slope(s.x, s.y, error), log_slope(s.x, s.exact, s.error).value};
  table.add(fmt::format("slope of the bias, {}, simulated", label), slopes.simulated)
      .beside(papers, source);
  table.add(fmt::format("slope of the bias, {}, exact", label), slopes.exact);
  return slopes;
}

double exact_bias(const Problem& problem, SamplerConfig config, double step) {
  config.step_size = step;
  return excess(problem, exact_covariance_of(problem, config));
}

// A simulated point of sgld, and its biases by seed.
struct GridPoint {
  double step, batch, bias;
  std::vector<double> runs = {};
};

void add_steps(const Context& context, Report& report, Agreement& agreement,
               std::vector<GridPoint>& grid) {
  Table table(report, kBiasGroup);
  const std::vector<Sweep> sweeps = {
      {"sgld, B = 10", {.name = "sgld"}, kBatch, geometric(0.01, 0.16, 5), 1},
      {"msgld, B = 10", {.name = "msgld"}, kBatch, geometric(0.01, 0.08, 4), 3},
      {"sghmc, a = 0.3, B = 100",
       {.name = "sghmc", .friction = 0.3},
       100,
       geometric(0.05, 0.4, 4),
       2}};
  Panel panel = Panel{"Bias over the step, points simulated (Fig. 8a)",
                      "step h (the tutorial's eta is h / 100)", "excess variance"}
                    .log("xy")
                    .below();
  std::string note = "Slopes of the bias over the step, where the tutorial has 1:";
  for (const Sweep& sweep : sweeps) {
    const Problem problem = recipe_regression(context.seed(), sweep.batch);
    Simulated s;
    for (const double step : sweep.steps) {
      SamplerConfig config = sweep.config;
      config.step_size = step;
      simulate_point(context, fmt::format("step-{}-{:.3g}", config.name, step), problem, config,
                     step, s, agreement);
      if (config.name == "sgld") {
        grid.push_back({step, static_cast<double>(sweep.batch), s.y.back(), s.runs.back()});
      }
    }
    const Slopes slopes =
        add_slopes(report, fmt::format("over the step: {}", sweep.label), s, 1, "Figure 8 (a)");
    const double limit = log_slope({1e-3, 2e-3},
                                   {exact_bias(problem, sweep.config, 1e-3 * sweep.steps[0]),
                                    exact_bias(problem, sweep.config, 2e-3 * sweep.steps[0])},
                                   {1, 1})
                             .value;
    table.add(fmt::format("the same at a thousandth of the shortest step: {}, exact", sweep.label),
              limit);
    note += fmt::format(
        " {}: {}, {} (exactly {:.3f} over these steps, {:.3f} at a thousandth of the shortest);",
        sweep.label, shown(slopes.simulated),
        sentence(slopes.simulated, 1, {"above 1", "below 1", "not to be told from 1"}),
        slopes.exact, limit);
    s.add_to(panel, sweep.label, sweep.colour);
    if (sweep.config.name != "sgld") continue;
    panel.add(Series::dashes("tutorial: slope 1", 7, {s.x.front(), s.x.back()},
                             {s.exact.front(), s.exact.front() * s.x.back() / s.x.front()}));
  }
  note.back() = '.';
  report.note(note);
  // The tutorial's batch.
  const Problem problem = recipe_regression(context.seed(), 64);
  Series line = Series::line("sgld, B = 64", 0, sweeps[0].steps);
  for (const double step : line.x) line.y.push_back(exact_bias(problem, sweeps[0].config, step));
  panel.add(line);
  table
      .add("slope of the bias, over the step: sgld, B = 64, exact",
           log_slope(line.x, line.y, line.y).value)
      .beside(1, "Figure 8 (a)");
  report.add(panel);
}

void add_batches(const Context& context, Report& report, Agreement& agreement,
                 std::vector<GridPoint>& grid) {
  Panel panel = Panel{"Bias over the batch, h = 0.01, points simulated (Fig. 8b)", "batch size B",
                      "excess variance"}
                    .log("xy")
                    .legend_at("bottom left");
  const SamplerConfig config{.name = "sgld", .step_size = 0.01};
  // A batch without noise.
  const double floor =
      exact_bias(recipe_regression(context.seed(), 1'000'000'000), config, config.step_size);
  Simulated s;
  std::vector<double> above_floor;
  for (const std::uint32_t batch : {1U, 2U, 4U, 8U, 16U, 32U}) {
    const Problem problem = recipe_regression(context.seed(), batch);
    simulate_point(context, fmt::format("batch-{}", batch), problem, config, batch, s, agreement);
    grid.push_back({config.step_size, static_cast<double>(batch), s.y.back(), s.runs.back()});
    above_floor.push_back(s.exact.back() - floor);
  }
  const Slopes slopes = add_slopes(report, "over the batch: sgld, h = 0.01", s, -1, "Figure 8 (b)");
  const double above = log_slope(s.x, above_floor, above_floor).value;
  Table(report, kBiasGroup).add("the same of the bias above that of full gradients, exact", above);
  report.note(
      "Over the batch, where the tutorial has -1, the slope is {}, {} (exactly {:.3f}, and {:.3f} "
      "of what is above the bias of full gradients).",
      shown(slopes.simulated),
      sentence(slopes.simulated, -1, {"flatter", "steeper", "not to be told from it"}),
      slopes.exact, above);
  s.add_to(panel, "sgld", 1);
  panel.add(Series::dashes("tutorial: slope -1", 7, {1, 32}, {s.exact[0], s.exact[0] / 32}));
  report.add(panel);
}

// C (x + c / B), with the C and c that minimise the largest factor between it and the bias over a
// grid. x is the step; or 1 for a bias that is proportional to the step, and then C contains the
// step.
struct Form {
  double factor = INFINITY;
  double scale = 0;  // C
  double c = 0;
};
Form best_form(const std::vector<GridPoint>& grid, bool additive) {
  Form best;
  for (const double c : geometric(1e-4, 1e4, 4001)) {
    double low = INFINITY;
    double high = 0;
    for (const GridPoint& p : grid) {
      const double form = additive ? p.step + c / p.batch : p.step * (1 + c / p.batch);
      low = std::min(low, p.bias / form);
      high = std::max(high, p.bias / form);
    }
    const double factor = std::sqrt(high / low);
    if (factor < best.factor) best = {factor, std::sqrt(high * low), c};
  }
  return best;
}

// Every point has the same seeds: the jackknife leaves a seed out of all points.
Jackknife simulated_factor(const std::vector<GridPoint>& grid, bool additive) {
  Jackknife factor{best_form(grid, additive).factor, {}};
  for (std::size_t r = 0; r < kRuns; ++r) {
    std::vector<GridPoint> rest = grid;
    for (GridPoint& p : rest) p.bias = (kRuns * p.bias - p.runs[r]) / (kRuns - 1);
    factor.without.push_back(best_form(rest, additive).factor);
  }
  return factor;
}

void add_collapse(const Context& context, Report& report, const std::vector<GridPoint>& simulated) {
  Table table(report, kBiasGroup);
  std::vector<GridPoint> grid;
  for (const double step : {0.001, 0.005, 0.02}) {
    for (const std::uint32_t batch : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
      const Problem problem = recipe_regression(context.seed(), batch);
      grid.push_back(
          {step, static_cast<double>(batch), exact_bias(problem, {.name = "sgld"}, step)});
    }
  }
  const Form sum = best_form(grid, true);
  const Form product = best_form(grid, false);
  Panel panel = Panel{"Bias over the tutorial's h + c / B (Fig. 8c), sgld",
                      fmt::format("h + c / B, c = {:.2g}", sum.c), "excess variance"}
                    .log("xy")
                    .below();
  int colour = 0;
  for (const double step : {0.001, 0.005, 0.02}) {
    Series series = Series::curve(fmt::format("h = {}", step), colour++);
    for (const GridPoint& p : grid) {
      if (p.step != step) continue;
      series.add(step + sum.c / p.batch, p.bias);
    }
    panel.add(series);
  }
  Series points = Series::points("simulated points", 3);
  for (const GridPoint& p : simulated) {
    points.add(p.step + sum.c / p.batch, {p.bias, mean_of(p.runs).mcse});
  }
  panel.add(points);
  const std::vector<double> ends = {0.001 + sum.c / 64, 0.02 + sum.c};
  panel.add(
      Series::dashes("tutorial: a line", 7, ends, {sum.scale * ends[0], sum.scale * ends[1]}));
  report.add(panel);
  const Jackknife additive = simulated_factor(simulated, true);
  const Jackknife proportional = simulated_factor(simulated, false);
  const Estimate sum_factor = additive.estimate();
  const Estimate product_factor = proportional.estimate();
  table
      .add(
          "C (h + c / B), the tutorial's form: off by a factor of, at best C, c, exact by "
          "derivation",
          sum.factor)
      .beside(1, "Figure 8 (c), a line");
  table.add("the same of the simulated points", sum_factor).beside(1, "Figure 8 (c), a line");
  table.add("C h (1 + c / B): likewise, exact by derivation", product.factor).held_to(at_most(1.5));
  table.add("the same of the simulated points", product_factor).held_to(at_most(1.5), 0.5);
  report.note(
      "Per move a batch adds noise of h^2 V / B to the 2 h / n that is injected, so that its share "
      "of the variance is itself proportional to the step: h (1 + c / B), which goes to 0 with h, "
      "as section 6.3 of the tutorial has it, and not h + c / B, which does not. Of the simulated "
      "points the form that is further off is {} (factor {} for the sum, {} for the product).",
      sentence(additive.minus(proportional), 0,
               {"the tutorial's sum", "the product", "neither, by more than chance"}),
      shown(sum_factor), shown(product_factor));
}

}  // namespace

void add_bias(const Context& context, Report& report) {
  Agreement agreement;
  report.note(
      "Bias: linear regression, 100 rows, 2 coefficients, minibatches drawn with replacement where "
      "the tutorial adds Gaussian noise. Steps h multiply the gradient of the mean loss; the "
      "tutorial's eta, for the sum, is h / 100. Excess variance is the mean over directions of "
      "variance over posterior variance, less 1. Exact values take the noise that the spread of "
      "theta adds into account.");
  std::vector<GridPoint> grid;
  add_steps(context, report, agreement, grid);
  add_batches(context, report, agreement, grid);
  add_collapse(context, report, grid);
  agreement.add_to(report, kBiasGroup);
}

}  // namespace windhover::reproduce
