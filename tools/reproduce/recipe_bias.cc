// What a constant step and a minibatch cost: tutorial Figures 6 and 8.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"
#include "windhover/tools/reproduce/recipe_regression.h"

namespace windhover::reproduce {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr const char* kBiasGroup = "Bias over step and batch (Figure 8)";
constexpr const char* kMeanGroup = "Running mean (Figure 6)";
constexpr std::size_t kRuns = 8;
constexpr std::uint32_t kBatch = 10;  // of 100 rows

// One chain's excess variance, about the posterior mean.
ordered_json run_chain(const Problem& problem, const SamplerConfig& config, std::uint64_t steps,
                       std::uint64_t seed) {
  RegressionChain chain(problem, config, seed);
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  const VectorXd& mode = problem.posterior.mode;
  for (std::uint64_t i = 0; i < steps / 20; ++i) chain.step();
  double sum = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    chain.step();
    const Eigen::Vector2d off = chain.theta() - mode;
    sum += off.dot(precision * off) / 2 - 1;
  }
  return {{"excess", sum / static_cast<double>(steps)}};
}

struct Sweep {
  const char* label;
  SamplerConfig config;
  std::uint32_t batch;
  std::vector<double> steps;
  int colour;
};

struct Simulated {
  std::vector<double> x, exact, y, error;

  void add_to(Panel& panel, const std::string& label, int colour) const {
    panel.series.push_back(
        {.label = label + ", exact", .x = x, .y = exact, .style = Style::kLine, .colour = colour});
    panel.series.push_back({.label = label + ", simulated",
                            .x = x,
                            .y = y,
                            .error = error,
                            .style = Style::kPoints,
                            .colour = colour});
  }
};

// Simulated and exact at one setting, the chain as long as its step asks for.
void simulate_point(const Context& context, const std::string& key, const Problem& problem,
                    const SamplerConfig& config, double x, Simulated& out, Agreement& agreement) {
  const double moves = context.choose(2e4, 2e5) / config.step_size;
  const auto runs =
      replicated(context, key, fmt::format("{}, {} moves", settings_text(config), moves), kRuns,
                 [&](std::uint64_t seed) {
                   return run_chain(problem, config, static_cast<std::uint64_t>(moves), seed);
                 });
  const Estimate simulated = mean_of(runs, "excess");
  out.x.push_back(x);
  out.exact.push_back(excess(problem, exact_covariance_of(problem, config)));
  out.y.push_back(simulated.value);
  out.error.push_back(simulated.mcse);
  agreement.add(simulated, out.exact.back());
}

// Slopes of what was simulated and of its exact values, with the same weights: errors relative to
// the exact values, so that a point does not weigh more for lying too high.
void add_slopes(Report& report, const std::string& label, const Simulated& s, double papers,
                const char* source) {
  std::vector<double> error;
  std::vector<double> exact_error;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    error.push_back(s.error[i] * s.y[i] / s.exact[i]);
    exact_error.push_back(s.error[i]);
  }
  const Estimate simulated = log_slope(s.x, s.y, error);
  Figure figure{.group = kBiasGroup,
                .name = fmt::format("slope of the bias, {}, simulated", label),
                .ours = simulated.value,
                .mcse = simulated.mcse};
  if (std::isfinite(papers)) figure.papers = papers, figure.papers_source = source;
  report.add(figure);
  report.add(Figure{.group = kBiasGroup,
                    .name = fmt::format("slope of the bias, {}, exact", label),
                    .ours = log_slope(s.x, s.exact, exact_error).value});
}

void add_steps(const Context& context, Report& report, Agreement& agreement) {
  const std::vector<Sweep> sweeps = {
      {"sgld, B = 10", {.name = "sgld"}, kBatch, geometric(0.01, 0.16, 5), 1},
      {"msgld, B = 10", {.name = "msgld"}, kBatch, geometric(0.01, 0.08, 4), 3},
      {"sghmc, a = 0.3, B = 100",
       {.name = "sghmc", .friction = 0.3},
       100,
       geometric(0.05, 0.4, 4),
       2}};
  Panel panel{.title = "Bias over the step (Fig. 8a)",
              .x_label = "step h (the tutorial's eta is h / 100)",
              .y_label = "excess variance",
              .log_x = true,
              .log_y = true,
              .legend = "top left",
              .y_range = {1e-3, 1e4}};
  for (const Sweep& sweep : sweeps) {
    const Problem problem = recipe_regression(context.seed(), sweep.batch);
    Simulated s;
    for (const double step : sweep.steps) {
      SamplerConfig config = sweep.config;
      config.step_size = step;
      simulate_point(context, fmt::format("step-{}-{:.3g}", config.name, step), problem, config,
                     step, s, agreement);
    }
    add_slopes(report, fmt::format("over the step: {}", sweep.label), s, 1, "Figure 8 (a)");
    s.add_to(panel, sweep.label, sweep.colour);
  }
  report.add(panel);
}

void add_batches(const Context& context, Report& report, Agreement& agreement) {
  Panel panel{.title = "Bias over the batch (Fig. 8b), step h = 0.01",
              .x_label = "batch size B",
              .y_label = "excess variance",
              .log_x = true,
              .log_y = true,
              .legend = "bottom left"};
  const SamplerConfig config{.name = "sgld", .step_size = 0.01};
  Simulated s;
  std::vector<double> above_floor;
  for (const std::uint32_t batch : {1U, 2U, 4U, 8U, 16U, 32U}) {
    const Problem problem = recipe_regression(context.seed(), batch);
    simulate_point(context, fmt::format("batch-{}", batch), problem, config, batch, s, agreement);
    // A batch without noise.
    const Problem noiseless = recipe_regression(context.seed(), 1'000'000'000);
    above_floor.push_back(s.exact.back() -
                          excess(noiseless, exact_covariance_of(noiseless, config)));
  }
  add_slopes(report, "over the batch: sgld, h = 0.01", s, -1, "Figure 8 (b)");
  report.add(Figure{.group = kBiasGroup,
                    .name = "the same of the bias above that of full gradients, exact",
                    .ours = log_slope(s.x, above_floor, above_floor).value});
  s.add_to(panel, "sgld", 1);
  panel.series.push_back({.label = "slope -1",
                          .x = {1, 32},
                          .y = {s.exact[0], s.exact[0] / 32},
                          .style = Style::kDashes,
                          .colour = 7});
  report.add(panel);
}

// C (x + c / B) with the C and c for which the largest factor by which it is off the exact bias
// over a grid is least; x is the step, or, for a bias that is proportional to it, 1 and C the
// step's.
struct GridPoint {
  double step, batch, bias;
};
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

void add_collapse(const Context& context, Report& report) {
  Panel panel{.title = "Step times batch noise (Fig. 8c), sgld, exact",
              .x_label = "1 / B",
              .y_label = "excess variance / step",
              .log_x = true,
              .log_y = true,
              .legend = "top left",
              .y_range = {0.1, 1e6}};
  std::vector<GridPoint> grid;
  int colour = 0;
  for (const double step : {0.001, 0.005, 0.02}) {
    Series series{.label = fmt::format("h = {}", step), .x = {}, .y = {}, .colour = colour++};
    for (const std::uint32_t batch : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
      const Problem problem = recipe_regression(context.seed(), batch);
      const double bias =
          excess(problem, exact_covariance_of(problem, {.name = "sgld", .step_size = step}));
      grid.push_back({step, static_cast<double>(batch), bias});
      series.x.push_back(1.0 / batch);
      series.y.push_back(bias / step);
    }
    panel.series.push_back(series);
  }
  const Form sum = best_form(grid, true);
  for (const double step : {0.001, 0.02}) {
    Series line{.label = fmt::format("tutorial's form, h = {}", step),
                .x = geometric(1.0 / 64, 1, 13),
                .y = {},
                .style = Style::kDashes,
                .colour = step < 0.01 ? 0 : 2};
    for (const double x : line.x) line.y.push_back(sum.scale * (step + sum.c * x) / step);
    panel.series.push_back(line);
  }
  report.add(panel);
  report.add(Figure{.group = kBiasGroup,
                    .name = "C (h + c / B), the tutorial's form: off by a factor of, at best C, c",
                    .ours = sum.factor,
                    .papers = 1,
                    .papers_source = "Figure 8 (c), a line"});
  report.add(Figure{.group = kBiasGroup,
                    .name = "C h (1 + c / B): likewise",
                    .ours = best_form(grid, false).factor,
                    .bar = at_most(1.5)});
}

// Root mean square error of the average of theta_1 weighted by the steps, exactly, after each
// move: started at the mode, so that no mean differs from it.
std::vector<double> exact_errors(const Problem& problem, const std::vector<double>& steps) {
  const KnownEstimates told(problem);
  const SpreadNoise spread(problem);
  Matrix2d sigma = Matrix2d::Zero();     // of theta
  Matrix2d together = Matrix2d::Zero();  // of the weighted sum and theta
  Matrix2d sum = Matrix2d::Zero();       // of the weighted sum
  double weight = 0;
  std::vector<double> errors;
  for (const double h : steps) {
    const Matrix2d noise = (told.noise + spread(sigma)) / told.minibatch_size;
    const Matrix2d transition = Matrix2d::Identity() - h * told.curvature;
    const Matrix2d next =
        transition * sigma * transition + h * h * noise + 2 * h / told.n * Matrix2d::Identity();
    sigma = next;
    const Matrix2d moved = together * transition;
    sum += h * (moved + moved.transpose()) + h * h * sigma;
    together = moved + h * sigma;
    weight += h;
    errors.push_back(std::sqrt(sum(0, 0)) / weight);
  }
  return errors;
}

void add_running_mean(const Context& context, Report& report) {
  const Problem problem = recipe_regression(context.seed(), kBatch);
  const double sd = std::sqrt(problem.posterior.covariance(0, 0));
  const auto moves = context.choose<std::size_t>(20'000, 200'000);
  const auto chains = context.choose<std::size_t>(64, 400);
  std::vector<std::size_t> marks;
  for (std::size_t m = 100; m <= moves; m = m * 2 <= moves || m == moves ? m * 2 : moves) {
    marks.push_back(m);
  }
  struct Schedule {
    const char* label;
    SamplerConfig config;
    int colour;
  };
  const Schedule schedules[] = {
      {"constant step 0.04", {.name = "sgld", .step_size = 0.04}, 0},
      {"0.04 (1 + t / 100)^-0.6",
       {.name = "sgld", .step_size = 0.04, .step_decay = 0.6, .step_offset = 100},
       1}};
  Panel panel{.title = "Error of the running mean (Fig. 6c)",
              .x_label = "moves",
              .y_label = "root mean square error of theta_1 (sd)",
              .log_x = true,
              .log_y = true,
              .legend = "bottom left"};
  Agreement agreement;
  for (const Schedule& schedule : schedules) {
    const SamplerConfig& config = schedule.config;
    std::vector<double> steps;
    for (std::size_t t = 0; t < moves; ++t) {
      steps.push_back(config.step_size * std::pow(1 + static_cast<double>(t) / config.step_offset,
                                                  -config.step_decay));
    }
    const auto runs = replicated(
        context, fmt::format("mean-{}", panel.series.size()),
        fmt::format("{}, {} moves", settings_text(config), moves), chains, [&](std::uint64_t seed) {
          RegressionChain chain(problem, config, seed);
          ordered_json squares = ordered_json::array();
          double sum = 0;
          double weight = 0;
          for (std::size_t t = 0; t < moves; ++t) {
            chain.step();
            sum += steps[t] * (chain.theta()[0] - problem.posterior.mode[0]);
            weight += steps[t];
            if (t + 1 == marks[squares.size()]) squares.push_back(std::pow(sum / weight / sd, 2));
          }
          return ordered_json{{"squares", squares}};
        });
    std::vector<double> errors = exact_errors(problem, steps);
    for (double& e : errors) e /= sd;
    Series line{.label = schedule.label + std::string(", exact"),
                .x = {},
                .y = {},
                .style = Style::kLine,
                .colour = schedule.colour};
    double t = 10;
    while (t <= static_cast<double>(moves)) {
      line.x.push_back(std::floor(t));
      line.y.push_back(errors[static_cast<std::size_t>(t) - 1]);
      t *= 1.1;
    }
    Series points{.label = schedule.label + std::string(", simulated"),
                  .x = {},
                  .y = {},
                  .style = Style::kPoints,
                  .colour = schedule.colour};
    for (std::size_t m = 0; m < marks.size(); ++m) {
      const Estimate square = mean_of(runs, "squares", m);
      points.x.push_back(static_cast<double>(marks[m]));
      points.y.push_back(std::sqrt(square.value));
      points.error.push_back(square.mcse / 2 / points.y.back());
      agreement.add(square, std::pow(errors[marks[m] - 1], 2));
    }
    report.add(
        Figure{.group = kMeanGroup,
               .name = fmt::format("{}: error after {} moves (sd), exact", schedule.label, moves),
               .ours = errors.back()});
    report.add(Figure{.group = kMeanGroup,
                      .name = fmt::format("{}: the same, simulated", schedule.label),
                      .ours = points.y.back(),
                      .mcse = points.error.back()});
    const double last = std::log10(errors.back() / errors[errors.size() / 10 - 1]);
    report.add(Figure{.group = kMeanGroup,
                      .name = fmt::format("{}: slope over the last decade, exact", schedule.label),
                      .ours = last});
    panel.series.push_back(line);
    panel.series.push_back(points);
  }
  agreement.add_to(report, kMeanGroup);
  report.add(panel);
}

}  // namespace

void add_bias(const Context& context, Report& report) {
  Agreement agreement;
  add_running_mean(context, report);
  add_steps(context, report, agreement);
  add_batches(context, report, agreement);
  add_collapse(context, report);
  agreement.add_to(report, kBiasGroup);
  report.note(
      "Bias: linear regression, 100 rows, 2 coefficients, minibatches drawn with replacement. "
      "Steps "
      "h multiply the gradient of the mean loss; the tutorial's eta, for the sum, is h / 100. "
      "Excess variance is the mean over directions of variance over posterior variance, less 1. "
      "Exact values take the noise that the spread of theta adds into account.");
  report.note(
      "The slopes are the theory's: 1 in the step, and -1 in the batch as far as the batch's noise "
      "is what matters. The tutorial's sum eta + c / B, which leaves a bias at any step, is not "
      "what holds: the bias of the batch is itself proportional to the step, h (1 + c / B), and "
      "goes to 0 with it, as its own section 6.3 says. `msgld` and `sghmc` take the batch's "
      "noise off: what is left is the step's own.");
  report.note(
      "Figure 6 (c) has the running mean of a constant step stall at a floor. For a linear "
      "gradient there is none: the stationary mean is the posterior's at every step and batch, the "
      "error "
      "goes on falling as the root of the moves, and the falling step is the slower one. What is "
      "biased is "
      "the spread.");
}

}  // namespace windhover::reproduce
