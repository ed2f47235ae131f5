#include "windhover/tools/reproduce/crossover_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "windhover/tools/reproduce/replications.h"

namespace windhover::reproduce {

using nlohmann::ordered_json;

namespace {

double number(const ordered_json& value) { return number_from(value); }

}  // namespace

Bias bias_of(const ordered_json& run, const ordered_json& truth) {
  return bias(numbers_from(run["mean"]), numbers_from(run["sd"]), truth);
}

Estimate rate(const ordered_json& run) {
  const double value = number(run["least"]) / number(run["seconds"]);
  return {value, value * number(run["least_error"])};
}

Estimate time_to_draws(const ordered_json& run) {
  const double drawing = kWanted / rate(run).value;
  return {number(run["cold"]) + drawing, drawing * number(run["least_error"])};
}

double served_seconds(const ordered_json& all) { return number(all["served"]["seconds"]); }

Estimate ratio(const Estimate& a, const Estimate& b) {
  const double value = a.value / b.value;
  return {value, std::abs(value) * std::hypot(a.mcse / a.value, b.mcse / b.value)};
}

double error_of_mean(const ordered_json& run, const ordered_json& truth) {
  return std::sqrt(1 / number(run["least"]) + 1 / number(truth["least"]));
}

double error_of_ratio(const ordered_json& run, const ordered_json& truth) {
  return bias_of(run, truth).ratio *
         std::hypot(number(run["spread_error"]), number(truth["spread_error"]));
}

Estimate a_draw(const ordered_json& run, const char* what, double unit) {
  const double value = number(run[what]) / number(run["least"]) / unit;
  return {value, value * number(run["least_error"])};
}

namespace {

// One curve a method: `value(run, all)` over the sizes, a little beside each other.
Panel curves(
    const std::vector<std::size_t>& sizes, const std::vector<ordered_json>& results,
    const Panel& frame, const std::vector<CrossoverMethod>& methods,
    const std::function<Estimate(const ordered_json& run, const ordered_json& all)>& value) {
  Panel panel = frame;
  panel.log_x = true;
  panel.x_label = "rows N";
  panel.x_range = {300, 100'000};
  panel.legend = "outside";
  double shift = std::pow(1.04, -0.5 * static_cast<double>(methods.size() - 1));
  for (const CrossoverMethod& method : methods) {
    Series series{.label = method.label, .x = {}, .y = {}, .colour = method.colour};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Estimate e = value(results[i][method.key], results[i]);
      series.x.push_back(static_cast<double>(sizes[i]) * shift);
      series.y.push_back(e.value);
      series.error.push_back(e.mcse);
    }
    shift *= 1.04;
    panel.series.push_back(series);
  }
  return panel;
}

Series level(double y, const std::string& label) {
  return {.label = label, .x = {300, 100'000}, .y = {y, y}, .style = Style::kDashes, .colour = 7};
}

}  // namespace

void add_crossover_panels(Report& report, const std::vector<std::size_t>& sizes,
                          const std::vector<ordered_json>& results) {
  std::vector<CrossoverMethod> biased(std::begin(kEngineMethods), std::end(kEngineMethods));
  biased.insert(biased.end(), std::begin(kPrintedMethods), std::end(kPrintedMethods));
  std::vector<CrossoverMethod> every = biased;
  every.push_back(kNuts);
  report.add(curves(
      sizes, results,
      {.title = "Effective draws per second", .x_label = "", .y_label = "draws / s", .log_y = true},
      every, [](const ordered_json& run, const ordered_json&) { return rate(run); }));
  Panel lead = curves(sizes, results,
                      {.title = "The same over NUTS's",
                       .x_label = "",
                       .y_label = "draws / s over NUTS's",
                       .log_y = true},
                      biased, [](const ordered_json& run, const ordered_json& all) {
                        return ratio(rate(run), rate(all["nuts"]));
                      });
  lead.series.push_back({.label = "tutorial: SGLD",
                         .x = {static_cast<double>(kPapersSmallest), kPapersCrossover},
                         .y = {1 / kPapersLead, 1},
                         .colour = kPrintedMethods[1].colour,
                         .papers = true});
  lead.series.push_back(level(1, "as fast as NUTS"));
  report.add(lead);
  Panel off = curves(
      sizes, results,
      {.title = "Beside it: bias of the mean",
       .x_label = "",
       .y_label = "worst |mean - truth| (sd)",
       .log_y = true},
      biased, [](const ordered_json& run, const ordered_json& all) {
        const Bias bias = bias_of(run, all["nuts"]);
        return Estimate{bias.mean, std::max(1.0, bias.ratio) * error_of_mean(run, all["nuts"])};
      });
  off.series.push_back(level(kMeanBar, "bar of the default"));
  report.add(off);
  // What is out of the frame stands on the page.
  const auto spread = [](const ordered_json& run, const ordered_json& all) {
    return Estimate{bias_of(run, all["nuts"]).ratio, error_of_ratio(run, all["nuts"])};
  };
  constexpr double kFrame = 0.2;
  std::string outside;
  for (const CrossoverMethod& method : biased) {
    for (const ordered_json& all : results) {
      if (std::abs(spread(all[method.key], all).value - 1) <= kFrame) continue;
      outside += fmt::format("{}{}", outside.empty() ? "" : "; ", method.label);
      break;
    }
  }
  Panel ratios =
      curves(sizes, results,
             {.title = outside.empty() ? "and of the spread"
                                       : "and of the spread; out of the frame:\n" + outside,
              .x_label = "",
              .y_label = "worst sd / true sd",
              .y_range = {1 - kFrame, 1 + kFrame}},
             biased, spread);
  const auto in_frame = [](double y) { return std::abs(y - 1) <= kFrame; };
  std::erase_if(ratios.series,
                [&](const Series& s) { return std::ranges::none_of(s.y, in_frame); });
  ratios.series.push_back(level(1 + kSpreadBar, "bars of the default"));
  ratios.series.push_back(level(1 - kSpreadBar, ""));
  report.add(ratios);
  const auto seconds = [&](const char* label, const CrossoverMethod& of, const auto& value) {
    Panel panel = curves(sizes, results, {.title = "", .x_label = "", .y_label = ""}, {of}, value);
    panel.series[0].label = label;
    return panel.series[0];
  };
  const auto draws = [](const ordered_json& run, const ordered_json&) {
    return time_to_draws(run);
  };
  const auto served = [](const ordered_json&, const ordered_json& all) {
    return Estimate{served_seconds(all), 0};
  };
  CrossoverMethod ours = kEngineMethods[0];
  Panel times{.title = "From a cold start",
              .x_label = "rows N",
              .y_label = "seconds",
              .series = {seconds("(a) NUTS: 2000 draws", kNuts, draws)},
              .log_x = true,
              .log_y = true,
              .legend = "outside",
              .x_range = {300, 100'000}};
  const Series answers = seconds("(c) default: served posterior", ours, served);
  ours.colour = 5;
  times.series.push_back(seconds("(b) default: 2000 draws", ours, draws));
  times.series.push_back(answers);
  std::string never;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!std::isnan(served_seconds(results[i]))) continue;
    never += fmt::format("{}{}", never.empty() ? "" : ", ", sizes[i]);
  }
  if (!never.empty()) times.title += fmt::format("\n(c) not within its bars at N = {}", never);
  report.add(times);
}

}  // namespace windhover::reproduce
