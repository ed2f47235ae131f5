// SGHMC against SGLD on an anisotropic Gaussian, and the effect of friction: tutorial Figure 7.
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kFrictionGroup = "Condition number 100 (Figure 7)";
constexpr double kCondition = 100;  // variances 1 and 100
constexpr std::size_t kFrictionRuns = 16;
constexpr double kRelaxationsABatch = 50;
constexpr std::size_t kWay = 100;  // moves

// The curvature as an engine tells it, which is then the mass; the tutorial's mass is I.
Told curvature_mass() {
  return Told::noiseless(Vector2d(1, 1 / kCondition).asDiagonal().toDenseMatrix());
}

Recursion long_axis(const SamplerConfig& config, const Told& told) {
  return {config, told, 1, 1 / kCondition};
}
void friction_gradient(const double* theta, double* g) {
  g[0] = theta[0];
  g[1] = theta[1] / kCondition;
}
SamplerConfig sghmc(double friction) { return {.name = "sghmc", .friction = friction}; }

// Gives "time" and "squares_time", the autocorrelation times of theta_2 and theta_2^2 from batch
// means about the exact means, and "correlations" at `lags`.
ordered_json run_friction_chain(const SamplerConfig& config, const Told& told, std::size_t batches,
                                const std::vector<std::size_t>& lags, std::uint64_t seed) {
  const Recursion exact = long_axis(config, told);
  const auto length = static_cast<std::size_t>(kRelaxationsABatch * exact.relaxation()) + 1;
  Walk walk(config, told, friction_gradient, Vector2d::Zero(), seed);
  for (std::size_t i = 0; i < length / 2; ++i) walk.step();
  std::vector<double> products(lags.size());
  double mean_square = 0;
  double square_square = 0;
  std::vector<double> path(length);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    double mean = 0;
    double square = 0;
    for (double& x : path) {
      walk.step();
      x = walk.theta()[1];
      mean += x / static_cast<double>(length);
      square += (x * x - exact.variance()) / static_cast<double>(length);
    }
    mean_square += mean * mean;
    square_square += square * square;
    for (std::size_t l = 0; l < lags.size(); ++l) {
      double sum = 0;
      for (std::size_t i = 0; i + lags[l] < length; ++i) sum += path[i] * path[i + lags[l]];
      products[l] += sum / static_cast<double>(length - lags[l]) / exact.variance();
    }
  }
  const auto b = static_cast<double>(batches);
  for (double& p : products) p /= b;
  const double v = exact.variance();
  return {{"time", static_cast<double>(length) * mean_square / b / v},
          {"squares_time", static_cast<double>(length) * square_square / b / (2 * v * v)},
          {"correlations", products}};
}

// The expectation of the estimate from batches of this length; for long ones it is the
// autocorrelation time.
double batch_time(const Recursion& exact, bool squares) {
  const auto length = static_cast<std::size_t>(kRelaxationsABatch * exact.relaxation()) + 1;
  const std::vector<double> rho = exact.correlations(length);
  double sum = 1;
  for (std::size_t k = 1; k < length; ++k) {
    sum += 2 * (1 - static_cast<double>(k) / static_cast<double>(length)) *
           (squares ? rho[k] * rho[k] : rho[k]);
  }
  return sum;
}

struct Curve {
  const char* label;
  SamplerConfig config;
  Told told;
  int colour;
};

// One chain of each sampler over the density's contours. The axes have different scales.
Panel trajectories(std::uint64_t seed) {
  constexpr std::size_t kMoves = 500;
  Panel panel = Panel{fmt::format("{} moves on N(0, diag(1, 100)) (Fig. 7a)", kMoves), "theta_1",
                      "theta_2, the long axis"}
                    .below()
                    .x_in(-4, 4)
                    .y_in(-30, 30);
  const auto add = [&](const char* label, const SamplerConfig& config, int colour) {
    Walk walk(config, Told::unit(), friction_gradient, Vector2d::Zero(), seed);
    Series series = Series::line(label, colour);
    add_path(series, walk, kMoves);
    panel.add(series);
  };
  add("sghmc, mass I, a = 0.1", sghmc(0.1), 2);
  add("sgld", {.name = "sgld"}, 1);
  for (const double deviations : {1.0, 2.0}) {
    panel.add(ellipse(deviations == 1 ? "density, 1 and 2 sd" : "", Style::kLine, 6,
                      Vector2d::Zero(), Vector2d(1, kCondition).asDiagonal().toDenseMatrix(),
                      deviations, 60));
  }
  return panel;
}

void add_correlations(const Context& context, Report& report, Agreement& agreement) {
  Table table(report, kFrictionGroup);
  const std::vector<Curve> curves = {{"sgld", {.name = "sgld"}, Told::unit(), 1},
                                     {"sghmc, mass I, a = 0.1", sghmc(0.1), Told::unit(), 2},
                                     {"sghmc, mass = curvature", sghmc(0.1), curvature_mass(), 0}};
  Panel panel =
      Panel{"Long axis, points simulated (Fig. 7b)", "lag (moves)", "autocorrelation of theta_2"}
          .legend_at("bottom right")
          .x_in(0, 500)
          .y_in(-1.05, 1.05);
  const std::vector<std::size_t> lags = {0, 25, 50, 75, 100, 150, 200, 300, 400, 500};
  std::vector<std::vector<double>> times;  // by seed
  for (const Curve& curve : curves) {
    const Recursion exact = long_axis(curve.config, curve.told);
    const std::vector<double> rho = exact.correlations(501);
    Series line = Series::line(curve.label, curve.colour, {}, rho);
    for (std::size_t k = 0; k < rho.size(); ++k) line.x.push_back(static_cast<double>(k));
    panel.add(line);
    const auto batches = context.choose<std::size_t>(32, 200);
    // Where a chain forgets at once, the batch would be shorter than the lags.
    const double length = kRelaxationsABatch * exact.relaxation();
    std::vector<std::size_t> within;
    for (const std::size_t lag : lags) {
      if (static_cast<double>(lag) < length / 2) within.push_back(lag);
    }
    const auto runs =
        replicated(context, fmt::format("correlation-{}", panel.series.size()),
                   fmt::format("{}, {} batches", settings_text(curve.config), batches),
                   kFrictionRuns, [&](std::uint64_t seed) {
                     return run_friction_chain(curve.config, curve.told, batches, within, seed);
                   });
    Series points = Series::points("", curve.colour);
    for (std::size_t l = 0; l < within.size(); ++l) {
      const Estimate simulated = mean_of(runs, "correlations", l);
      points.add(static_cast<double>(within[l]), simulated);
      agreement.add(simulated, rho[within[l]]);
      if (within[l] != kWay) continue;
      // Theta is stationary: the mean square of a difference is 2 (1 - rho) variances.
      table.add(fmt::format("{}: way along the long axis in {} moves, root mean square (sd), exact",
                            curve.label, kWay),
                std::sqrt(2 * (1 - rho[kWay])));
      table.add(fmt::format("{}: the same, simulated", curve.label),
                root({2 * (1 - simulated.value), 2 * simulated.mcse}));
    }
    panel.add(points);
    const Estimate time = mean_of(runs, "time");
    agreement.add(time, batch_time(exact, false));
    table.add(fmt::format("{}: autocorrelation time of theta_2, exact (moves)", curve.label),
              exact.time());
    table.add(fmt::format("{}: the same, simulated", curve.label), time);
    times.push_back(values_of(runs, "time"));
    if (curve.config.name != "sgld") continue;
    Series faster = Series::dashes("tutorial: 10 times as fast as sgld", 7);
    const std::vector<double> far = exact.correlations(5001);
    for (std::size_t k = 0; k <= 500; k += 5) {
      faster.add(static_cast<double>(k), far[10 * k]);
    }
    panel.add(faster);
  }
  report.add(panel);
  const Recursion sgld = long_axis(curves[0].config, curves[0].told);
  const Recursion momentum = long_axis(curves[1].config, curves[1].told);
  table
      .add(
          "sgld over sghmc (mass I, a = 0.1), autocorrelation time of theta_2, exact by derivation",
          sgld.time() / momentum.time())
      .beside(10, "Figure 7 (b), \"an order of magnitude\"")
      .held_to(at_least(10));
  const Estimate faster = paired_ratio(times[0], times[1]);
  table.add("the same, simulated", faster)
      .beside(10, "Figure 7 (b), \"an order of magnitude\"")
      .held_to(at_least(10));
}

// The friction with the least autocorrelation time of theta^2.
double best_friction(double* time) {
  double best = 0;
  *time = INFINITY;
  for (const double a : geometric(1e-3, 1, 3001)) {
    const double t = long_axis(sghmc(a), Told::unit()).squares_time();
    if (t < *time) *time = t, best = a;
  }
  return best;
}

void add_frictions(const Context& context, Report& report, Agreement& agreement) {
  Table table(report, kFrictionGroup);
  Panel panel = Panel{"Friction, points simulated (Fig. 7c)",
                      "friction a, share of velocity lost a move", "autocorrelation time (moves)"}
                    .log("xy")
                    .below();
  Series theta = Series::line("theta_2", 0);
  Series squares = Series::line("theta_2^2", 2);
  for (const double a : geometric(1e-3, 1, 121)) {
    const Recursion exact = long_axis(sghmc(a), Told::unit());
    theta.add(a, exact.time());
    squares.add(a, exact.squares_time());
  }
  Series points = Series::points("", 0);
  Series square_points = Series::points("", 2);
  for (const double a : {0.01, 0.03, 0.08, 0.2, 0.5, 1.0}) {
    const auto runs =
        replicated(context, fmt::format("friction-{}", a), settings_text(sghmc(a)), kFrictionRuns,
                   [&](std::uint64_t seed) {
                     return run_friction_chain(sghmc(a), Told::unit(),
                                               context.choose<std::size_t>(32, 200), {}, seed);
                   });
    const Recursion exact = long_axis(sghmc(a), Told::unit());
    const Estimate time = mean_of(runs, "time");
    const Estimate square_time = mean_of(runs, "squares_time");
    agreement.add(time, batch_time(exact, false));
    agreement.add(square_time, batch_time(exact, true));
    points.add(a, time);
    square_points.add(a, square_time);
  }
  const double level = long_axis({.name = "sgld"}, Told::unit()).time();
  double least = 0;
  const double best = best_friction(&least);
  // The tutorial's friction C is a / eta with h = eta^2; C = sqrt(M) = 1.
  const double h = 2 * (2 - best) * 0.05 / 1.05;
  const double half = 1 / std::sqrt(kCondition);
  const double k = 0.05 / 1.05;  // h = 2 (2 - a) k, and a = eta
  const double printed = std::sqrt(k * k + 4 * k) - k;
  panel.series = {theta, points, squares, square_points};
  panel.add(Series::dashes("sgld, theta_2", 1, {1e-3, 1}, {level, level}));
  panel.add(Series::dashes("tutorial's rule C = sqrt M", 7, {printed, printed}, {1, 1e4}));
  panel.add(Series::points("tutorial: a tenth of sgld", 1, {printed}, {level / 10}).of_paper());
  report.add(panel);
  table.add("friction C of the least time of theta_2^2 (M = 1)", best / std::sqrt(h))
      .beside(1, "section 7.6, C about sqrt M");
  table.add("half of critical damping, sqrt(M lambda)", half);
  table.add("least time of theta_2^2 (moves)", least);
  const double rules = long_axis(sghmc(printed), Told::unit()).squares_time();
  table.add("time of theta_2^2 at the tutorial's rule (moves)", rules);
  // The simulated friction with the least time. The note compares both ends of the range with it.
  const auto lowest =
      static_cast<std::size_t>(std::ranges::min_element(square_points.y) - square_points.y.begin());
  const auto time_of = [&](std::size_t i) {
    return Estimate{square_points.y[i], square_points.error[i]};
  };
  const auto side = [&](std::size_t i) {
    return fmt::format(
        "{} at a = {} ({})", shown(time_of(i)), square_points.x[i],
        sentence(time_of(i) - time_of(lowest), 0, {"longer", "shorter", "not to be told from it"}));
  };
  report.note(
      "The U of Figure 7 (c) is not the autocorrelation time of theta. Over a long run the "
      "velocities sum to what theta has moved, which is bounded, so that lambda times the sum of "
      "theta is minus that of the injected noise, whose variance is proportional to the friction: "
      "the time of theta is 2 a / (h lambda) but for a factor near 1, exactly {:.3g} moves at a = "
      "{:.3g} and {:.3g} at a = {:.3g}. Energy, and with it theta^2, is what too little friction "
      "does not mix. Its simulated time is shortest at a = {} ({} moves), with {} and {}.",
      theta.y.front(), theta.x.front(), theta.y.back(), theta.x.back(), points.x[lowest],
      shown(time_of(lowest)), side(0), side(points.x.size() - 1));
  report.note(
      "The exact time of theta^2 is least at C = {:.3g}, {:.3g} times sqrt(M lambda), which is "
      "half of critical damping. The tutorial's rule C = sqrt M is that for a curvature of 1: for "
      "the long axis, of curvature {}, it is {:.3g} times the best and makes the time {:.3g} times "
      "as long.",
      best / std::sqrt(h), best / std::sqrt(h) / half, 1 / kCondition, std::sqrt(h) / best,
      rules / least);
}

}  // namespace

void add_friction(const Context& context, Report& report) {
  report.note(
      "Friction: N(0, diag(1, 100)). Exact values come from the law that each sampler says it "
      "moves by, as a recursion in discrete time; simulated ones are batch means of 50 relaxations "
      "about the known mean. All take their computed step, whose bias is 5 % of the variance in "
      "the short direction. \"Mass I\" is the tutorial's SGHMC: the library's, told the curvature "
      "I; its a is eta C and its h is eta^2. Told the curvature itself, as the engine does, it "
      "moves in coordinates in which that is I: the condition number is gone.");
  Agreement agreement;
  report.add(trajectories(context.seed()));
  add_correlations(context, report, agreement);
  add_frictions(context, report, agreement);
  agreement.add_to(report, kFrictionGroup);
}

}  // namespace windhover::reproduce
