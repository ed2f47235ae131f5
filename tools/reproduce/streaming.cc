// Coverage, spread and lag of every way to serve a posterior of a stream, and of shortcuts that
// fail.
#include "windhover/tools/reproduce/streaming.h"

namespace windhover::reproduce {
namespace {

constexpr double kLagWithin = 0.15;  // relative
constexpr double kShortcutWithin = 0.01;

// Replications with 5 parameters each, so many that a coverage of `expected` is known to a third of
// that.
std::size_t shortcut_replications(double expected) {
  const double error = 0.9 * kShortcutWithin / 3;
  const double needed = expected * (1 - expected) / (5 * error * error);
  return std::max<std::size_t>(500, static_cast<std::size_t>(needed));
}

// The distance of the served mean and of the chains from the mean of a moving window.
void add_lag(const Context& context, Report& report) {
  constexpr std::array kPaces = {1, 4, 16};
  const std::size_t replications = context.choose<std::size_t>(160, 800);
  Panel panel = Panel{"Distance of 32 chains' average from the mean of the window",
                      "draws per new row, R", "squared, over sd^2"}
                    .log("y")
                    .legend_at("outside top center horizontal")
                    .x_in(0, 17);
  Series engine = Series::points("engine, carried along", 0);
  Series engine_law = Series::dashes("in theory, 1 / 32", 0);
  Series followers = Series::points("left to follow", 1);
  Series followers_law = Series::dashes("in theory", 1);
  std::vector<Estimate> carried;
  std::vector<Estimate> left;
  for (const int pace : kPaces) {
    const std::string group = fmt::format("lag behind a window that moves, R = {}", pace);
    Table table(report, group);
    const Runs runs = replicated(context, fmt::format("lag-{}", pace), group, replications,
                                 [&](std::uint64_t seed) { return lag_of_engine(pace, seed); });
    const Runs following = replicated(
        context, fmt::format("following-{}", pace), group, 2 * replications,
        [&](std::uint64_t seed) { return lag_of_followers(static_cast<std::size_t>(pace), seed); });
    const auto add = [&](const std::string& name, const Estimate& e, double law, Series& points,
                         Series& line) {
      table.add(fmt::format("{} (in theory {:.4f})", name, law), e)
          .held_to(within(law, kLagWithin * law, e));
      points.add(pace, e);
      line.add(pace, law);
    };
    table.add("served mean from the window's own (squared, over sd^2)", mean_of(runs, "served"))
        .held_to(at_most(1e-6));
    carried.push_back(mean_of(runs, "chains"));
    add("chains' average from it, squared, over sd^2", carried.back(), kLagWhenCarried, engine,
        engine_law);
    left.push_back(mean_of(following, "chains"));
    add("the same of chains that nothing carries along", left.back(), lag_when_following(pace),
        followers, followers_law);
  }
  panel.series = {engine, engine_law, followers, followers_law};
  report.add(panel);
  const auto beyond = [](const Estimate& e) { return e.value - 1.0 / kLagChains; };
  report.note(
      "Lag: what is served is centred on the mean of the window itself. The chains behind the "
      "draws are carried along with it, as far as they have not gone by themselves; their average "
      "is {:.3f} (R = 1), {:.3f} (R = 4) and {:.3f} (R = 16) of sd^2 beyond the 1 / 32 that "
      "independent chains have, where chains that nothing carries along are {:.3f}, {:.3f} and "
      "{:.3f} beyond it.",
      beyond(carried[0]), beyond(carried[1]), beyond(carried[2]), beyond(left[0]), beyond(left[1]),
      beyond(left[2]));
}

void add_shortcuts(const Context& context, Report& report) {
  Panel panel = Panel{"Shortcuts that fail", "", "covered; variance over what is due"}
                    .legend_at("outside top center horizontal")
                    .y_in(-0.1, 1.9)
                    .level();
  Series covers = Series::points("covered", 0);
  Series spread = Series::points("variance", 1);
  Series theory = Series::points("in theory", 7).of_paper();
  std::size_t done = 0;
  for (const Shortcut& shortcut : shortcuts()) {
    const auto runs = replicated(context, fmt::format("shortcut-{}", done), shortcut.name,
                                 shortcut_replications(shortcut.covers), shortcut.run);
    Table table(report, fmt::format("{} (expect: {})", shortcut.name, shortcut.fails));
    const Estimate covered = mean_of(runs, "covers");
    const Estimate variance = mean_of(runs, "spread");
    table.add(fmt::format("covers (in theory {:.3f})", shortcut.covers), covered)
        .held_to(around(shortcut.covers, kShortcutWithin, covered));
    const auto at = static_cast<double>(done);
    covers.add(at - 0.15, covered);
    spread.add(at + 0.1, variance);
    theory.add(at - 0.03, shortcut.covers);
    if (shortcut.spread) {
      const double due = *shortcut.spread;
      table.add(fmt::format("variance over what it should be (in theory {:.3f})", due), variance)
          .held_to(around(due, 0.05, variance));
      theory.add(at + 0.22, due);
    } else {
      table.add("variance over what it should be", variance);
    }
    panel.categories.push_back(shortcut.name);
    ++done;
  }
  panel.series = {covers, spread, theory};
  add_level(panel, "nominal coverage", kNominal, 7);
  report.add(panel);
}

}  // namespace

void run_streaming(const Context& context, Report& report) {
  report.plot().panel_width = 960;
  report.plot().panel_height = 480;
  const std::span<const WorldFacts> worlds = stationary_worlds();
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const double share = 0.8 / static_cast<double>(worlds.size());
    add_world(context, worlds[w], share * static_cast<double>(w),
              share * static_cast<double>(w + 1), report);
  }
  context.progress(0.8, "a truth that wanders, and lag");
  add_wandering(context, report);
  add_lag(context, report);
  context.progress(0.9, "shortcuts");
  add_shortcuts(context, report);
  const VectorXd& widened = pseudo_truth().widened;
  report.note(
      "Models of 10 parameters on rows whose features have AR(1) correlation 0.5, worth 1000 rows; "
      "a window is looked at four times, each when all its rows are new; streams without a window "
      "are 2000 rows long. \"Model fails\": linear, noise of variance 0.25 + 0.75 x_2^2; logistic, "
      "x_2^2 - 2.5 + x_4 x_5 is in the predictor and not in the model, and the truth is where the "
      "model's expected loss is least. The misspecified coefficient is the one whose estimate has "
      "the most times the variance that the model says: 1.9 (linear, x_2) and {:.2f} (logistic, "
      "x_{}). Intervals are mean +- 1.645 sd, with the posterior's sd, with sd_robust, and with "
      "the sd of the 64 retained draws, which alone makes 0.9 into 0.895.",
      widened.maxCoeff(), exposed_parameter(World::kOmitted));
  report.note(
      "Bars of coverage: 0.885 to 0.915 where the model holds, 0.88 to 0.92 for what claims to "
      "cover where it fails, and neither is widened by the run's own error; a run whose standard "
      "error exceeds a third of the tolerance cannot tell and meets none. Where the model holds "
      "everything claims to cover. Where it fails, sd_robust does (the same number for every "
      "regime of a horizon, judged once) and the draws of `sandwich`, of random weights and of "
      "injected C, over all parameters and for the misspecified coefficient alone; the other "
      "figures show what the bar is worth: they claim nothing.");
  report.note(
      "*: the engine's random weights are 0 or 2, a random bit a row; Poisson(1) and Exp(1) "
      "weights, which it does not offer, are simulated by the same recursion with 64 chains and "
      "the exact A.");
  report.note(
      "The truth that wanders takes a step of covariance q A^-1 a row, q = g^2, g = 2 / (N + S): "
      "the gain of `fading` is then that of the Kalman filter, the error of its mean has "
      "variance 2 V, and `forgetting_spread = posterior`, which serves 2 V, is right. The same "
      "spread covers too often where the truth stays. 2 V stands for 2 N / (N + S) = 1.90 V, since "
      "the S rows of a minibatch count alike.");
  report.note(
      "Shortcuts are held to failing as theory has it: coverage within 0.01 and variance within "
      "0.05, three standard errors wider. None of these bars holds for a posterior that is right, "
      "but for those of the first, in which each chain has its own minibatches. SGFS on fresh rows "
      "that all chains share has chains of variance alpha^2 / (1 + alpha^2) V about a centre of "
      "variance V / (1 + alpha^2): right at alpha = 1 alone, for 2 N rows.");
}

}  // namespace windhover::reproduce
