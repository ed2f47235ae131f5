// Coverage and spread of the regimes of `streaming`, in every world.
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/streaming.h"

namespace windhover::reproduce {

void add_level(Panel& panel, const char* label, double level, int colour) {
  const auto last = static_cast<double>(panel.categories.size()) - 0.5;
  panel.add(Series::dashes(label, colour, {-0.5, last}, {level, level}));
}

namespace {

// Tolerances of a coverage, where the model holds and where it does not.
constexpr double kWithinWhereItHolds = 0.015;
constexpr double kWithinWhereItFails = 0.02;

Bar coverage_bar(bool holds, const Estimate& simulated) {
  return within(kNominal, holds ? kWithinWhereItHolds : kWithinWhereItFails, simulated);
}

// One of the intervals of a regime in a world.
struct Interval {
  const char* key;
  const char* name;
  int colour;
};
constexpr std::array kIntervals = {Interval{"draws", "draws", 0}, Interval{"plain", "sd", 1},
                                   Interval{"robust", "sd_robust", 2}};

// Where the model is wrong, only regimes made for that claim coverage. `sd_robust`, which is the
// same for every regime of a horizon, is judged there once.
bool claims(const Interval& interval, bool holds, bool robust) {
  return holds || (robust && std::string_view(interval.key) != "plain");
}

// A regime in a world: its figures, and its marks in the panel.
void add_coverage(Report& report, Panel& panel, const WorldFacts& world, const char* regime,
                  bool robust, const Runs& runs) {
  Table table(report, fmt::format("{}: {}", world.name, regime));
  for (std::size_t i = 0; i < kIntervals.size(); ++i) {
    const Interval& interval = kIntervals[i];
    if (!runs[0].contains(interval.key)) continue;
    const bool claimed = claims(interval, world.holds, robust);
    for (const bool exposed : {false, true}) {
      if (exposed && world.holds) continue;
      const std::string key = std::string(interval.key) + (exposed ? "_exposed" : "");
      const Estimate covered = mean_of(runs, key.c_str());
      table
          .add(fmt::format("{} cover{}{}", interval.name, i == 0 ? "" : "s",
                           exposed ? " the misspecified coefficient" : ""),
               covered)
          .held_to(when(claimed, coverage_bar(world.holds, covered)));
      const double shift = 0.14 * (static_cast<double>(i) - 1) + (exposed ? 0.07 : 0);
      panel.series[i + (exposed ? kIntervals.size() : 0)].add(
          static_cast<double>(panel.categories.size()) + shift, covered);
    }
  }
  panel.categories.emplace_back(regime);
}

// The bar of the draws' spread where the model holds. A window has none, as its chains alone do not
// determine it.
std::optional<Bar> spread_bar(const Regime& regime, const Estimate& spread) {
  if (regime.horizon == Horizon::kWindow) return {};
  const bool weighted_and_fading =
      regime.horizon == Horizon::kFading && regime.noise == SinglePassNoise::kWeights;
  // Multiplicative noise widens by 4 to 7 % at N / D = 100.
  if (weighted_and_fading) return decided_within({1.0, 1.07}, 0.035, spread.mcse);
  return within(1, 0.03, spread);
}

void add_other_figures(Report& report, const WorldFacts& world, const Regime& regime,
                       const Runs& runs) {
  Table table(report, fmt::format("{}: {}", world.name, regime.name));
  const Estimate spread = mean_of(runs, "spread");
  table.add("spread of the draws (variance over sd^2)", spread)
      .held_to(world.world == World::kLinear ? spread_bar(regime, spread) : std::nullopt);
  table.add("error of the centre (squared, over sd^2)", mean_of(runs, "centre"));
}

// A misspecified coefficient gives one number per posterior; 2025 of them decide about 0.02. A
// replication of a window has four posteriors.
std::size_t replications_of(const Context& context, const WorldFacts& world, bool robust,
                            std::size_t looks) {
  const std::size_t posteriors = world.holds ? context.choose<std::size_t>(1000, 4000)
                                 : robust    ? context.choose<std::size_t>(4000, 6000)
                                             : context.choose<std::size_t>(240, 2400);
  return posteriors / looks;
}

}  // namespace

void add_world(const Context& context, const WorldFacts& world, double begin, double end,
               Report& report) {
  const Index exposed = exposed_parameter(world.world);
  Panel panel =
      Panel{fmt::format("Coverage: {}", world.name), "", "share covered by 90 % intervals"}
          .legend_at("outside top center horizontal maxrows 2")
          .y_in(world.holds ? 0.84 : 0.6, world.holds ? 0.96 : 1.0)
          .level();
  for (const Interval& interval : kIntervals) {
    panel.add(Series::points(interval.name, interval.colour));
  }
  for (const Interval& interval : kIntervals) {
    if (world.holds) break;
    panel.add(Series::points(fmt::format("{}, misspecified", interval.name), interval.colour + 3));
  }
  const auto simulated = [&](const std::string& key, const char* regime, bool robust,
                             std::size_t looks,
                             const std::function<ordered_json(std::uint64_t)>& run) {
    const std::string text = fmt::format("{}: {}", world.name, regime);
    const auto done = static_cast<double>(panel.categories.size());
    context.progress(begin + (end - begin) * done / static_cast<double>(regimes().size() + 2),
                     text);
    return replicated(context, fmt::format("{}-{}", static_cast<int>(world.world), key), text,
                      replications_of(context, world, robust, looks), run);
  };
  for (const Regime& regime : regimes()) {
    const Runs runs = simulated(fmt::format("regime-{}", panel.categories.size()), regime.name,
                                regime.robust, looks_of(regime), [&](std::uint64_t seed) {
                                  return replicate(regime, world.world, exposed, seed);
                                });
    add_coverage(report, panel, world, regime.name, regime.robust, runs);
    add_other_figures(report, world, regime, runs);
  }
  for (const auto& [law, name] : {std::pair{RowWeightLaw::kPoisson, "forgets, Poisson weights*"},
                                  {RowWeightLaw::kExponential, "forgets, Exp(1) weights*"}}) {
    // Both have the same law. Where the model is wrong one of them is enough.
    if (std::string_view(world.model) != "linear") break;
    if (law == RowWeightLaw::kExponential && !world.holds) break;
    const Runs runs = simulated(
        fmt::format("weights-{}", static_cast<int>(law)), name, true, 1,
        [&, law = law](std::uint64_t seed) { return weighted(law, world.world, exposed, seed); });
    add_coverage(report, panel, world, name, true, runs);
    Table(report, fmt::format("{}: {}", world.name, name))
        .add("spread of the draws (variance over the model's)", mean_of(runs, "spread"));
  }
  const double width = world.holds ? kWithinWhereItHolds : kWithinWhereItFails;
  add_level(panel, "bar, where claimed", kNominal + width, 7);
  add_level(panel, "", kNominal - width, 7);
  report.add(panel);
}

void add_wandering(const Context& context, Report& report) {
  constexpr double kWithin = 0.02;
  // The factor that "2 V" stands for with minibatches of S rows: 2 N / (N + S).
  constexpr double kTwice =
      2 * static_cast<double>(kEffective) / static_cast<double>(kEffective + kMinibatch);
  const std::size_t replications = context.choose<std::size_t>(600, 4000);
  Panel panel = Panel{"Coverage of fading, where the truth wanders and where it stays", "",
                      "share covered by 90 % intervals"}
                    .legend_at("outside top center horizontal")
                    .y_in(0.7, 1.02)
                    .level();
  Series covered = Series::points("sd", 1);
  Series draws = Series::points("draws", 0);
  Series theory = Series::points("in theory", 7).of_paper();
  for (const bool wanders : {true, false}) {
    for (const bool twice : {false, true}) {
      if (!wanders && !twice) continue;  // is among the regimes
      const Regime regime =
          wandering_regime(twice ? ForgettingSpread::kPosterior : ForgettingSpread::kSampling);
      const char* name =
          wanders ? (twice ? "wanders, spread 2V" : "wanders, spread V") : "stays, spread 2V";
      const World world = wanders ? World::kWandering : World::kLinear;
      const Runs runs =
          replicated(context, fmt::format("wandering-{}-{}", wanders, twice), name, replications,
                     [&](std::uint64_t seed) { return replicate(regime, world, 2, seed); });
      // The error has variance V from sampling and, at Kalman's gain, as much from the walk.
      const double expected = coverage_of_draws((twice ? kTwice : 1.0) / (wanders ? kTwice : 1.0));
      const auto x = static_cast<double>(panel.categories.size());
      Table table(report, fmt::format("truth {}", name));
      for (const Interval& interval : {kIntervals[0], kIntervals[1]}) {
        const Estimate e = mean_of(runs, interval.key);
        const bool right = wanders && twice;
        table
            .add(right ? fmt::format("{} covers", interval.name)
                       : fmt::format("{} covers (in theory {:.3f})", interval.name, expected),
                 e)
            .held_to(right ? coverage_bar(true, e) : within(expected, kWithin, e));
        (interval.colour == 0 ? draws : covered).add(x + 0.1 * interval.colour - 0.05, e);
      }
      theory.add(x + 0.15, expected);
      table.add("error of the centre (squared, over sd^2)", mean_of(runs, "centre"));
      panel.categories.emplace_back(name);
    }
  }
  panel.series = {draws, covered, theory};
  add_level(panel, "nominal", kNominal, 7);
  report.add(panel);
}

}  // namespace windhover::reproduce
