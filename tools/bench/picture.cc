// Draws the result of a suite.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "windhover/tools/bench/suite.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/plot.h"

namespace windhover {

namespace {

using reproduce::Panel;
using reproduce::Plot;
using reproduce::Series;
using reproduce::Style;

double number(const Json& run, const char* key) {
  return run.contains(key) && run[key].is_number() ? run[key].get<double>() : NAN;
}

struct Percentile {
  const char* key;
  const char* name;
};
constexpr std::array kPercentiles = {Percentile{"p50_us", "50"},      Percentile{"p90_us", "90"},
                                     Percentile{"p99_us", "99"},      Percentile{"p999_us", "99.9"},
                                     Percentile{"p9999_us", "99.99"}, Percentile{"max_us", "max"}};

// A curve for each condition over the percentiles that any condition resolves, of latencies from
// the moment a question was due. A curve skips percentiles that its condition does not resolve.
Plot latencies(const Json& result) {
  Panel panel = Panel{fmt::format("{} draws, {} questions a second but where said, open loop",
                                  result.at("draws").dump(), number(result, "query_rate")),
                      "percentile", "latency, µs"}
                    .log("y")
                    .legend_at("outside right")
                    .level();
  const Json& runs = result.at("runs");
  for (const Json& run : runs) {
    panel.add(Series::curve(run.at("name"), static_cast<int>(panel.series.size())));
  }
  for (const auto& [key, name] : kPercentiles) {
    const double x = static_cast<double>(panel.categories.size());
    bool any = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double y = number(runs[i].at("latency"), key);
      if (!std::isfinite(y)) continue;
      any = true;
      panel.series[i].add(x, y);
    }
    if (any) panel.categories.emplace_back(name);
  }
  return {.title = "Latency of a prediction",
          .columns = 1,
          .panels = {std::move(panel)},
          .panel_width = 1160,
          .panel_height = 480};
}

// A curve of `y` over `x` through the runs whose names begin with `prefix`.
Series series_of(const Json& result, const std::string& prefix, const char* x, const char* y,
                 const std::string& label, int colour) {
  Series series = Series::curve(label, colour);
  for (const Json& run : result.at("runs")) {
    if (run.at("name").get<std::string>().rfind(prefix, 0) != 0) continue;
    series.add(number(run, x), number(run, y));
  }
  return series;
}

// A line through the last point of `series` that grows as D to the `power`.
Series slope(const Series& series, double power) {
  Series line =
      Series::dashes(power == 1 ? "in proportion to D" : "in proportion to D²", series.colour);
  return line.sample(
      series.x, [&](double x) { return series.y.back() * std::pow(x / series.x.back(), power); });
}

Plot growth(const Json& result) {
  Panel stream = Panel{"Over the length of the stream, D = 10", "observations so far",
                       "processor time an observation, ns"}
                     .log("x")
                     .legend_at("bottom right");
  stream.add(
      series_of(result, "stream", "observations", "ns_per_observation", "ingest and learning", 0));
  double most = 0;
  for (const double y : stream.series[0].y) most = std::max(most, y);
  stream.y_range = {0, 1.25 * most};
  Panel moves =
      Panel{"Over D: a move of a chain, 100 rows", "parameters D", "µs"}.log("xy").below();
  const Series diagonal =
      series_of(result, "move sgd-d", "dimension", "move_us", "diagonal (sgd-d), whole move", 1);
  const Series full = series_of(result, "move calibrated", "dimension", "beside_gradient_us",
                                "full (calibrated), beside the gradient", 0);
  moves.series = {diagonal, slope(diagonal, 1), full, slope(full, 2)};
  Panel engines = Panel{"Over D: an observation, learned from", "parameters D",
                        "processor time an observation, µs"}
                      .log("xy")
                      .below();
  const Series light = series_of(result, "engine diagonal", "dimension", "us_per_observation",
                                 "diagonal (sgd-d)", 1);
  const Series heavy =
      series_of(result, "engine full", "dimension", "us_per_observation", "full (calibrated)", 0);
  engines.series = {light, slope(light, 1), heavy, slope(heavy, 2)};
  return {.title = "What the cost grows with",
          .columns = 3,
          .panels = {std::move(stream), std::move(engines), std::move(moves)}};
}

}  // namespace

void draw_picture(const Json& result, const std::string& directory) {
  const std::string suite = result.at("suite");
  const Plot plot = suite == "query" ? latencies(result) : growth(result);
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  const std::filesystem::path script = std::filesystem::path(directory) / (suite + ".gp");
  std::ofstream(script) << reproduce::gnuplot_script(plot, suite);
  if (!std::filesystem::exists(script)) {
    throw RunError(fmt::format("{} cannot be written", script.string()));
  }
  reproduce::draw(directory, suite);
}

}  // namespace windhover
