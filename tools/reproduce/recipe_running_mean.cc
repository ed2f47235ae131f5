// Full gradients against minibatches, and the error of a running mean: tutorial Figure 6.
#include <numbers>

#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kMeanGroup = "Running mean (Figure 6)";
constexpr std::uint32_t kMeanBatch = 10;  // of 100 rows
constexpr double kMeanStep = 0.04;
constexpr std::size_t kMeanRuns = 8;

// Called with theta after each move, with full gradients or by minibatches.
using Visit = std::function<void(const Vector2d& theta)>;
void run_mean_chain(const Problem& problem, bool full, std::uint64_t moves, std::uint64_t seed,
                    const Visit& visit) {
  const SamplerConfig config{.name = "sgld", .step_size = kMeanStep};
  if (full) {
    const VectorXd& mode = problem.posterior.mode;
    const MatrixXd precision = problem.n() * problem.posterior.curvature;
    const auto gradient = [&](const double* theta, double* g) {
      Eigen::Map<Vector2d>(g, 2) = precision * (Eigen::Map<const Vector2d>(theta, 2) - mode);
    };
    const Told told{problem.posterior.curvature, MatrixXd::Zero(2, 2), problem.n()};
    Walk walk(config, told, gradient, mode, seed);
    for (std::uint64_t i = 0; i < moves && walk.step(); ++i) visit(walk.theta());
    return;
  }
  KnownChain chain(problem, config, seed);
  for (std::uint64_t i = 0; i < moves; ++i) {
    chain.step();
    visit(chain.theta());
  }
}

// The ellipse of two standard deviations of a Gaussian.
Series two_sd(const std::string& label, const Problem& problem, const MatrixXd& covariance,
              Style style, int colour) {
  return ellipse(label, style, colour, problem.posterior.mode, covariance, 2, 60);
}

struct MeanSpread {
  Estimate simulated;
  double exact = 0;
};

MeanSpread add_spread(const Context& context, Report& report, Panel& panel, Agreement& agreement,
                      bool full) {
  Table table(report, kMeanGroup);
  const Problem problem = recipe_regression(context.seed(), kMeanBatch);
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  const Vector2d mode = problem.posterior.mode;
  const auto moves = context.choose<std::uint64_t>(500'000, 5'000'000);
  const auto runs = replicated(
      context, full ? "spread-full" : "spread-batch",
      fmt::format("step {}, {} moves", kMeanStep, moves), kMeanRuns, [&](std::uint64_t seed) {
        double sum = 0;
        run_mean_chain(problem, full, moves, seed, [&](const Vector2d& theta) {
          sum += (theta - mode).dot(precision * (theta - mode)) / 2 - 1;
        });
        return ordered_json{{"excess", sum / static_cast<double>(moves)}};
      });
  // A batch so large has no noise and stands for all rows.
  const Problem lawful = recipe_regression(context.seed(), full ? 1'000'000'000 : kMeanBatch);
  const MatrixXd covariance = exact_covariance_of(lawful, {.name = "sgld", .step_size = kMeanStep});
  const MeanSpread spread{mean_of(runs, "excess"), excess(problem, covariance)};
  agreement.add(spread.simulated, spread.exact);
  const std::string label = full ? "full gradients" : fmt::format("B = {}", kMeanBatch);
  table.add(fmt::format("{}, step {}: excess variance, exact", label, kMeanStep), spread.exact);
  table.add(fmt::format("{}, step {}: the same, simulated", label, kMeanStep), spread.simulated);
  Series draws = Series::points(label, full ? 0 : 1);
  std::size_t move = 0;
  run_mean_chain(problem, full, 6000, context.seed(), [&](const Vector2d& theta) {
    if (move++ % 20 != 0) return;
    draws.add(theta[0], theta[1]);
  });
  panel.add(draws);
  panel.add(two_sd("", problem, covariance, Style::kDashes, full ? 0 : 1));
  return spread;
}

void add_spreads(const Context& context, Report& report, Agreement& agreement) {
  Panel panel =
      Panel{fmt::format("sgld, h = {}, every 20th of 6000 moves, and 2 sd (Fig. 6a, b)", kMeanStep),
            "theta_1", "theta_2"}
          .below();
  const MeanSpread full = add_spread(context, report, panel, agreement, true);
  const MeanSpread batch = add_spread(context, report, panel, agreement, false);
  const Problem problem = recipe_regression(context.seed(), kMeanBatch);
  panel.add(
      two_sd("posterior (dashes: laws)", problem, problem.posterior.covariance, Style::kLine, 6));
  report.add(panel);
  const Estimate more = batch.simulated - full.simulated;
  report.note(
      "Figure 6 (a, b): the text has full gradients and minibatches of one long-run law, the "
      "caption has minibatches spread wider. Here {} (excess variance of B = {} less that of full "
      "gradients {}, exactly {:.4g}).",
      sentence(
          more, 0,
          {"minibatches spread wider", "minibatches spread less", "no difference can be told"}),
      kMeanBatch, shown(more), batch.exact - full.exact);
}

// The exact root mean square error, after each move, of the average of theta_1 weighted by the
// steps. The chain starts at the mode, so that all means are the mode.
std::vector<double> exact_errors(const Problem& problem, const std::vector<double>& steps) {
  const Told told = told_at_mode(problem);
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

struct MeanSchedule {
  const char* label;
  SamplerConfig config;
  int colour;
};

// The error at the end, and the slope of its logarithm over the last decade of moves.
struct Error {
  Estimate last, slope;
  double exact_last = 0, exact_slope = 0;
};

Error add_mean_schedule(const Context& context, Panel& panel, Agreement& agreement,
                        const MeanSchedule& schedule) {
  const Problem problem = recipe_regression(context.seed(), kMeanBatch);
  const double sd = std::sqrt(problem.posterior.covariance(0, 0));
  const auto moves = context.choose<std::size_t>(20'000, 200'000);
  const auto chains = context.choose<std::size_t>(64, 400);
  const std::vector<std::size_t> marks =
      geometric_marks(static_cast<double>(moves) / 100, static_cast<double>(moves), 9);
  const SamplerConfig& config = schedule.config;
  std::vector<double> steps;
  for (std::size_t t = 0; t < moves; ++t) {
    steps.push_back(config.step_size *
                    std::pow(1 + static_cast<double>(t) / config.step_offset, -config.step_decay));
  }
  const auto run_squares = [&](std::uint64_t seed) {
    KnownChain chain(problem, config, seed);
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
  };
  const auto runs =
      replicated(context, fmt::format("mean-{}", panel.series.size()),
                 fmt::format("{}, {} moves", settings_text(config), moves), chains, run_squares);
  std::vector<double> errors = exact_errors(problem, steps);
  for (double& e : errors) e /= sd;
  Series line = Series::line(schedule.label, schedule.colour);
  for (double t = 10; t <= static_cast<double>(moves); t *= 1.1) {
    line.add(std::floor(t), errors[static_cast<std::size_t>(t) - 1]);
  }
  Series points = Series::points("", schedule.colour);
  for (std::size_t m = 0; m < marks.size(); ++m) {
    const Estimate square = mean_of(runs, "squares", m);
    points.add(static_cast<double>(marks[m]), root(square));
    agreement.add(square, std::pow(errors[marks[m] - 1], 2));
  }
  panel.add(line);
  panel.add(points);
  const std::size_t decade = (marks.size() - 1) / 2;
  const Estimate fall = paired_ratio(values_of(runs, "squares", marks.size() - 1),
                                     values_of(runs, "squares", decade));
  return {
      .last = {points.y.back(), points.error.back()},
      .slope = {0.5 * std::log10(fall.value), 0.5 * fall.mcse / fall.value / std::numbers::ln10},
      .exact_last = errors.back(),
      .exact_slope = std::log10(errors.back() / errors[marks[decade] - 1])};
}

void add_schedules(const Context& context, Report& report, Agreement& agreement) {
  Table table(report, kMeanGroup);
  const MeanSchedule schedules[] = {
      {"constant step 0.04", {.name = "sgld", .step_size = kMeanStep}, 0},
      {"0.04 (1 + t / 100)^-0.6",
       {.name = "sgld", .step_size = kMeanStep, .step_decay = 0.6, .step_offset = 100},
       1}};
  Panel panel = Panel{"Error of the running mean, points simulated (Fig. 6c)", "moves",
                      "root mean square error of theta_1 (sd)"}
                    .log("xy")
                    .below();
  std::vector<Error> errors;
  for (const MeanSchedule& schedule : schedules) {
    const Error e = add_mean_schedule(context, panel, agreement, schedule);
    const auto add = [&](const char* what, double exact, const Estimate& simulated) {
      table.add(fmt::format("{}: {}, exact", schedule.label, what), exact);
      table.add(fmt::format("{}: the same, simulated", schedule.label), simulated);
    };
    add("error at the end (sd)", e.exact_last, e.last);
    add("slope over the last decade of moves", e.exact_slope, e.slope);
    errors.push_back(e);
  }
  report.add(panel);
  const Estimate apart = errors[1].last - errors[0].last;
  report.note(
      "Figure 6 (c) has the running mean of a constant step stall at a floor, and prints no number "
      "for it. For a linear gradient there is none: in the stationary law E theta = E theta - h A "
      "(E theta - mode), so that the mean is the posterior's at every step and batch. Here the "
      "error of the constant step {} over the last decade of moves (slope {}, exactly {:.3g}), and "
      "at the end that of the falling step {}.",
      sentence(errors[0].slope, 0, {"grows", "goes on falling", "neither grows nor falls"}),
      shown(errors[0].slope), errors[0].exact_slope,
      sentence(apart, 0, {"is larger", "is smaller", "cannot be told from it"}));
}

}  // namespace

void add_running_mean(const Context& context, Report& report) {
  Agreement agreement;
  add_spreads(context, report, agreement);
  add_schedules(context, report, agreement);
  agreement.add_to(report, kMeanGroup);
}

}  // namespace windhover::reproduce
