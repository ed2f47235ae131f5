#include "windhover/tools/reproduce/recipe_parts.h"

#include <numeric>

namespace windhover::reproduce {

void Agreement::add(const Estimate& simulated, double exact) {
  const double off = std::abs(simulated.value - exact) / simulated.mcse;
  // What is not a number is not near anything.
  furthest_ = std::isfinite(off) ? std::max(furthest_, off) : INFINITY;
  ++count_;
}

void Agreement::add_to(Report& report, const std::string& group) const {
  Table(report, group)
      .add(fmt::format("furthest of {} simulated figures from their exact values (standard errors)",
                       count_),
           furthest_)
      .held_to(at_most(4));
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

Estimate paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  Jackknife ratio{sum_a / sum_b, {}};
  for (std::size_t r = 0; r < a.size(); ++r) {
    ratio.without.push_back((sum_a - a[r]) / (sum_b - b[r]));
  }
  return ratio.estimate();
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

std::vector<std::size_t> geometric_marks(double first, double last, std::size_t count) {
  std::vector<std::size_t> marks;
  for (const double m : geometric(first, last, count)) {
    marks.push_back(static_cast<std::size_t>(std::lround(m)));
  }
  return marks;
}

std::vector<double> evenly(double first, double distance, std::size_t count) {
  std::vector<double> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(first + distance * static_cast<double>(i));
  }
  return points;
}

Series density(const std::string& label, int colour,
               const std::vector<nlohmann::ordered_json>& runs, double reach, std::size_t bins,
               std::size_t without) {
  Series series = Series::points(label, colour);
  const double width = 2 * reach / static_cast<double>(bins);
  for (std::size_t b = without; b < bins - without; ++b) {
    const Estimate share = mean_of(runs, "shares", b);
    series.add(-reach + width * (static_cast<double>(b) + 0.5),
               {share.value / width, share.mcse / width});
  }
  return series;
}

}  // namespace windhover::reproduce
