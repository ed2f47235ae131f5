// Samplers by name on a mixture of two Gaussians: tutorial Figure 5.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "windhover/tools/reproduce/density.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr const char* kGroup = "Gaussian mixture (Figure 5)";

// 0.3 N((-1.5, 0), 0.6 I) + 0.7 N((1.5, 0), 0.6 I): the two coordinates are independent, so that
// SGLD, which moves them independently too, has an exact law in one dimension.
constexpr double kLeft = 0.3;
constexpr double kCentre = 1.5;
constexpr double kVariance = 0.6;

// Bins of theta_1, each of whole cells of the grid.
constexpr double kReach = 6;
constexpr std::size_t kBins = 48;
constexpr std::size_t kCells = 480;

double slope(double x) {
  const double right = 1 / (1 + kLeft / (1 - kLeft) * std::exp(-2 * kCentre * x / kVariance));
  return (x - kCentre * (2 * right - 1)) / kVariance;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double cdf(double x) {
  const double sd = std::sqrt(kVariance);
  return kLeft * normal_cdf((x + kCentre) / sd) + (1 - kLeft) * normal_cdf((x - kCentre) / sd);
}

// Shares of the bins.
using Shares = std::vector<double>;

Shares target_shares() {
  Shares shares;
  for (std::size_t b = 0; b < kBins; ++b) {
    const double low = -kReach + 2 * kReach * static_cast<double>(b) / kBins;
    shares.push_back(cdf(low + 2 * kReach / kBins) - cdf(low));
  }
  return shares;
}

double left_of(const Shares& shares) {
  double left = 0;
  for (std::size_t b = 0; b < kBins / 2; ++b) left += shares[b];
  return left;
}

double total_variation(const Shares& shares, const Shares& target) {
  double sum = 0;
  for (std::size_t b = 0; b < kBins; ++b) sum += std::abs(shares[b] - target[b]);
  return 0.5 * sum;
}

// The stationary law of theta <- theta - h slope(theta) + N(0, 2h), on the grid: the transitions'
// left eigenvector. The noise is several cells wide, so the sums are as good as integrals.
Shares sgld_shares(double h) {
  const double width = 2 * kReach / kCells;
  const auto at = [&](std::size_t i) { return -kReach + width * (static_cast<double>(i) + 0.5); };
  MatrixXd system(kCells, kCells);
  for (std::size_t from = 0; from < kCells; ++from) {
    const double mean = at(from) - h * slope(at(from));
    double total = 0;
    for (std::size_t to = 0; to < kCells; ++to) {
      total += system(to, from) = std::exp(-std::pow(at(to) - mean, 2) / (4 * h));
    }
    system.col(from) /= total;
  }
  system -= MatrixXd::Identity(kCells, kCells);
  system.row(0).setOnes();
  const VectorXd mass = system.partialPivLu().solve(VectorXd::Unit(kCells, 0));
  Shares shares(kBins);
  for (std::size_t i = 0; i < kCells; ++i) {
    shares[i * kBins / kCells] += mass[static_cast<Eigen::Index>(i)];
  }
  return shares;
}

struct Method {
  const char* label;
  SamplerConfig config;
  // Draws that leave one mode for the other often enough for the bar, and claim the posterior.
  bool barred;
  bool drawn;  // in the plot
  int colour;
};

// The curvature that samplers are told is that of either mode.
Told told() { return Told::noiseless(MatrixXd::Identity(2, 2) / kVariance); }

std::vector<Method> methods() {
  return {{"sgld", {.name = "sgld"}, true, true, 1},
          {"sgld, step 0.3", {.name = "sgld", .step_size = 0.3}, false, false, 1},
          {"csgld, 1000 moves a cycle, step 0.12",
           {.name = "csgld", .step_size = 0.12, .cycle_steps = 1000},
           false,
           false,
           4},
          {"csgld, 1000 moves a cycle, step 0.5",
           {.name = "csgld", .step_size = 0.5, .cycle_steps = 1000},
           false,
           true,
           4},
          {"sghmc", {.name = "sghmc"}, true, true, 2},
          {"sgnht", {.name = "sgnht"}, true, false, 5},
          {"msgnht", {.name = "msgnht"}, true, false, 5},
          {"santa at temperature 1", {.name = "santa"}, true, false, 3},
          {"psgld", {.name = "psgld"}, false, false, 3},
          {"calibrated (one mode)", {.name = "calibrated"}, false, true, 3}};
}

ordered_json run_chain(const SamplerConfig& config, std::uint64_t steps, std::uint64_t seed) {
  const auto gradient = [](const double* theta, double* g) {
    g[0] = slope(theta[0]);
    g[1] = theta[1] / kVariance;
  };
  Walk walk(config, told(), gradient, Eigen::Vector2d(-kCentre, 0), seed);
  for (std::uint64_t i = 0; i < steps / 10; ++i) walk.step();
  Shares shares(kBins);
  double draws = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (!walk.step()) break;
    if (!walk.is_draw()) continue;
    const double place = (walk.theta()[0] + kReach) * kBins / (2 * kReach);
    shares[static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0))] += 1;
    draws += 1;
  }
  for (double& share : shares) share /= draws;
  return {{"shares", shares}, {"left", left_of(shares)}};
}

Series density(const Method& method, const std::vector<ordered_json>& runs) {
  Series series{
      .label = method.label, .x = {}, .y = {}, .style = Style::kPoints, .colour = method.colour};
  const double width = 2 * kReach / kBins;
  for (std::size_t b = 8; b < kBins - 8; ++b) {
    const Estimate share = mean_of(runs, "shares", b);
    series.x.push_back(-kReach + width * (static_cast<double>(b) + 0.5));
    series.y.push_back(share.value / width);
    series.error.push_back(share.mcse / width);
  }
  return series;
}

// Jackknife over runs: the distance of the mean histogram.
Estimate distance(const std::vector<ordered_json>& runs, const Shares& target) {
  const auto n = static_cast<double>(runs.size());
  Shares all(kBins);
  for (const ordered_json& run : runs) {
    for (std::size_t b = 0; b < kBins; ++b) all[b] += run["shares"][b].get<double>() / n;
  }
  std::vector<double> without;
  for (const ordered_json& run : runs) {
    Shares others = all;
    for (std::size_t b = 0; b < kBins; ++b) {
      others[b] = (n * all[b] - run["shares"][b].get<double>()) / (n - 1);
    }
    without.push_back(total_variation(others, target));
  }
  return {total_variation(all, target), (n - 1) * mean_of(without).mcse};
}

}  // namespace

void add_mixture(const Context& context, Report& report) {
  const Shares target = target_shares();
  const auto steps = context.choose<std::uint64_t>(500'000, 2'000'000);
  Panel panel{.title = "Gaussian mixture (Fig. 5)",
              .x_label = "theta_1",
              .y_label = "density",
              .legend = "top left",
              .y_range = {0, 0.65}};
  Series exact{.label = "exact", .x = {}, .y = {}, .style = Style::kLine, .colour = 6};
  for (int i = 0; i <= 160; ++i) {
    exact.x.push_back(0.05 * i - 4);
    exact.y.push_back((cdf(exact.x.back() + 1e-4) - cdf(exact.x.back() - 1e-4)) / 2e-4);
  }
  panel.series.push_back(exact);
  report.add(Figure{.group = kGroup, .name = "share left of 0, exact", .ours = cdf(0)});
  Agreement agreement;
  ordered_json detail;
  for (const Method& method : methods()) {
    const auto runs =
        replicated(context, fmt::format("mixture-{}", detail.size()),
                   fmt::format("{}, {} steps", settings_text(method.config), steps), 16,
                   [&](std::uint64_t seed) { return run_chain(method.config, steps, seed); });
    const Estimate left = mean_of(runs, "left");
    const Estimate off = distance(runs, target);
    report.add(
        Figure{.group = kGroup,
               .name = fmt::format("{}: share left of 0", method.label),
               .ours = left.value,
               .mcse = left.mcse,
               .bar = method.barred ? std::optional(around(cdf(0), 0.02, left)) : std::nullopt});
    report.add(Figure{.group = kGroup,
                      .name = fmt::format("{}: total variation from the mixture", method.label),
                      .ours = off.value,
                      .mcse = off.mcse});
    if (method.config.name == "sgld") {
      // The computed step: see the sampler's page.
      const double h =
          method.config.step_size > 0 ? method.config.step_size : 0.1 / (1.05 / kVariance);
      const Shares law = sgld_shares(h);
      report.add(Figure{.group = kGroup,
                        .name = fmt::format("{}: the same, of its exact law", method.label),
                        .ours = total_variation(law, target)});
      agreement.add(left, left_of(law));
      for (const std::size_t b : {17U, 20U, 23U, 27U, 30U, 33U}) {
        agreement.add(mean_of(runs, "shares", b), law[b]);
      }
    }
    if (method.drawn) panel.series.push_back(density(method, runs));
    detail[method.label] = {{"left", left.value}, {"distance", off.value}};
  }
  agreement.add_to(report, kGroup);
  report.add(panel);
  // The order of the bias where the potential is not quadratic, from the laws themselves.
  const std::vector<double> h = geometric(0.01, 0.16, 5);
  std::vector<double> bias;
  bias.reserve(h.size());
  for (const double step : h) bias.push_back(total_variation(sgld_shares(step), target));
  report.add(Figure{.group = kGroup,
                    .name = "sgld: slope of its law's total variation over the step, 0.01 to 0.16",
                    .ours = log_slope(h, bias, bias).value,
                    .papers = 1,
                    .papers_source = "Theorem 8.1"});
  report.detail("mixture", detail);
  report.note(fmt::format(
      "Mixture: 0.3 N((-1.5, 0), 0.6 I) + 0.7 N((1.5, 0), 0.6 I), 16 chains of {} moves from the "
      "left mode; every sampler is told the curvature of a mode and takes its computed step unless "
      "another is named. The exact law of `sgld` is the eigenvector of its transitions on a grid. "
      "What moves by the local gradient finds both modes at their weights, as far as its step is "
      "short. `calibrated` assumes one mode: its step is a third of Newton's, and exact for a "
      "quadratic potential only. The modes lie close enough for plain noise to cross; `csgld` has "
      "no more to offer here, and its long step has a long step's bias.",
      steps));
}

}  // namespace windhover::reproduce
