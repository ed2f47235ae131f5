// Effective draws per second and bias over the number of rows: tutorial Figure 12.
#include "windhover/tools/reproduce/crossover.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/stan.h"

namespace windhover::reproduce {
namespace {

// How long the runs are: enough draws to tell whether a spread is within its bar.
struct Effort {
  std::size_t nuts_draws;
  double draws;  // effective, of the default
  double seconds;
  double others_seconds;
  std::size_t printed_steps;

  std::string text() const {
    return fmt::format(
        "NUTS {} draws, default {} draws in {} s, others {} in {} s, printed {} steps", nuts_draws,
        draws, seconds, kWanted, others_seconds, printed_steps);
  }
};
constexpr Effort kQuickEffort = {8000, 4 * kWanted, 10, 1, 40'000};
constexpr Effort kThoroughEffort = {20'000, 10 * kWanted, 60, 20, 400'000};

// Reports progress from `begin` to `end`.
ordered_json run_crossover(const Context& context, const Effort& effort, std::size_t rows,
                           double begin, double end) {
  const Dataset data = make_rows(rows, context.seed());
  ordered_json all;
  constexpr double kRuns = 2 + std::size(kEngineMethods) + std::size(kPrintedMethods);
  double done = 0;
  const auto tell = [&](const char* next) {
    context.progress(begin + (end - begin) * done++ / kRuns, fmt::format("N = {}: {}", rows, next));
  };
  tell("NUTS");
  all["nuts"] = run_nuts(data, effort.nuts_draws, context.seed());
  tell("what is served");
  all["served"] = run_served(data, all["nuts"], context.seed());
  for (const CrossoverMethod& method : kEngineMethods) {
    tell(method.label);
    const bool barred = &method == kEngineMethods;
    all[method.key] = run_engine(method.key, data, barred ? effort.draws : kWanted,
                                 barred ? effort.seconds : effort.others_seconds, context.seed());
  }
  for (const bool momentum : {true, false}) {
    tell(kPrintedMethods[momentum ? 0 : 1].label);
    all[kPrintedMethods[momentum ? 0 : 1].key] =
        run_printed(momentum, data, effort.printed_steps, context.seed());
  }
  return all;
}

// Rows read per effective draw, as a multiple of N.
Estimate rows_a_draw(const ordered_json& run, std::size_t rows) {
  return a_draw(run, "rows", static_cast<double>(rows));
}

void add_default(Report& report, std::size_t rows, const ordered_json& all) {
  const ordered_json& nuts = all["nuts"];
  const ordered_json& run = all["calibrated"];
  const bool barred = rows >= 5000;
  Table table(report, fmt::format("N = {}, the default", rows));
  const Estimate off = mean_off(run, nuts);
  const Estimate spread = sd_ratio(run, nuts);
  table.add("effective draws, the least of 10 parameters", number_from(run["least"]))
      .held_to(at_least(kWanted));
  table.add("|mean - truth|, the worst parameter (sd)", off)
      .held_to(when(barred, decided_within(at_most(kMeanBar), kMeanBar, off.mcse)));
  table.add("sd over true sd, the worst parameter", spread)
      .held_to(when(barred, within(1, kSpreadBar, spread)));
  table.add("divergences", number_from(run["divergences"])).held_to(at_most(0));
  table.add("effective draws per second over NUTS's", ratio(rate(run), rate(nuts)))
      .held_to(when(rows == 50'000, at_least(3)))
      .by_clock();
  table.add("the same of sampler sgld-cv", ratio(rate(all["sgld-cv"]), rate(nuts))).by_clock();
  const Estimate theirs = time_to_draws(nuts);
  const Estimate ours = time_to_draws(run);
  const double served = served_seconds(all);
  table.add("(a) NUTS, seconds from cold start to 2000 effective draws", theirs).by_clock();
  table.add("(b) ours, seconds from cold start to 2000 effective draws", ours).by_clock();
  table
      .add(fmt::format("(c) ours, seconds from cold start to a served posterior within {:g} sd and "
                       "{:g} %, which needs no draws",
                       kMeanBar, 100 * kSpreadBar),
           served)
      .by_clock();
  table.add("(a) / (c), draws against an answer without", ratio(theirs, {served, 0}))
      .held_to(when(barred, at_least(10)))
      .by_clock();
  table.add("(a) / (b), like for like", ratio(theirs, ours)).by_clock();
  table.add("rows looked at for an effective draw, over N", rows_a_draw(run, rows));
  table.add("the same of NUTS", rows_a_draw(nuts, rows));
}

void add_others(Report& report, std::size_t rows, const ordered_json& all) {
  Table table(report, fmt::format("N = {}, others", rows));
  const auto add = [&](const CrossoverMethod& method, bool may_be_wide) {
    const ordered_json& run = all[method.key];
    table.add(fmt::format("{}: worst |mean - truth| (sd)", method.label),
              may_be_wide ? mean_off_wide(run, all["nuts"]) : mean_off(run, all["nuts"]));
    table.add(fmt::format("{}: worst sd over true sd", method.label), sd_ratio(run, all["nuts"]));
  };
  for (const CrossoverMethod& method : kEngineMethods) {
    if (&method != kEngineMethods) add(method, false);
  }
  // Their spread may be many sd of the truth.
  for (const CrossoverMethod& method : kPrintedMethods) add(method, true);
}

// The tutorial's Figure 12 beside ours. Its draws are of the first coefficient.
void add_tutorials(Report& report, const std::vector<std::size_t>& sizes,
                   const std::vector<ordered_json>& results) {
  Table table(report, "The tutorial's Figure 12: effective draws per second");
  const auto lead = [&](const char* key, std::size_t i) {
    return ratio(rate(results[i][key]), rate(results[i]["nuts"]));
  };
  const ordered_json& nuts = results.front()["nuts"];
  const ordered_json& sgld = results.front()["printed-sgld"];
  table
      .add(fmt::format("NUTS's over SGLD's (tutorial's step), N = {}", sizes[0]),
           ratio(rate(nuts), rate(sgld)))
      .beside(kPapersLead, "section 12.1")
      .by_clock();
  const Estimate calls = ratio(a_draw(sgld, "gradients", 1), a_draw(nuts, "gradients", 1));
  const Estimate looked = ratio(a_draw(nuts, "rows", 1), a_draw(sgld, "rows", 1));
  table.add("the same if every call of a gradient took as long, whatever its rows", calls)
      .beside(kPapersLead, "section 12.1");
  table
      .add(fmt::format(
               "SGLD's (tutorial's step) over NUTS's, N = {} (tutorial: orders of magnitude)",
               sizes.back()),
           lead("printed-sgld", sizes.size() - 1))
      .by_clock();
  report.note(
      "At N = {} SGLD at the tutorial's step takes {:.2g} times as many calls of a gradient for an "
      "effective draw as NUTS, but NUTS looks at {:.2g} times as many rows. Where a call costs as "
      "much whatever its rows, NUTS is ahead by the first figure; where a row costs as much in "
      "either, as nearly so in compiled code, SGLD is by the second. The tutorial prints {:g} for "
      "NUTS and does not take the two apart.",
      sizes[0], calls.value, looked.value, kPapersLead);
  for (const CrossoverMethod& method :
       {kPrintedMethods[1], kPrintedMethods[0], kEngineMethods[0]}) {
    std::vector<double> leads;
    std::vector<double> errors;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Estimate e = lead(method.key, i);
      leads.push_back(e.value);
      errors.push_back(e.mcse / e.value);
    }
    const Crossover crossover = crossover_of(sizes, leads, errors);
    Figure& figure =
        table
            .add(fmt::format("rows at which {} overtakes NUTS ({})", method.label, crossover.words),
                 crossover.rows)
            .by_clock();
    if (std::isfinite(crossover.rows)) figure.mcse = crossover.mcse;
    if (method.key == kPrintedMethods[1].key) figure.beside(kPapersCrossover, "Figure 12");
  }
}

// Stan on the largest size, as a check of the truth and for its speed.
void add_crossover_stan(const Context& context, Report& report, std::size_t rows,
                        const ordered_json& all) {
  if (context.quick()) {
    report.leave_out(
        "with --quick the comparison with Stan: compiling its model alone takes half a minute");
    return;
  }
  if (!has_stan()) {
    report.leave_out("the comparison with Stan, as {}", kNoStan);
    return;
  }
  context.progress(0.95, "Stan");
  const StanOptions options = {.draws = 1000, .seed = context.seed()};
  const std::string settings =
      fmt::format("{} rows, {} chains, {} draws", rows, options.chains, options.draws);
  const auto result = context.part("stan", settings, [&] {
    const StanRun run = run_stan(parts_of(context.settings(), "nuts-crossover"),
                                 make_rows(rows, context.seed()), options);
    ordered_json json = to_json(run.draws, run.warm_up_seconds, run.draw_seconds);
    json["least"] = *std::ranges::min_element(run.bulk);  // as Stan itself reports it
    return json;
  });
  Table table(report, fmt::format("Stan (rstan, NUTS, bernoulli_logit_glm), N = {}", rows));
  table.add("worst |mean - our NUTS's| (sd)", mean_off(result, all["nuts"]));
  table.add("worst sd over our NUTS's", sd_ratio(result, all["nuts"]));
  table.add("effective draws per second", rate(result)).by_clock();
  table.add("the default's over Stan's", ratio(rate(all["calibrated"]), rate(result)))
      .held_to(at_least(10))
      .by_clock();
  const Estimate theirs = time_to_draws(result);
  table
      .add(
          "seconds from cold start: Stan's to 2000 draws over ours to a served posterior, which "
          "needs no draws",
          ratio(theirs, {served_seconds(all), 0}))
      .held_to(at_least(10))
      .by_clock();
  table
      .add("like for like: Stan's to 2000 draws over ours to 2000 draws",
           ratio(theirs, time_to_draws(all["calibrated"])))
      .by_clock();
  report.detail("stan", result);
}

}  // namespace

void run_nuts_crossover(const Context& context, Report& report) {
  report.plot().panel_width = 760;
  const auto sizes = context.quick()
                         ? std::vector<std::size_t>{500, 5000, 50'000}
                         : std::vector<std::size_t>{500, 1000, 2000, 5000, 10'000, 20'000, 50'000};
  const Effort& effort = context.quick() ? kQuickEffort : kThoroughEffort;
  std::vector<ordered_json> results;
  for (const std::size_t rows : sizes) {
    const double share = 1 / static_cast<double>(sizes.size() + 1);
    const double begin = share * static_cast<double>(results.size());
    results.push_back(context.part(fmt::format("rows-{}", rows), effort.text(), [&] {
      return run_crossover(context, effort, rows, begin, begin + share);
    }));
    report.detail(fmt::format("rows-{}", rows), results.back());
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    add_default(report, sizes[i], results[i]);
    add_others(report, sizes[i], results[i]);
  }
  add_crossover_panels(report, sizes, results);
  add_tutorials(report, sizes, results);
  add_crossover_stan(context, report, sizes.back(), results.back());
  const ordered_json& largest = results.back();
  report.note(
      "10 standard normal features, no intercept, prior N(0, 1), coefficients N(0, 0.25). Truth is "
      "the library's NUTS, one chain after 1000 moves of warm-up; effective draws are Stan's bulk "
      "(rank-normalised, split), of iterates an eighth of a window apart, the least of the ten "
      "parameters. Seconds are processor time of the one thread at work. Every sampler has the "
      "same settings at every N: the library's have none set at all.");
  const Estimate lead = ratio(rate(largest["calibrated"]), rate(largest["nuts"]));
  report.note(
      "NUTS runs on the same kernels as the models, with value and gradient in one pass and one "
      "logarithm for 16 rows. At N = {} the default's effective draws come {:.2g} times as fast: "
      "NUTS looks at {:.2g} N rows in order of memory for one, the default at {:.2g} N in random "
      "order beside its passes for the estimates, `sgld-cv`, with control variates, at {:.2g} N.",
      sizes.back(), lead.value, rows_a_draw(largest["nuts"], sizes.back()).value,
      rows_a_draw(largest["calibrated"], sizes.back()).value,
      rows_a_draw(largest["sgld-cv"], sizes.back()).value);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ordered_json& served = results[i]["served"];
    if (!std::isnan(served_seconds(results[i]))) continue;
    report.note(
        "At N = {} what is served is not within {:g} sd and {:g} % at the end of {:g} s, so that "
        "(c) is missing there: its worst mean is {:.2g} sd off then and its worst sd {:.3g} of the "
        "true one{}.",
        sizes[i], kMeanBar, 100 * kSpreadBar, kWatchedSeconds, number_from(served["mean"]),
        number_from(served["ratio"]),
        served["warming_up"].get<bool>() ? ", and it is warming up" : "");
  }
  // Relative standard error of an sd from n effective draws of a normal: 1 / sqrt(2 n).
  const double spread_error = 1 / std::sqrt(2 * kWanted);
  const double all_within = std::pow(std::erf(kSpreadBar / spread_error / std::sqrt(2.0)), 10);
  report.note(
      "(a) / (c) divides unlike things: NUTS's time until it has {:g} effective draws by our time "
      "until an answer is served whose mean and sd, by Newton's method and the curvature, wait for "
      "no draws. That time is the one from which every answer of {:g} s stays within {:g} sd and "
      "{:g} % of the truth, and is past warming up. {:g} draws stand beside it because a sampler "
      "has a spread of n effective draws with an error of 1 / sqrt(2 n), {:.2g} % here, so that "
      "the worst of ten sds is within {:g} % in {:.3g} % of runs. (a) / (b) has the same thing on "
      "both sides.",
      kWanted, kWatchedSeconds, kMeanBar, 100 * kSpreadBar, kWanted, 100 * spread_error,
      100 * kSpreadBar, 100 * all_within);
  report.note(
      "± of a rate, of a ratio of rates and of a crossover is that of the effective draws, by the "
      "spread of eight stretches of the chains; the clock's own is not in it.");
  report.note(
      "With the tutorial's own settings (step 1e-3 on the potential of all rows, minibatch 32, "
      "friction 0.1, section 11.5) SGLD and SGHMC are {:.2g} and {:.2g} posterior sd off at N = "
      "{}, whatever their effective draws per second. Of its Figure 12 the tutorial says as much: "
      "NUTS recovers the coefficients at every N, SGLD lands off by roughly a factor of 10, SGHMC "
      "diverges at large N. Its draws per second are of the first coefficient, ours the least of "
      "ten.",
      mean_off(largest["printed-sgld"], largest["nuts"]).value,
      mean_off(largest["printed-sghmc"], largest["nuts"]).value, sizes.back());
}

}  // namespace windhover::reproduce
