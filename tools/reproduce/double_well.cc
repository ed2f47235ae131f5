// Santa on a double well, beside RMSprop: Chen et al. 2016, Figure 1.
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {
namespace {

constexpr double kStart = 4.0;
constexpr double kLocal = 2.2236635;
constexpr double kGlobal = -2.9353581;
constexpr double kBarrier = -0.0383053;  // the maximum between them
constexpr double kFarAway = 6;           // beyond both basins
constexpr std::uint64_t kSeeds = 100;
constexpr int kTrajectoryColours[] = {0, 5, 2};  // of the trajectories drawn

double potential(double x) { return (x + 4) * (x + 1) * (x - 1) * (x - 3) / 14 + 0.5; }
double slope(double x) { return (4 * x * x * x + 3 * x * x - 26 * x - 1) / 14; }

// eta of the algorithm at move t = 1, 2, ...
using StepSize = double (*)(double t);
constexpr StepSize kPrintedRate = [](double t) { return std::pow(t, -0.3) / 10; };

struct Schedule {
  std::string key;
  std::string name;
  StepSize step;
  SamplerConfig sampler;
  std::uint64_t moves;
};

SamplerConfig santa(std::uint64_t moves) {
  return {.name = "santa", .temperature = 0, .exploration_steps = moves / 2};
}

// beta = t^2. The paper's learning rate h is read as eta, or as sqrt(eta), which h is in its
// derivation.
Schedule printed(bool squared, double floor) {
  constexpr std::uint64_t kMoves = 10'000;
  SamplerConfig sampler = santa(kMoves);
  sampler.initial_temperature = 1;
  sampler.annealing_steps = 1;
  sampler.annealing_exponent = 2;
  sampler.preconditioner_floor = floor;
  const StepSize square = [](double t) { return std::pow(t, -0.6) / 100; };
  const StepSize step = squared ? square : kPrintedRate;
  sampler.friction = std::sqrt(step(1));  // C = 1
  return {fmt::format("printed-{}-{}", squared ? "squared" : "rate", floor),
          fmt::format("as printed, eta = {}, floor {}", squared ? "h^2" : "h", floor), step,
          sampler, kMoves};
}

// Slow enough to cross the barrier of 2.2 from either side until the temperature is about 0.4.
// There the chain is in the global minimum, deeper by 2.1, with probability above 0.99.
Schedule stated() {
  constexpr std::uint64_t kMoves = 50'000;
  SamplerConfig sampler = santa(kMoves);
  sampler.initial_temperature = 1;
  sampler.annealing_steps = 5'000;
  sampler.preconditioner_floor = 0.01;
  sampler.friction = 0.2;
  return {"stated", "a stated schedule", [](double) { return 0.03; }, sampler, kMoves};
}

// `step(move)` makes a move and returns theta. Gives points for a plot against the logarithm of the
// move.
ordered_json walked(std::uint64_t moves, double start,
                    const std::function<double(std::uint64_t)>& step) {
  std::vector<double> x = {1};
  std::vector<double> y = {start};
  double theta = start;
  std::uint64_t next = 1;
  for (std::uint64_t move = 0; move < moves; ++move) {
    theta = step(move);
    if (move + 1 < next) continue;
    x.push_back(static_cast<double>(move) + 2);
    y.push_back(theta);
    next += next / 64 + 1;
  }
  return {{"end", theta}, {"move", x}, {"theta", y}};
}

// The step is changed only once it should be 1 % shorter.
ordered_json walked_santa(const Schedule& schedule, std::uint64_t seed) {
  // Almost no curvature, so that V begins at about 0, as in the paper.
  const Told told = Told::noiseless(MatrixXd::Constant(1, 1, 1e-12));
  SamplerConfig config = schedule.sampler;
  config.step_size = schedule.step(1);
  std::optional<OwnedSampler> sampler(std::in_place, config, told);
  Walk walk(
      config, told, [](const double* x, double* g) { *g = slope(*x); },
      VectorXd::Constant(1, kStart), seed);
  return walked(schedule.moves, kStart, [&](std::uint64_t move) {
    const double step = schedule.step(static_cast<double>(move) + 1);
    if (step < 0.99 * config.step_size) {
      config.step_size = step;
      sampler.emplace(config, told);
    }
    // Once theta is not finite it stays so.
    static_cast<void>(walk.step(*sampler));
    return walk.theta()[0];
  });
}

// Tieleman and Hinton 2012, with the paper's h_t.
ordered_json walked_rmsprop(std::uint64_t moves, StepSize step) {
  double theta = kStart;
  double square = 0;
  return walked(moves, kStart, [&](std::uint64_t move) {
    const double g = slope(theta);
    square = 0.99 * square + 0.01 * g * g;
    theta -= step(static_cast<double>(move) + 1) * g / std::sqrt(1e-5 + square);
    return theta;
  });
}

// Every curve is wholly in the frame. A curve far beyond the basins gets an axis of asinh(theta),
// which is linear near 0 and logarithmic on both sides.
void frame(Panel& panel) {
  double furthest = 0;
  for (const Series& series : panel.series) {
    for (const double y : series.y) {
      if (std::isfinite(y)) furthest = std::max(furthest, std::abs(y));
    }
  }
  if (furthest < 12) {
    panel.y_range = {std::min(-5.0, -furthest), std::max(7.0, furthest)};
    return;
  }
  panel.y_range = {-std::asinh(1.5 * furthest), std::asinh(1.5 * furthest)};
  for (Series& series : panel.series) {
    for (double& y : series.y) y = std::asinh(y);
  }
  panel.y_label = "theta (scale of asinh)";
  for (double tic = 1; tic <= furthest; tic *= furthest > 1000 ? 10 : 3) {
    for (const double y : {-tic, tic}) {
      panel.y_tics.push_back(std::asinh(y));
      panel.y_tic_names.push_back(fmt::format("{:g}", y));
    }
  }
}

Series trajectory(const ordered_json& run, const std::string& label, int colour) {
  return Series::line(label, colour, run.at("move").get<std::vector<double>>(),
                      run.at("theta").get<std::vector<double>>());
}

void add_potential(Report& report) {
  Series curve = Series::line("U(theta)", 6);
  for (int i = -90; i <= 84; ++i) {
    const double x = 0.05 * i;
    curve.add(x, potential(x));
  }
  Panel panel{.title = "The potential",
              .x_label = "theta",
              .y_label = "U",
              .series = {curve},
              .legend = "top center"};
  panel.add(Series::points("the start", 1, {kStart}, {potential(kStart)}));
  panel.add(
      Series::points("minima", 2, {kGlobal, kLocal}, {potential(kGlobal), potential(kLocal)}));
  report.add(panel);
}

// The numbers of kSeeds chains that end in the global basin, in the local one, and in neither.
struct Ends {
  double global = 0;
  double local = 0;
  double away = 0;
};

std::string in_words(const Ends& ends) {
  return fmt::format("{} / {} / {}", ends.global, ends.local, ends.away);
}

Ends count_ends(const std::vector<ordered_json>& runs) {
  Ends ends;
  for (const double theta : values_of(runs, "end")) {
    if (!(std::abs(theta) < kFarAway)) {
      ends.away += 1;
    } else {
      (theta < kBarrier ? ends.global : ends.local) += 1;
    }
  }
  return ends;
}

Ends add_schedule(const Context& context, Report& report, const Schedule& schedule, bool barred) {
  context.progress(barred ? 0.6 : 0.1, schedule.name);
  const auto runs = replicated(
      context, schedule.key, fmt::format("{}, {} moves", schedule.name, schedule.moves), kSeeds,
      [&](std::uint64_t seed) { return walked_santa(schedule, seed); }, 1000);
  const Ends ends = count_ends(runs);
  // By the rule of succession, so that 0 of 100 has an error, too.
  const auto error = [](double count) {
    const double p = (count + 1) / (kSeeds + 2);
    return std::sqrt(kSeeds * p * (1 - p));
  };
  Table table(report, fmt::format("Santa, {}, {} moves", schedule.name, schedule.moves));
  table.add("ends in the global basin (of 100 seeds)", {ends.global, error(ends.global)})
      .held_to(when(barred, at_least(95)));
  table.add("ends in the local basin", {ends.local, error(ends.local)});
  table.add("ends in neither, further than 6 from 0", {ends.away, error(ends.away)});

  const auto rmsprop = walked_rmsprop(schedule.moves, kPrintedRate);
  Panel panel =
      Panel{fmt::format("Santa, {}", schedule.name), "moves (gradients)", "theta"}.log("x").below();
  panel.add(Series::dashes("the paper's end", 7, {1, static_cast<double>(schedule.moves)},
                           {kGlobal, kGlobal}));
  panel.add(trajectory(rmsprop, "RMSprop", 1));
  for (std::size_t seed = 0; seed < std::size(kTrajectoryColours); ++seed) {
    panel.add(trajectory(runs[seed], fmt::format("seed {}", seed), kTrajectoryColours[seed]));
  }
  frame(panel);
  report.add(panel);
  table.add("RMSprop at the same budget: theta", rmsprop.at("end").get<double>());
  report.detail(schedule.key, values_of(runs, "end"));
  return ends;
}

}  // namespace

void run_double_well(const Context& context, Report& report) {
  add_potential(report);
  std::string printed_ends;
  for (const bool squared : {false, true}) {
    for (const double floor : {1e-5, 1e-2}) {
      const Ends ends = add_schedule(context, report, printed(squared, floor), false);
      printed_ends +=
          fmt::format("{}{} with eta = {} and floor {}", printed_ends.empty() ? "" : ", ",
                      in_words(ends), squared ? "h^2" : "h", floor);
    }
  }
  const Ends ends = add_schedule(context, report, stated(), true);
  report.note(
      "U = (theta + 4)(theta + 1)(theta - 1)(theta - 3) / 14 + 0.5 has its minima at -2.935 and "
      "2.224 and a maximum between them at -0.038; all start at 4, beside the local one. RMSprop "
      "has smoothing 0.99, floor 1e-5 and the paper's h_t; in the paper it ends in the local "
      "minimum.");
  report.note(
      "In the paper's Figure 1 Santa ends in the global basin. With its schedule (h = t^-0.3 / 10, "
      "beta = t^2, half of the moves exploring) there end, of {} seeds in the global basin, the "
      "local one and neither: {}. The temperature t^-2 is below 0.01 after ten moves, and the "
      "barrier is {:.1f} high from the local minimum. The paper says neither how many moves it "
      "makes nor floor, smoothing and C; here they are 10,000, two floors, 0.99 and 1, and h is "
      "read as eta or as sqrt(eta).",
      kSeeds, printed_ends, potential(kBarrier) - potential(kLocal));
  report.note(
      "The stated schedule: eta = 0.03, beta = 1 + t / 5000, floor 0.01, friction 0.2 to begin "
      "with, 25,000 moves exploring and 25,000 refining, as sampler `santa` with "
      "`initial_temperature` 1, `temperature` 0, `annealing_steps` 5000. It ends: {}.",
      in_words(ends));
}

}  // namespace windhover::reproduce
