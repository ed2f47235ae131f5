// Effective draws per second beside bias, as the rows grow: tutorial Figure 12.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/crossover_methods.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/stan.h"

namespace windhover::reproduce {
namespace {

using nlohmann::ordered_json;

constexpr double kWanted = 2000;  // effective draws
// The tutorial's section 12.1 and its Figure 12.
constexpr double kPapersCrossover = 5000;  // rows
constexpr double kPapersLead = 5;          // NUTS over SGLD at 500 rows

struct Method {
  const char* key;  // samplers of the library: their name
  const char* label;
  int colour;
};
constexpr Method kEngineMethods[] = {{"calibrated", "default (calibrated)", 0},
                                     {"sgld-cv", "sgld-cv", 5},
                                     {"sghmc", "sghmc", 2},
                                     {"sgld", "sgld", 1}};
constexpr Method kPrintedMethods[] = {{"printed-sghmc", "SGHMC, tutorial's step", 4},
                                      {"printed-sgld", "SGLD, tutorial's step", 3}};
constexpr Method kNuts = {"nuts", "NUTS", 6};

// Tells progress from `begin` to `end`.
ordered_json run_all(const Context& context, std::size_t rows, double begin, double end) {
  const Dataset data = make_rows(rows, context.seed());
  ordered_json all;
  constexpr double kRuns = 2 + std::size(kEngineMethods) + std::size(kPrintedMethods);
  double done = 0;
  const auto tell = [&](const char* next) {
    context.progress(begin + (end - begin) * done++ / kRuns, fmt::format("N = {}: {}", rows, next));
  };
  tell("NUTS");
  all["nuts"] = run_nuts(data, context.choose<std::size_t>(4000, 20'000), context.seed());
  tell("what is served");
  all["served"] = served_seconds(data, all["nuts"], context.seed());
  for (const Method& method : kEngineMethods) {
    tell(method.label);
    const bool barred = &method == kEngineMethods;
    const double wanted = barred ? context.choose(2.0, 10.0) * kWanted : kWanted;
    const double most = context.choose(barred ? 10.0 : 1.0, barred ? 60.0 : 20.0);
    all[method.key] = run_engine(method.key, data, wanted, most, context.seed());
  }
  for (const bool momentum : {true, false}) {
    tell(kPrintedMethods[momentum ? 0 : 1].label);
    all[kPrintedMethods[momentum ? 0 : 1].key] =
        run_printed(momentum, data, context.choose<std::size_t>(40'000, 400'000), context.seed());
  }
  return all;
}

double number(const ordered_json& value) { return value.is_null() ? NAN : value.get<double>(); }
std::vector<double> numbers(const ordered_json& values) {
  std::vector<double> out;
  for (const auto& value : values) out.push_back(number(value));
  return out;
}
Bias bias_of(const ordered_json& run, const ordered_json& truth) {
  return bias(numbers(run["mean"]), numbers(run["sd"]), truth);
}
double rate(const ordered_json& run) { return number(run["least"]) / number(run["seconds"]); }
// Until kWanted effective draws, the cold start included.
double time_to_draws(const ordered_json& run) { return number(run["cold"]) + kWanted / rate(run); }

// Of a mean in sd, from as many effective draws as both have, and of a ratio of sds.
double error_of_mean(const ordered_json& run, const ordered_json& truth) {
  return std::sqrt(1 / number(run["least"]) + 1 / number(truth["least"]));
}
double error_of_ratio(const ordered_json& run, const ordered_json& truth) {
  return bias_of(run, truth).ratio *
         std::hypot(number(run["spread_error"]), number(truth["spread_error"]));
}
// Looked at to draw, over N, an effective draw.
double rows_a_draw(const ordered_json& run, std::size_t rows) {
  return number(run["rows"]) / number(run["least"]) / static_cast<double>(rows);
}

void add_sizes(Report& report, const std::vector<std::size_t>& sizes,
               const std::vector<ordered_json>& results) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ordered_json& all = results[i];
    const ordered_json& nuts = all["nuts"];
    const ordered_json& run = all["calibrated"];
    const bool barred = sizes[i] >= 5000;
    const std::string group = fmt::format("N = {}, the default", sizes[i]);
    const Bias off = bias_of(run, nuts);
    const double error = error_of_mean(run, nuts);
    report.add(Figure{.group = group,
                      .name = "effective draws, the least of 10 parameters",
                      .ours = number(run["least"]),
                      .bar = at_least(kWanted)});
    report.add(Figure{.group = group,
                      .name = "|mean - truth|, the worst parameter (sd)",
                      .ours = off.mean,
                      .mcse = error,
                      .bar = barred ? std::optional(at_most(kMeanBar)) : std::nullopt});
    report.add(
        Figure{.group = group,
               .name = "sd over true sd, the worst parameter",
               .ours = off.ratio,
               .mcse = error_of_ratio(run, nuts),
               .bar = barred ? std::optional(Bar{1 - kSpreadBar, 1 + kSpreadBar}) : std::nullopt});
    report.add(Figure{.group = group,
                      .name = "divergences",
                      .ours = number(run["divergences"]),
                      .bar = at_most(0)});
    const bool last = sizes[i] == 50'000;
    report.add(Figure{.group = group,
                      .name = "effective draws per second over NUTS's",
                      .ours = rate(run) / rate(nuts),
                      .bar = last ? std::optional(at_least(3)) : std::nullopt,
                      .timed = true});
    report.add(Figure{.group = group,
                      .name = "the same of sampler sgld-cv",
                      .ours = rate(all["sgld-cv"]) / rate(nuts),
                      .timed = true});
    report.add(
        Figure{.group = group,
               .name = fmt::format("NUTS's time to 2000 draws over ours to a served posterior "
                                   "within {:g} sd and {:g} %",
                                   kMeanBar, 100 * kSpreadBar),
               .ours = time_to_draws(nuts) / number(all["served"]),
               .bar = barred ? std::optional(at_least(10)) : std::nullopt,
               .timed = true});
    report.add(Figure{.group = group,
                      .name = "like for like: NUTS's time to 2000 draws over ours to 2000 draws",
                      .ours = time_to_draws(nuts) / time_to_draws(run),
                      .timed = true});
    report.add(Figure{.group = group,
                      .name = "rows looked at for an effective draw, over N",
                      .ours = rows_a_draw(run, sizes[i])});
    report.add(
        Figure{.group = group, .name = "the same of NUTS", .ours = rows_a_draw(nuts, sizes[i])});
    for (const Method& method : kEngineMethods) {
      if (&method == kEngineMethods) continue;
      const Bias bias = bias_of(all[method.key], nuts);
      report.add(Figure{.group = fmt::format("N = {}, others", sizes[i]),
                        .name = fmt::format("{}: worst |mean - truth| (sd)", method.label),
                        .ours = bias.mean,
                        .mcse = error_of_mean(all[method.key], nuts)});
      report.add(Figure{.group = fmt::format("N = {}, others", sizes[i]),
                        .name = fmt::format("{}: worst sd over true sd", method.label),
                        .ours = bias.ratio,
                        .mcse = error_of_ratio(all[method.key], nuts)});
    }
    // Theirs may be many sd of the truth wide.
    for (const Method& method : kPrintedMethods) {
      const Bias bias = bias_of(all[method.key], nuts);
      report.add(Figure{.group = fmt::format("N = {}, others", sizes[i]),
                        .name = fmt::format("{}: worst |mean - truth| (sd)", method.label),
                        .ours = bias.mean,
                        .mcse = std::max(1.0, bias.ratio) * error_of_mean(all[method.key], nuts)});
    }
  }
}

// One curve a method: `value(all)[method]` over the sizes.
Panel curves(const std::vector<std::size_t>& sizes, const std::vector<ordered_json>& results,
             const Panel& frame, bool nuts,
             const std::function<double(const ordered_json& run, const ordered_json& all)>& value) {
  Panel panel = frame;
  panel.log_x = panel.log_y = true;
  panel.x_label = "rows N";
  std::vector<Method> methods(std::begin(kEngineMethods), std::end(kEngineMethods));
  methods.insert(methods.end(), std::begin(kPrintedMethods), std::end(kPrintedMethods));
  if (nuts) methods.push_back(kNuts);
  for (const Method& method : methods) {
    Series series{.label = method.label, .x = {}, .y = {}, .colour = method.colour};
    series.papers = std::string_view(method.key).starts_with("printed");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      series.x.push_back(static_cast<double>(sizes[i]));
      series.y.push_back(value(results[i][method.key], results[i]));
    }
    panel.series.push_back(series);
  }
  return panel;
}

Series level(double y, const std::string& label) {
  return {.label = label, .x = {500, 50'000}, .y = {y, y}, .style = Style::kDashes, .colour = 7};
}

void add_panels(Report& report, const std::vector<std::size_t>& sizes,
                const std::vector<ordered_json>& results) {
  Panel rates =
      curves(sizes, results,
             {.title = "Effective draws per second",
              .x_label = "",
              .y_label = "draws / s",
              .legend = "outside"},
             true, [](const ordered_json& run, const ordered_json&) { return rate(run); });
  report.add(rates);
  Panel off = curves(sizes, results,
                     {.title = "Beside it: bias of the mean",
                      .x_label = "",
                      .y_label = "worst |mean - truth| (sd)",
                      .legend = "outside"},
                     false, [](const ordered_json& run, const ordered_json& all) {
                       return bias_of(run, all["nuts"]).mean;
                     });
  off.series.push_back(level(kMeanBar, "bar of the default"));
  report.add(off);
  Panel ratio = curves(sizes, results,
                       {.title = "and of the spread",
                        .x_label = "",
                        .y_label = "worst sd / true sd",
                        .legend = "outside"},
                       false, [](const ordered_json& run, const ordered_json& all) {
                         return bias_of(run, all["nuts"]).ratio;
                       });
  ratio.series.push_back(level(1 + kSpreadBar, "bars of the default"));
  ratio.series.push_back(level(1 - kSpreadBar, ""));
  report.add(ratio);
  Panel times{.title = "From cold start to a served posterior and to 2000 draws",
              .x_label = "rows N",
              .y_label = "seconds",
              .log_x = true,
              .log_y = true,
              .legend = "outside"};
  Series served{.label = "default: served posterior", .x = {}, .y = {}, .colour = 0};
  Series draws{
      .label = "default: 2000 draws", .x = {}, .y = {}, .style = Style::kLinePoints, .colour = 5};
  Series nuts{.label = "NUTS: 2000 draws", .x = {}, .y = {}, .colour = 6};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto n = static_cast<double>(sizes[i]);
    for (Series* series : {&served, &draws, &nuts}) series->x.push_back(n);
    served.y.push_back(number(results[i]["served"]));
    draws.y.push_back(time_to_draws(results[i]["calibrated"]));
    nuts.y.push_back(time_to_draws(results[i]["nuts"]));
  }
  times.series = {served, draws, nuts};
  report.add(times);
}

// What the tutorial prints of its Figure 12, beside ours. Its draws are of the first coefficient.
void add_tutorials(Report& report, const std::vector<std::size_t>& sizes,
                   const std::vector<ordered_json>& results) {
  const std::string group = "The tutorial's Figure 12: effective draws per second";
  const auto lead = [&](const char* key, std::size_t i) {
    return rate(results[i][key]) / rate(results[i]["nuts"]);
  };
  report.add(Figure{.group = group,
                    .name = fmt::format("NUTS's over SGLD's (tutorial's step), N = {}", sizes[0]),
                    .ours = 1 / lead("printed-sgld", 0),
                    .papers = kPapersLead,
                    .papers_source = "section 12.1",
                    .timed = true});
  report.add(Figure{
      .group = group,
      .name = fmt::format("SGLD's (tutorial's step) over NUTS's, N = {} (tutorial: orders of "
                          "magnitude)",
                          sizes.back()),
      .ours = lead("printed-sgld", sizes.size() - 1),
      .timed = true});
  for (const Method& method : {kPrintedMethods[1], kPrintedMethods[0], kEngineMethods[0]}) {
    std::vector<double> leads;
    for (std::size_t i = 0; i < sizes.size(); ++i) leads.push_back(lead(method.key, i));
    const Crossover crossover = crossover_of(sizes, leads);
    Figure figure{
        .group = group,
        .name = fmt::format("rows at which {} overtakes NUTS ({})", method.label, crossover.words),
        .ours = crossover.rows,
        .timed = true};
    if (method.key == kPrintedMethods[1].key) {
      figure.papers = kPapersCrossover;
      figure.papers_source = "Figure 12";
    }
    report.add(figure);
  }
}

// Stan on the largest size: a check of the truth, and its speed.
void add_stan(const Context& context, Report& report, std::size_t rows, const ordered_json& all) {
  if (context.quick()) {
    report.note("Stan is not run with --quick: compiling its model alone takes half a minute.");
    return;
  }
  if (!has_stan()) {
    report.note(
        "Stan is not installed (Debian: r-cran-rstan and r-cran-bh), so it is not compared with.");
    return;
  }
  context.progress(0.95, "Stan");
  const auto result = context.part("stan", [&] {
    const StanRun run =
        run_stan(parts_of(context.settings(), "nuts-crossover"), make_rows(rows, context.seed()),
                 {.draws = 1000, .seed = context.seed()});
    ordered_json json = to_json(run.draws, run.warm_up_seconds, run.draw_seconds);
    json["least"] = *std::ranges::min_element(run.bulk);  // as Stan itself has it
    return json;
  });
  const ordered_json& nuts = all["nuts"];
  const Bias off = bias_of(result, nuts);
  const std::string group = fmt::format("Stan (rstan, NUTS, bernoulli_logit_glm), N = {}", rows);
  report.add(Figure{.group = group,
                    .name = "worst |mean - our NUTS's| (sd)",
                    .ours = off.mean,
                    .mcse = error_of_mean(result, nuts)});
  report.add(Figure{.group = group,
                    .name = "worst sd over our NUTS's",
                    .ours = off.ratio,
                    .mcse = error_of_ratio(result, nuts)});
  report.add(Figure{
      .group = group, .name = "effective draws per second", .ours = rate(result), .timed = true});
  report.add(Figure{.group = group,
                    .name = "the default's over Stan's",
                    .ours = rate(all["calibrated"]) / rate(result),
                    .bar = at_least(10),
                    .timed = true});
  report.add(Figure{
      .group = group,
      .name = "the time from cold start, Stan's to 2000 draws over ours to a served posterior",
      .ours = time_to_draws(result) / number(all["served"]),
      .bar = at_least(10),
      .timed = true});
  report.add(Figure{.group = group,
                    .name = "like for like: Stan's time to 2000 draws over ours to 2000 draws",
                    .ours = time_to_draws(result) / time_to_draws(all["calibrated"]),
                    .timed = true});
  report.detail("stan", result);
}

}  // namespace

void run_nuts_crossover(const Context& context, Report& report) {
  report.plot().panel_width = 760;
  const auto sizes = context.quick()
                         ? std::vector<std::size_t>{500, 5000, 50'000}
                         : std::vector<std::size_t>{500, 1000, 2000, 5000, 10'000, 20'000, 50'000};
  std::vector<ordered_json> results;
  for (const std::size_t rows : sizes) {
    const double share = 1 / static_cast<double>(sizes.size() + 1);
    const double begin = share * static_cast<double>(results.size());
    results.push_back(context.part(fmt::format("rows-{}", rows),
                                   [&] { return run_all(context, rows, begin, begin + share); }));
    report.detail(fmt::format("rows-{}", rows), results.back());
  }
  add_sizes(report, sizes, results);
  add_panels(report, sizes, results);
  add_tutorials(report, sizes, results);
  add_stan(context, report, sizes.back(), results.back());
  const ordered_json& largest = results.back();
  report.note(
      "10 standard normal features, no intercept, prior N(0, 1), coefficients N(0, 0.25). Truth is "
      "the library's NUTS, one chain after 1000 moves of warm-up; effective draws are Stan's bulk "
      "(rank-normalised, split), of iterates an eighth of a window apart, the least of the ten "
      "parameters. Seconds are processor time of the one thread at work. Every sampler has the "
      "same settings at every N: the library's have none set at all.");
  report.note(fmt::format(
      "NUTS runs on the same kernels as the models, with value and gradient in one pass and one "
      "logarithm for 16 rows, so it is hard to beat on draws alone: at N = {} it looks at {:.2g} N "
      "rows in order of memory for an effective draw, the default at {:.2g} N in random order "
      "beside "
      "its passes for the estimates. No sampler that draws fresh minibatches needs less than N "
      "rows "
      "an effective draw of a mean, whatever its preconditioner; with control variates (`sgld-cv`) "
      "that bound is gone.",
      sizes.back(), rows_a_draw(largest["nuts"], sizes.back()),
      rows_a_draw(largest["calibrated"], sizes.back())));
  // Of an sd from n effective draws of a normal: 1 / sqrt(2 n).
  const double spread_error = 1 / std::sqrt(2 * kWanted);
  const double all_within = std::pow(std::erf(kSpreadBar / spread_error / std::sqrt(2.0)), 10);
  report.note(fmt::format(
      "What is served does not wait for draws: mean and sd come from Newton's method and the "
      "curvature. Its time is that from which on every answer of {:g} s stays within {:g} sd and "
      "{:g} % of the truth, and is past warming up (\"-\": it is not so at their end). A sampler "
      "that must estimate a spread from its "
      "draws has it with an error of 1 / sqrt(2 n) = {:.2g} % from n = {:g} effective draws, so "
      "that the worst of ten sds is within {:g} % in {:.3g} % of runs: this is why 2000 draws "
      "stand "
      "beside it. They are another thing than what is served, though; the same thing on both sides "
      "is what \"like for like\" compares.",
      kWatchedSeconds, kMeanBar, 100 * kSpreadBar, 100 * spread_error, kWanted, 100 * kSpreadBar,
      100 * all_within));
  report.note(fmt::format(
      "With the tutorial's own settings (step 1e-3 on the potential of all rows, minibatch 32, "
      "friction 0.1, section 11.5) SGLD and SGHMC are {:.2g} and {:.2g} posterior sd off at N = "
      "{}, "
      "whatever their effective draws per second. Of its Figure 12 the tutorial says as much: NUTS "
      "recovers the coefficients at every N, SGLD lands off by roughly a factor of 10, SGHMC "
      "diverges at large N. Its draws per second are of the first coefficient, ours the least of "
      "ten.",
      bias_of(largest["printed-sgld"], largest["nuts"]).mean,
      bias_of(largest["printed-sghmc"], largest["nuts"]).mean, sizes.back()));
}

}  // namespace windhover::reproduce
