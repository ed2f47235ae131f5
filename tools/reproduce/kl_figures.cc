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

void add_kl_notes(std::size_t runs, std::size_t chains, Report& report) {
  report.note(fmt::format(
      "Steps are those of all {} chains of a method together, after a cold start and a tenth as "
      "many that are left out. The default, SGD-f and SGFS-f at α = 0 have the same number in "
      "each case. \"Of that by chance\" is the KL that the Monte Carlo error of so long a run "
      "makes on average, by the KL of each run from the pool of all "
      "{}: a KL of that size is no sign of a wrong law.",
      chains, runs));
  report.note(
      "\"-\" for an exact law means that there is none, the step is unstable. SGLD's steps of the "
      "paper are 10^-3, 10^-6 and 10^-5, times half the gradient of the log posterior; SGLD "
      "without further word is at the library's step. SGFS \"eq. 15\" has no rate above that of "
      "eq. 15.");
  report.note(
      "BBVI starts at 0 and follows Adam for a fixed number of steps: \"exact\" is where it ends "
      "when it converges, of a full Gaussian on a linear model computed from the posterior's own "
      "moments (0 but for rounding), on Skin left out as its optimum is not known; \"simulated\" "
      "is where it was, a mean of runs. The paper prints one figure a set and does not say of "
      "which family. It stands beside the mean-field one, which its section 7.3 uses: a full "
      "Gaussian that had converged would be at the posterior.");
}

}  // namespace windhover::reproduce
