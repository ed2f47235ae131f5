#include "windhover/tools/reproduce/crossover.h"

#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

namespace {

Bias bias_of(const ordered_json& run, const ordered_json& truth) {
  return bias(numbers_from(run["mean"]), numbers_from(run["sd"]), truth);
}

}  // namespace

Estimate mean_off(const ordered_json& run, const ordered_json& truth) {
  return {bias_of(run, truth).mean,
          std::sqrt(1 / number_from(run["least"]) + 1 / number_from(truth["least"]))};
}

Estimate mean_off_wide(const ordered_json& run, const ordered_json& truth) {
  const Estimate off = mean_off(run, truth);
  return {off.value, std::max(1.0, bias_of(run, truth).ratio) * off.mcse};
}

Estimate sd_ratio(const ordered_json& run, const ordered_json& truth) {
  const double ratio = bias_of(run, truth).ratio;
  return {ratio,
          ratio * std::hypot(number_from(run["spread_error"]), number_from(truth["spread_error"]))};
}

Estimate rate(const ordered_json& run) {
  const double value = number_from(run["least"]) / number_from(run["seconds"]);
  return {value, value * number_from(run["least_error"])};
}

Estimate time_to_draws(const ordered_json& run) {
  const double drawing = kWanted / rate(run).value;
  return {number_from(run["cold"]) + drawing, drawing * number_from(run["least_error"])};
}

double served_seconds(const ordered_json& all) { return number_from(all["served"]["seconds"]); }

Estimate ratio(const Estimate& a, const Estimate& b) {
  const double value = a.value / b.value;
  return {value, std::abs(value) * std::hypot(a.mcse / a.value, b.mcse / b.value)};
}

Estimate a_draw(const ordered_json& run, const char* what, double unit) {
  const double value = number_from(run[what]) / number_from(run["least"]) / unit;
  return {value, value * number_from(run["least_error"])};
}

namespace {

using RunValue = std::function<Estimate(const ordered_json& run, const ordered_json& all)>;

Panel over_sizes(const std::string& title, const std::string& y_label) {
  return Panel{title, "rows N", y_label}.log("xy").legend_at("outside").x_in(300, 100'000);
}

Series level(double y, const std::string& label) {
  return Series::dashes(label, 7, {300, 100'000}, {y, y});
}

// Results over the sizes.
struct Results {
  const std::vector<std::size_t>& sizes;
  const std::vector<ordered_json>& all;

  Series curve(const std::string& label, int colour, const char* key, double shift,
               const RunValue& value) const {
    Series series = Series::curve(label, colour);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      series.add(static_cast<double>(sizes[i]) * shift, value(all[i][key], all[i]));
    }
    return series;
  }
  // One curve per method, each shifted a little sideways.
  void add_to(Panel& panel, const std::vector<CrossoverMethod>& methods,
              const RunValue& value) const {
    double shift = std::pow(1.04, -0.5 * static_cast<double>(methods.size() - 1));
    for (const CrossoverMethod& method : methods) {
      panel.add(curve(method.label, method.colour, method.key, shift, value));
      shift *= 1.04;
    }
  }
};

// The title says what lies out of the frame.
Panel spreads(const Results& results, const std::vector<CrossoverMethod>& methods) {
  constexpr double kFrame = 0.2;
  const auto in_frame = [](double y) { return std::abs(y - 1) <= kFrame; };
  Panel panel =
      over_sizes("and of the spread", "worst sd / true sd").log("x").y_in(1 - kFrame, 1 + kFrame);
  results.add_to(panel, methods, [](const ordered_json& run, const ordered_json& all) {
    return sd_ratio(run, all["nuts"]);
  });
  std::vector<std::string> outside;
  for (const Series& s : panel.series) {
    if (!std::ranges::all_of(s.y, in_frame)) outside.push_back(s.label);
  }
  if (!outside.empty()) {
    panel.title += fmt::format("; out of the frame:\n{}", fmt::join(outside, "; "));
  }
  std::erase_if(panel.series, [&](const Series& s) { return std::ranges::none_of(s.y, in_frame); });
  return panel.add(level(1 + kSpreadBar, "bars of the default")).add(level(1 - kSpreadBar, ""));
}

}  // namespace

void add_crossover_panels(Report& report, const std::vector<std::size_t>& sizes,
                          const std::vector<ordered_json>& all_sizes) {
  const Results results{sizes, all_sizes};
  std::vector<CrossoverMethod> biased(std::begin(kEngineMethods), std::end(kEngineMethods));
  biased.insert(biased.end(), std::begin(kPrintedMethods), std::end(kPrintedMethods));
  std::vector<CrossoverMethod> every = biased;
  every.push_back(kNuts);
  Panel speed = over_sizes("Effective draws per second", "draws / s");
  results.add_to(speed, every,
                 [](const ordered_json& run, const ordered_json&) { return rate(run); });
  report.add(speed);
  Panel lead = over_sizes("The same over NUTS's", "draws / s over NUTS's");
  results.add_to(lead, biased, [](const ordered_json& run, const ordered_json& all) {
    return ratio(rate(run), rate(all["nuts"]));
  });
  lead.add(Series::curve("tutorial: SGLD", kPrintedMethods[1].colour,
                         {static_cast<double>(kPapersSmallest), kPapersCrossover},
                         {1 / kPapersLead, 1})
               .of_paper());
  report.add(lead.add(level(1, "as fast as NUTS")));
  Panel off = over_sizes("Beside it: bias of the mean", "worst |mean - truth| (sd)");
  results.add_to(off, biased, [](const ordered_json& run, const ordered_json& all) {
    return mean_off_wide(run, all["nuts"]);
  });
  report.add(off.add(level(kMeanBar, "bar of the default")));
  report.add(spreads(results, biased));
  const auto draws = [](const ordered_json& run, const ordered_json&) {
    return time_to_draws(run);
  };
  const auto served = [](const ordered_json&, const ordered_json& all) {
    return Estimate{served_seconds(all), 0};
  };
  Panel times = over_sizes("From a cold start", "seconds");
  const CrossoverMethod& ours = kEngineMethods[0];
  times.add(results.curve("(a) NUTS: 2000 draws", kNuts.colour, kNuts.key, 1, draws))
      .add(results.curve("(b) default: 2000 draws", 5, ours.key, 1, draws))
      .add(results.curve("(c) default: served posterior", ours.colour, ours.key, 1, served));
  std::vector<std::size_t> never;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (std::isnan(served_seconds(all_sizes[i]))) never.push_back(sizes[i]);
  }
  if (!never.empty()) {
    times.title += fmt::format("\n(c) not within its bars at N = {}", fmt::join(never, ", "));
  }
  report.add(times);
}

}  // namespace windhover::reproduce
