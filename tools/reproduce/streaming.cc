// Coverage, spread and lag of every way to serve a posterior of a stream, and of shortcuts that
// fail.
#include <fmt/format.h>

#include <cmath>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/replications.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/streaming_regimes.h"

namespace windhover::reproduce {
namespace {

constexpr double kNominal = 0.9;

// 64 draws cover 0.8975 where exact quantiles would cover 0.9.
constexpr double kWithin = 0.02;
// So that the coverage of 0.72 is known to a third of the 0.01 that it may be off.
constexpr std::size_t kShortcutReplications = 4000;

void add_figure(Report& report, const std::string& group, const std::string& name,
                const Estimate& mean, std::optional<Bar> bar = {}) {
  report.add(
      Figure{.group = group, .name = name, .ours = mean.value, .mcse = mean.mcse, .bar = bar});
}

void add_coverage(Report& report, const std::string& group, const std::string& name,
                  const Estimate& mean, bool claimed) {
  add_figure(report, group, name, mean,
             claimed ? std::optional(around(kNominal, kWithin, mean)) : std::nullopt);
}

void add_regimes(const Context& context, Report& report) {
  Panel panels[2];
  for (const bool misspecified : {false, true}) {
    Panel& panel = panels[misspecified ? 1 : 0];
    panel = {.title = misspecified ? "Coverage where the model fails" : "Coverage where it holds",
             .x_label = "",
             .y_label = "share covered by 90 % intervals",
             .level_names = true,
             .legend = "outside",
             .y_range = {0.8, 1.0}};
    const auto series = [](const char* label, int colour) {
      return Series{
          .label = label, .x = {}, .y = {}, .error = {}, .style = Style::kPoints, .colour = colour};
    };
    panel.series = {series("draws", 0), series("sd", 1), series("sd_robust", 2)};
  }
  const std::size_t replications = context.choose<std::size_t>(360, 1000);
  std::size_t done = 0;
  for (const Regime& regime : regimes()) {
    for (const bool misspecified : {false, true}) {
      const std::string group =
          fmt::format("{}: {}", regime.name, misspecified ? "model fails" : "model holds");
      context.progress(static_cast<double>(done) / (2.0 * static_cast<double>(regimes().size())),
                       group);
      const auto runs =
          replicated(context, fmt::format("regime-{}", done++), group, replications,
                     [&](std::uint64_t seed) { return replicate(regime, misspecified, seed); });
      const bool claimed = misspecified ? regime.covers_misspecified : regime.covers_well;
      const bool robust = regime.spread == ForgettingSpread::kSampling;
      const Estimate plain = mean_of(runs, "plain");
      const Estimate sandwich = mean_of(runs, "robust");
      const Estimate draws = mean_of(runs, "draws");
      add_coverage(report, group, "draws cover", draws, claimed);
      add_coverage(report, group, "sd covers", plain, !misspecified && regime.covers_well);
      add_coverage(report, group, "sd_robust covers", sandwich, robust);
      add_figure(report, group, "spread of the draws (variance over sd^2)",
                 mean_of(runs, "spread"));
      add_figure(report, group, "error of the centre (squared, over sd^2)",
                 mean_of(runs, "centre"));
      if (regime.horizon == Horizon::kWindow) {
        add_figure(report, group, "lag of 4 chains' average (variance over sd^2; none: 0.25)",
                   mean_of(runs, "lag"));
      }
      Panel& panel = panels[misspecified ? 1 : 0];
      panel.categories.push_back(regime.name);
      const Estimate means[] = {draws, plain, sandwich};
      for (std::size_t s = 0; s < 3; ++s) {
        const double offset = 0.15 * (static_cast<double>(s) - 1);
        panel.series[s].x.push_back(static_cast<double>(panel.categories.size() - 1) + offset);
        panel.series[s].y.push_back(means[s].value);
        panel.series[s].error.push_back(means[s].mcse);
      }
    }
  }
  for (Panel& panel : panels) {
    const auto last = static_cast<double>(panel.categories.size()) - 0.5;
    panel.series.push_back({.label = "nominal",
                            .x = {-0.5, last},
                            .y = {kNominal, kNominal},
                            .style = Style::kDashes,
                            .colour = 7});
    report.add(panel);
  }
}

void add_shortcuts(const Context& context, Report& report) {
  Panel panel{.title = "Shortcuts that fail",
              .x_label = "",
              .y_label = "share covered; variance over what it should be",
              .level_names = true,
              .legend = "outside",
              .y_range = {-0.1, 1.9}};
  Series covers{.label = "covered", .x = {}, .y = {}, .error = {}, .style = Style::kPoints};
  Series spread{
      .label = "variance", .x = {}, .y = {}, .error = {}, .style = Style::kPoints, .colour = 1};
  std::size_t done = 0;
  for (const Shortcut& shortcut : shortcuts()) {
    const auto runs = replicated(context, fmt::format("shortcut-{}", done), shortcut.name,
                                 kShortcutReplications, shortcut.run);
    const std::string group = fmt::format("{} (expect: {})", shortcut.name, shortcut.fails);
    const Estimate covered = mean_of(runs, "covers");
    const Estimate variance = mean_of(runs, "spread");
    add_figure(report, group, fmt::format("covers (in theory {:.3f})", shortcut.covers), covered,
               around(shortcut.covers, 0.01, covered));
    if (shortcut.spread) {
      add_figure(
          report, group,
          fmt::format("variance over what it should be (in theory {:.3f})", *shortcut.spread),
          variance, around(*shortcut.spread, 0.05, variance));
    } else {
      add_figure(report, group, "variance over what it should be", variance);
    }
    for (const auto& [series, key, shift] :
         {std::tuple{&covers, "covers", -0.1}, std::tuple{&spread, "spread", 0.1}}) {
      series->x.push_back(static_cast<double>(done) + shift);
      series->y.push_back(mean_of(runs, key).value);
      series->error.push_back(mean_of(runs, key).mcse);
    }
    panel.categories.push_back(shortcut.name);
    ++done;
  }
  panel.series = {covers,
                  spread,
                  {.label = "nominal coverage",
                   .x = {-0.5, static_cast<double>(done) - 0.5},
                   .y = {kNominal, kNominal},
                   .style = Style::kDashes,
                   .colour = 7}};
  report.add(panel);
}

}  // namespace

void run_streaming(const Context& context, Report& report) {
  report.plot().columns = 1;
  report.plot().panel_width = 1120;
  report.plot().panel_height = 460;
  add_regimes(context, report);
  add_shortcuts(context, report);
  report.note(
      "A linear model of 10 parameters on rows whose features have AR(1) correlation 0.5, worth "
      "1000 rows; the window turns over once after it is full, streams without a window are 4000 "
      "rows long. \"Model fails\": noise of variance 0.25 + 0.75 x_2^2. Intervals are mean +- "
      "1.645 sd, with the posterior's sd, with sd_robust, and with the sd of the 64 retained "
      "draws.");
  report.note(
      "Bars: 0.88 to 0.92, three standard errors of the run wider on either side; a run whose "
      "standard error exceeds a third of 0.02 cannot tell and meets none. Claimed are: sd "
      "where the model holds; sd_robust in both worlds; the draws of the default where the model "
      "holds; those of `sandwich`, of random weights and of injected C in both. With "
      "`forgetting_spread = posterior` the spread is that for a truth that wanders, twice the "
      "variance, and covers too often in a stream that does not change: as it should.");
  report.note(
      "Shortcuts are held to failing as theory has it: coverage within 0.01 and variance within "
      "0.05, three standard errors wider. None of these bars holds for a posterior that is right, "
      "but for those of the first, in which each chain has its own minibatches.");
  report.note(
      "Lag: were replayed chains left behind by a window that moves, their average would be off "
      "the window's own mean by a further 0.43 (R = 1), 0.13 (R = 4) or 0.03 (R = 16) of sd^2. "
      "They are carried along with every refresh; what is left above 0.25 is the lag.");
}

}  // namespace windhover::reproduce
