// Samplers by name on a mixture of two Gaussians: tutorial Figure 5.
#include <Eigen/LU>
#include <map>
#include <numbers>

#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kMixtureGroup = "Gaussian mixture (Figure 5)";

// 0.3 N((-1.5, 0), 0.6 I) + 0.7 N((1.5, 0), 0.6 I): the two coordinates are independent, so that
// SGLD, which moves them independently too, has an exact law in one dimension.
constexpr double kLeft = 0.3;
constexpr double kCentre = 1.5;
constexpr double kVariance = 0.6;

// Bins of theta_1. Each consists of whole cells of the grid.
constexpr double kMixtureReach = 6;
constexpr std::size_t kMixtureBins = 48;
constexpr std::size_t kCells = 480;

double mixture_slope(double x) {
  const double right = 1 / (1 + kLeft / (1 - kLeft) * std::exp(-2 * kCentre * x / kVariance));
  return (x - kCentre * (2 * right - 1)) / kVariance;
}

void mixture_gradient(const double* theta, double* g) {
  g[0] = mixture_slope(theta[0]);
  g[1] = theta[1] / kVariance;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double cdf(double x) {
  const double sd = std::sqrt(kVariance);
  return kLeft * normal_cdf((x + kCentre) / sd) + (1 - kLeft) * normal_cdf((x - kCentre) / sd);
}

// Shares of the bins.
using MixtureShares = std::vector<double>;

MixtureShares target_shares() {
  MixtureShares shares;
  for (std::size_t b = 0; b < kMixtureBins; ++b) {
    const double low = -kMixtureReach + 2 * kMixtureReach * static_cast<double>(b) / kMixtureBins;
    shares.push_back(cdf(low + 2 * kMixtureReach / kMixtureBins) - cdf(low));
  }
  return shares;
}

double left_of(const MixtureShares& shares) {
  double left = 0;
  for (std::size_t b = 0; b < kMixtureBins / 2; ++b) left += shares[b];
  return left;
}

double total_variation(const MixtureShares& shares, const MixtureShares& target) {
  double sum = 0;
  for (std::size_t b = 0; b < kMixtureBins; ++b) sum += std::abs(shares[b] - target[b]);
  return 0.5 * sum;
}

// The stationary law of theta <- theta - h mixture_slope(theta) + N(0, 2h) on the grid: the left
// eigenvector of the transitions. The noise is several cells wide, so that sums are as exact as
// integrals.
MixtureShares sgld_shares(double h) {
  const double width = 2 * kMixtureReach / kCells;
  const auto at = [&](std::size_t i) {
    return -kMixtureReach + width * (static_cast<double>(i) + 0.5);
  };
  MatrixXd system(kCells, kCells);
  for (std::size_t from = 0; from < kCells; ++from) {
    const double mean = at(from) - h * mixture_slope(at(from));
    double total = 0;
    for (std::size_t to = 0; to < kCells; ++to) {
      total += system(to, from) = std::exp(-std::pow(at(to) - mean, 2) / (4 * h));
    }
    system.col(from) /= total;
  }
  system -= MatrixXd::Identity(kCells, kCells);
  system.row(0).setOnes();
  const VectorXd mass = system.partialPivLu().solve(VectorXd::Unit(kCells, 0));
  MixtureShares shares(kMixtureBins);
  for (std::size_t i = 0; i < kCells; ++i) {
    shares[i * kMixtureBins / kCells] += mass[static_cast<Eigen::Index>(i)];
  }
  return shares;
}

struct MixtureMethod {
  const char* label;
  SamplerConfig config;
  // Set for samplers that change modes often enough for the bar and whose draws claim the
  // posterior.
  bool barred;
  const char* legend;  // of the plot; empty: not drawn
  int colour;
};

// The curvature that samplers are told is that of either mode.
Told told() { return Told::noiseless(MatrixXd::Identity(2, 2) / kVariance); }

constexpr const char* kShortCycles = "csgld, 1000 moves a cycle, step 0.12";
constexpr const char* kLongCycles = "csgld, 1000 moves a cycle, step 0.5";
constexpr const char* kOneMode = "calibrated (one mode)";

std::vector<MixtureMethod> mixture_methods() {
  return {{"sgld", {.name = "sgld"}, true, "sgld", 1},
          {"sgld, step 0.3", {.name = "sgld", .step_size = 0.3}, false, "", 1},
          {kShortCycles, {.name = "csgld", .step_size = 0.12, .cycle_steps = 1000}, false, "", 4},
          {kLongCycles,
           {.name = "csgld", .step_size = 0.5, .cycle_steps = 1000},
           false,
           "csgld, cycles from 0.5",
           4},
          {"sghmc", {.name = "sghmc"}, true, "sghmc", 2},
          {"sgnht", {.name = "sgnht"}, true, "", 5},
          {"msgnht", {.name = "msgnht"}, true, "", 5},
          {"santa at temperature 1", {.name = "santa"}, true, "", 3},
          {"psgld", {.name = "psgld"}, false, "", 3},
          {kOneMode, {.name = "calibrated"}, false, "calibrated (one mode)", 3}};
}

ordered_json run_mixture_chain(const SamplerConfig& config, std::uint64_t steps,
                               std::uint64_t seed) {
  Walk walk(config, told(), mixture_gradient, Eigen::Vector2d(-kCentre, 0), seed);
  for (std::uint64_t i = 0; i < steps / 10; ++i) walk.step();
  MixtureShares shares(kMixtureBins);
  double draws = 0;
  // A change of mode leads from beyond half way to one mode to beyond half way to the other.
  double side = 0;
  double changes = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (!walk.step()) break;
    if (std::abs(walk.theta()[0]) > kCentre / 2) {
      if (side * walk.theta()[0] < 0) changes += 1;
      side = walk.theta()[0];
    }
    if (!walk.is_draw()) continue;
    const double place = (walk.theta()[0] + kMixtureReach) * kMixtureBins / (2 * kMixtureReach);
    shares[static_cast<std::size_t>(std::clamp(place, 0.0, kMixtureBins - 1.0))] += 1;
    draws += 1;
  }
  for (double& share : shares) share /= draws;
  return {{"shares", shares},
          {"left", left_of(shares)},
          {"changes", changes / static_cast<double>(steps)}};
}

// The first moves of one chain, over circles of one and two standard deviations of each mode.
Panel mixture_trajectory(std::uint64_t seed) {
  Panel panel = Panel{"sgld, every 10th of 5000 moves (Fig. 5a)", "theta_1", "theta_2"}
                    .below()
                    .x_in(-4, 4)
                    .y_in(-3, 3);
  Series path = Series::points("chain", 1);
  Walk walk({.name = "sgld"}, told(), mixture_gradient, Eigen::Vector2d(-kCentre, 0), seed);
  add_path(path, walk, 5000, 10);
  panel.add(path);
  for (const double centre : {-kCentre, kCentre}) {
    for (const double deviations : {1.0, 2.0}) {
      panel.add(ellipse(panel.series.size() == 1 ? "1 and 2 sd of a mode" : "", Style::kLine, 6,
                        Eigen::Vector2d(centre, 0), Eigen::Matrix2d::Identity() * kVariance,
                        deviations, 60));
    }
  }
  return panel;
}

// The distance of the mean histogram from the target.
Jackknife distance(const std::vector<ordered_json>& runs, const MixtureShares& target) {
  const auto n = static_cast<double>(runs.size());
  MixtureShares all(kMixtureBins);
  for (const ordered_json& run : runs) {
    for (std::size_t b = 0; b < kMixtureBins; ++b) all[b] += run["shares"][b].get<double>() / n;
  }
  Jackknife off{total_variation(all, target), {}};
  for (const ordered_json& run : runs) {
    MixtureShares others = all;
    for (std::size_t b = 0; b < kMixtureBins; ++b) {
      others[b] = (n * all[b] - run["shares"][b].get<double>()) / (n - 1);
    }
    off.without.push_back(total_variation(others, target));
  }
  return off;
}

std::string against_sgld(const char* name, const Jackknife& off, const Jackknife& sgld) {
  const Estimate difference = off.minus(sgld);
  return fmt::format(" {} is {} (total variation less that of `sgld` {}).", name,
                     sentence(difference, 0,
                              {"further from the mixture", "nearer to the mixture",
                               "as far from the mixture, as far as these runs can tell"}),
                     shown(difference));
}

}  // namespace

void add_mixture(const Context& context, Report& report) {
  Table table(report, kMixtureGroup);
  const MixtureShares target = target_shares();
  const auto steps = context.choose<std::uint64_t>(500'000, 2'000'000);
  Panel panel = Panel{"Marginal of theta_1 (Fig. 5b)", "theta_1", "density"}.below().y_in(0, 0.4);
  panel.add(Series::line("exact", 6).sample(evenly(-4, 0.05, 161), [](double x) {
    return (cdf(x + 1e-4) - cdf(x - 1e-4)) / 2e-4;
  }));
  table.add("share left of 0, exact", cdf(0));
  report.add(mixture_trajectory(context.seed()));
  Agreement agreement;
  ordered_json detail;
  std::map<std::string, Jackknife> distances;
  int barred = 0;
  int within = 0;
  for (const MixtureMethod& method : mixture_methods()) {
    const auto runs = replicated(
        context, fmt::format("mixture-{}", detail.size()),
        fmt::format("{}, {} steps", settings_text(method.config), steps), 16,
        [&](std::uint64_t seed) { return run_mixture_chain(method.config, steps, seed); });
    const Estimate left = mean_of(runs, "left");
    const Jackknife& from_target = distances[method.label] = distance(runs, target);
    const Estimate off = from_target.estimate();
    const Figure share{.group = kMixtureGroup,
                       .name = fmt::format("{}: share left of 0", method.label),
                       .ours = left.value,
                       .mcse = left.mcse,
                       .bar = when(method.barred, around(cdf(0), 0.02, left))};
    report.add(share);
    if (method.barred) ++barred, within += share.met() ? 1 : 0;
    table.add(fmt::format("{}: total variation from the mixture", method.label), off);
    const Estimate changes = mean_of(runs, "changes");
    table.add(fmt::format("{}: moves between changes of mode", method.label),
              {1 / changes.value, changes.mcse / changes.value / changes.value});
    if (method.config.name == "sgld") {
      // The step that the sampler computes; see its page.
      const double h =
          method.config.step_size > 0 ? method.config.step_size : 0.1 / (1.05 / kVariance);
      const MixtureShares law = sgld_shares(h);
      table.add(fmt::format("{}: total variation of its exact law", method.label),
                total_variation(law, target));
      agreement.add(left, left_of(law));
      for (const std::size_t b : {17U, 20U, 23U, 27U, 30U, 33U}) {
        agreement.add(mean_of(runs, "shares", b), law[b]);
      }
    }
    if (*method.legend)
      panel.add(density(method.legend, method.colour, runs, kMixtureReach, kMixtureBins, 8));
    detail[method.label] = {{"left", left.value}, {"distance", off.value}};
  }
  agreement.add_to(report, kMixtureGroup);
  report.add(panel);
  // The order of the bias where the potential is not quadratic, from the laws themselves.
  const std::vector<double> h = geometric(0.01, 0.16, 5);
  std::vector<double> bias;
  bias.reserve(h.size());
  for (const double step : h) bias.push_back(total_variation(sgld_shares(step), target));
  table
      .add("sgld: slope of its law's total variation over the step, 0.01 to 0.16",
           log_slope(h, bias, bias).value)
      .beside(1, "Theorem 8.1");
  report.detail("mixture", detail);
  report.note(
      "Mixture: 0.3 N((-1.5, 0), 0.6 I) + 0.7 N((1.5, 0), 0.6 I), 16 chains of {} moves from the "
      "left mode; every sampler is told the curvature of a mode and takes its computed step unless "
      "another is named. The exact law of `sgld` is the eigenvector of its transitions on a grid. "
      "A change of mode is one from |theta_1| > 0.75 on one side to the other. Of {} samplers that "
      "move by the local gradient and claim the posterior, {} have the weights of the "
      "modes within "
      "their bar.",
      steps, barred, within);
  const Jackknife& sgld = distances.at("sgld");
  report.note(
      std::string("The computed step of `sgld` against others.") +
      against_sgld("`sgld` with step 0.3", distances.at("sgld, step 0.3"), sgld) +
      against_sgld("`csgld` with cycles from 0.12", distances.at(kShortCycles), sgld) +
      against_sgld("`csgld` with cycles from 0.5", distances.at(kLongCycles), sgld) +
      against_sgld("`calibrated`, which is told one mode and exact for a quadratic potential only,",
                   distances.at(kOneMode), sgld));
}

}  // namespace windhover::reproduce
