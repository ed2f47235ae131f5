#include "windhover/tools/reproduce/kl_figures.h"

#include <fmt/format.h>

#include <cmath>

namespace windhover::reproduce {
namespace {

constexpr double kFloor = 1e-6;

Series points(const std::string& label, int colour) {
  return {.label = label, .x = {}, .y = {}, .style = Style::kPoints, .colour = colour};
}

void add_point(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

void add_figures(const std::string& group, bool linear, const KlLine& line, Report& report) {
  const auto add = [&](const std::string& kind, double ours, std::optional<double> mcse) {
    Figure figure{.group = group,
                  .name = fmt::format("{}, {}", line.label, kind),
                  .ours = ours,
                  .mcse = mcse,
                  .papers_decimals = line.papers_decimals,
                  .bar = line.bar};
    if (std::isfinite(line.papers)) {
      figure.papers = line.papers;
      figure.papers_source = "Table 1";
    }
    report.add(std::move(figure));
  };
  if (line.exact) {
    // The default's is 0 by the derivation of its step size matrix.
    const char* identity = line.label == "default" ? " (0 by its derivation)" : "";
    add(fmt::format("{}{}", linear ? "exact" : "exact for Laplace's Gaussian", identity),
        *line.exact, std::nullopt);
  }
  if (!line.simulated) return;
  add(fmt::format("simulated, {:.3g} steps", static_cast<double>(line.steps)),
      line.simulated->value, line.simulated->mcse);
  if (!line.chance) return;
  report.add(Figure{.group = group,
                    .name = fmt::format("{}, of that by chance", line.label),
                    .ours = line.chance->value,
                    .mcse = line.chance->mcse});
}

}  // namespace

void add_kl_figures(const std::string& group, bool linear, const std::vector<KlLine>& lines,
                    Report& report) {
  Panel panel{.title = group,
              .x_label = "",
              .y_label = "KL from the posterior (nats)",
              .log_y = true,
              .legend = "outside top center horizontal maxrows 2",
              .y_range = {kFloor / 2, 1e5}};
  Series exact = points("exact law", 0);
  Series below = points(fmt::format("exact law, below {:g}", kFloor), 0);
  below.open = true;
  Series simulated = points("simulated", 1);
  Series chance = points("of that by chance", 7);
  Series papers = points("the paper's", 6);
  papers.papers = true;
  Series bar{.label = "bar of the default", .x = {}, .y = {}, .style = Style::kLine, .colour = 2};
  for (const KlLine& line : lines) {
    add_figures(group, linear, line, report);
    const auto x = static_cast<double>(panel.categories.size());
    panel.categories.push_back(line.label);
    if (line.exact) {
      const bool drawn = *line.exact >= kFloor;
      add_point(drawn || std::isnan(*line.exact) ? exact : below, x - 0.2,
                drawn ? *line.exact : kFloor);
    }
    if (line.bar) {
      for (const double end : {x - 0.4, x + 0.4}) add_point(bar, end, line.bar->most);
    }
    add_point(papers, x, line.papers);
    if (line.simulated) {
      add_point(simulated, x + 0.2, line.simulated->value);
      simulated.error.push_back(line.simulated->mcse);
    }
    if (line.chance) add_point(chance, x + 0.2, line.chance->value);
  }
  panel.series = {exact, below, simulated, chance, bar, papers};
  report.add(panel);
}

}  // namespace windhover::reproduce
