#include "windhover/tools/reproduce/recipe_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

// The jackknife's variance is (n - 1)^2 times that of the mean of independent figures.
Estimate Jackknife::estimate() const {
  return {all, (static_cast<double>(without.size()) - 1) * mean_of(without).mcse};
}

Estimate Jackknife::minus(const Jackknife& other) const {
  Jackknife difference{all - other.all, without};
  for (std::size_t r = 0; r < without.size(); ++r) difference.without[r] -= other.without[r];
  return difference.estimate();
}

Estimate paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  Jackknife ratio{sum_a / sum_b, {}};
  for (std::size_t r = 0; r < a.size(); ++r) {
    ratio.without.push_back((sum_a - a[r]) / (sum_b - b[r]));
  }
  return ratio.estimate();
}

std::vector<double> values_of(const std::vector<nlohmann::ordered_json>& runs, const char* key) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const nlohmann::ordered_json& run : runs) values.push_back(number_from(run.at(key)));
  return values;
}

std::vector<double> values_of(const std::vector<nlohmann::ordered_json>& runs, const char* key,
                              std::size_t index) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const nlohmann::ordered_json& run : runs) {
    values.push_back(number_from(run.at(key).at(index)));
  }
  return values;
}

std::string sentence(const Estimate& figure, double compared_with, const Sentences& sentences) {
  const double off = figure.value - compared_with;
  if (off > 3 * figure.mcse) return sentences.above;
  if (off < -3 * figure.mcse) return sentences.below;
  return sentences.neither;
}

std::string shown(const Estimate& figure) {
  return fmt::format("{:.4g} ± {:.2g}", figure.value, figure.mcse);
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
