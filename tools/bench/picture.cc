#include "windhover/tools/bench/picture.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

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

// One curve a condition over the percentiles, from the moment a question was due.
Plot latencies(const Json& result) {
  constexpr std::array kPercentiles = {"p50_us", "p90_us", "p99_us", "p999_us", "max_us"};
  Panel panel{.title = fmt::format("{} draws, {} questions a second, open loop",
                                   result.at("draws").dump(), result.at("query_rate").dump()),
              .x_label = "percentile",
              .y_label = "latency over loopback TCP, µs",
              .log_y = true,
              .categories = {"50", "90", "99", "99.9", "max"},
              .level_names = true,
              .legend = "outside right"};
  int colour = 0;
  for (const Json& run : result.at("runs")) {
    Series series{.label = run.at("name"), .x = {}, .y = {}, .colour = colour++};
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(number(run.at("latency"), kPercentiles[i]));
    }
    panel.series.push_back(std::move(series));
  }
  return {.title = "Latency of a prediction",
          .columns = 1,
          .panels = {std::move(panel)},
          .panel_width = 800};
}

// The runs that have `x` and `y` and whose names begin so.
Series series_of(const Json& result, const std::string& prefix, const char* x, const char* y,
                 const std::string& label, int colour) {
  Series series{.label = label, .x = {}, .y = {}, .colour = colour};
  for (const Json& run : result.at("runs")) {
    if (run.at("name").get<std::string>().rfind(prefix, 0) != 0) continue;
    series.x.push_back(number(run, x));
    series.y.push_back(number(run, y));
  }
  return series;
}

// Through the last point of `series`, growing as D to the `power`.
Series slope(const Series& series, double power) {
  Series line{.label = power == 1 ? "in proportion to D" : "in proportion to D²",
              .x = series.x,
              .y = {},
              .style = Style::kDashes,
              .colour = series.colour};
  for (const double x : series.x) {
    line.y.push_back(series.y.back() * std::pow(x / series.x.back(), power));
  }
  return line;
}

Plot growth(const Json& result) {
  Panel stream{.title = "Over the length of the stream, D = 10",
               .x_label = "observations so far",
               .y_label = "processor time an observation, ns",
               .log_x = true,
               .legend = "bottom right"};
  stream.series.push_back(
      series_of(result, "stream", "observations", "ns_per_observation", "ingest and learning", 0));
  double most = 0;
  for (const double y : stream.series[0].y) most = std::max(most, y);
  stream.y_range = {0, 1.25 * most};
  Panel moves{.title = "Over D: a move of a chain, 100 rows",
              .x_label = "parameters D",
              .y_label = "µs",
              .log_x = true,
              .log_y = true,
              .legend = "outside bottom center horizontal"};
  const Series diagonal =
      series_of(result, "move sgd-d", "dimension", "move_us", "diagonal (sgd-d), whole move", 1);
  const Series full = series_of(result, "move calibrated", "dimension", "beside_gradient_us",
                                "full (calibrated), beside the gradient", 0);
  moves.series = {diagonal, slope(diagonal, 1), full, slope(full, 2)};
  return {.title = "What the cost grows with",
          .columns = 2,
          .panels = {std::move(stream), std::move(moves)}};
}

}  // namespace

bool has_picture(std::string_view suite) { return suite == "query" || suite == "growth"; }

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
