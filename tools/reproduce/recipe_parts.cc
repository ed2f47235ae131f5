#include "windhover/tools/reproduce/recipe_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

using nlohmann::ordered_json;

std::vector<ordered_json> replicated(const Context& context, const std::string& key,
                                     std::size_t replications,
                                     const std::function<ordered_json(std::uint64_t)>& run) {
  const std::size_t shares = std::min<std::size_t>(replications, 8);
  std::vector<ordered_json> runs(replications);
  context.parallel(shares, [&](std::size_t share) {
    const auto done = context.part(fmt::format("{}-{}", key, share), [&] {
      ordered_json list = ordered_json::array();
      for (std::size_t r = share; r < replications; r += shares) {
        list.push_back(run(100'000 * context.seed() + r));
      }
      return list;
    });
    for (std::size_t i = 0; i < done.size(); ++i) runs[share + i * shares] = done[i];
  });
  return runs;
}

namespace {

Estimate mean_over(const std::vector<ordered_json>& runs,
                   const std::function<const ordered_json&(const ordered_json&)>& pick) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const ordered_json& run : runs) {
    const ordered_json& value = pick(run);
    values.push_back(value.is_null() ? NAN : value.get<double>());
  }
  return mean_of(values);
}

}  // namespace

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key) {
  return mean_over(runs,
                   [&](const ordered_json& run) -> const ordered_json& { return run.at(key); });
}

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key, std::size_t index) {
  return mean_over(
      runs, [&](const ordered_json& run) -> const ordered_json& { return run.at(key).at(index); });
}

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

Bar around(double value, double within, const Estimate& simulated) {
  const double margin = within + 3 * simulated.mcse;
  return {std::floor(1000 * (value - margin)) / 1000, std::ceil(1000 * (value + margin)) / 1000};
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
