// Autocorrelation times over the condition number: tutorial section 7.6.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windhover/tools/reproduce/recipe_parts.h"
#include "windhover/tools/reproduce/recipe_recursion.h"

namespace windhover::reproduce {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;

constexpr const char* kGroup = "Over the condition number (section 7.6)";

// Mass I, as the tutorial has it.
Told unit_mass() { return Told::noiseless(MatrixXd::Identity(2, 2)); }
SamplerConfig sghmc(double friction) { return {.name = "sghmc", .friction = friction}; }

// From the first point on.
Series tutorials_slope(const Series& s, double slope) {
  return {.label = fmt::format("tutorial: slope {}", slope),
          .x = {s.x.front(), s.x.back()},
          .y = {s.y.front(), s.y.front() * std::pow(s.x.back() / s.x.front(), slope)},
          .style = Style::kDashes,
          .colour = 7};
}

}  // namespace

// Times over the condition number, at the bias of 5 % that the computed steps have on the short
// axis.
void add_conditions(Report& report) {
  Panel panel{.title = "Least autocorrelation time, exact",
              .x_label = "condition number",
              .y_label = "time of theta_2^2 (moves)",
              .log_x = true,
              .log_y = true,
              .legend = "outside bottom center horizontal"};
  Series sgld{.label = "sgld", .x = geometric(10, 1e5, 9), .y = {}, .colour = 1};
  Series unit{.label = "sghmc, best friction", .x = sgld.x, .y = {}, .colour = 2};
  Series curved{.label = "sghmc, mass = curvature", .x = sgld.x, .y = {}, .colour = 0};
  for (const double condition : sgld.x) {
    const auto squares = [&](const SamplerConfig& config, const Told& told) {
      return Recursion(config, told, 1, 1 / condition).squares_time();
    };
    sgld.y.push_back(squares({.name = "sgld"}, unit_mass()));
    double least = INFINITY;
    for (const double a : geometric(1e-4, 1, 401))
      least = std::min(least, squares(sghmc(a), unit_mass()));
    unit.y.push_back(least);
    const Told told = Told::noiseless(Vector2d(1, 1 / condition).asDiagonal().toDenseMatrix());
    curved.y.push_back(squares(sghmc(0.1), told));
  }
  const auto slope = [&](const Series& s) { return log_slope(s.x, s.y, s.y).value; };
  report.add(Figure{.group = kGroup,
                    .name = "slope of the time over the condition number: sgld",
                    .ours = slope(sgld),
                    .papers = 1,
                    .papers_source = "section 7.6, O(kappa); 2 in section 5.3"});
  report.add(Figure{.group = kGroup,
                    .name = "the same: sghmc, mass I, best friction",
                    .ours = slope(unit),
                    .papers = 0.5,
                    .papers_source = "section 7.6, O(sqrt kappa)"});
  const Recursion far_sgld({.name = "sgld"}, unit_mass(), 1, 1e-4);
  double least = INFINITY;
  for (const double a : geometric(1e-4, 1, 401)) {
    least = std::min(least, Recursion(sghmc(a), unit_mass(), 1, 1e-4).squares_time());
  }
  report.add(Figure{.group = kGroup,
                    .name = "sgld over sghmc (mass I, best friction) at condition number 10^4",
                    .ours = far_sgld.squares_time() / least,
                    .papers = 100,
                    .papers_source = "section 7.6"});
  panel.series = {sgld, unit, curved};
  panel.series.push_back({.label = "tutorial: sgld / 100",
                          .x = {1e4},
                          .y = {far_sgld.squares_time() / 100},
                          .style = Style::kPoints,
                          .colour = 6,
                          .papers = true});
  panel.series.push_back(tutorials_slope(sgld, 1));
  panel.series.push_back(tutorials_slope(unit, 0.5));
  report.add(panel);
}

}  // namespace windhover::reproduce
