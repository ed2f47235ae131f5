#include "windhover/tools/reproduce/recipe_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

void Agreement::add(const Estimate& simulated, double exact) {
  const double off = std::abs(simulated.value - exact) / simulated.mcse;
  // What is not a number is not near anything.
  furthest_ = std::isfinite(off) ? std::max(furthest_, off) : INFINITY;
  ++count_;
}

void Agreement::add_to(Report& report, const std::string& group) const {
  report.add(Figure{.group = group,
                    .name = fmt::format("furthest of {} simulated figures from their exact values "
                                        "(standard errors)",
                                        count_),
                    .ours = furthest_,
                    .bar = at_most(4)});
}

Estimate log_slope(const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& error) {
  double total = 0;
  double mean_x = 0;
  double mean_y = 0;
  std::vector<double> weight;
  for (std::size_t i = 0; i < x.size(); ++i) {
    weight.push_back(std::pow(y[i] / error[i], 2));
    total += weight[i];
    mean_x += weight[i] * std::log(x[i]);
    mean_y += weight[i] * std::log(y[i]);
  }
  mean_x /= total;
  mean_y /= total;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(x[i]) - mean_x;
    squares += weight[i] * off * off;
    products += weight[i] * off * (std::log(y[i]) - mean_y);
  }
  return {products / squares, 1 / std::sqrt(squares)};
}

std::vector<double> geometric(double first, double last, std::size_t count) {
  std::vector<double> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(
        first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return points;
}

}  // namespace windhover::reproduce
