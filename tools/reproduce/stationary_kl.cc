// KL of the stationary laws of constant-rate samplers from the posterior: Mandt, Hoffman and Blei
// 2017, Table 1.
#include <Eigen/LU>

#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/kl_cases.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/optimizers.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kEngines = 4;  // independent engines per simulated figure
constexpr double kRelaxations = 20;  // that each chain must last; otherwise it is not simulated

// Steps of all runs together: of the default and its main rivals, the same for each, and what the
// others may take. By set; Skin's are a hundred times as long.
struct Budget {
  std::array<std::array<double, 2>, 3> main;  // standardised, unit maximum
  std::array<double, 3> most;
};
constexpr Budget kQuickBudget = {{{{3e6, 3e6}, {1e7, 1e7}, {1.5e5, 1e5}}}, {1e6, 1e6, 4e4}};
constexpr Budget kThoroughBudget = {{{{6e6, 6e6}, {1.2e7, 1.2e7}, {2e6, 2e6}}}, {2e8, 2e8, 5e6}};

// KL of black-box variational inference's Gaussian, from theta = 0.
double run_bbvi(const KlCase& c, bool full, std::uint64_t steps, std::uint64_t seed) {
  OwnedModel model(c.problem.model, c.problem.data);
  const VariationalFit q = bbvi(
      model, VectorXd::Zero(c.problem.dimension()),
      {.full = full, .minibatch_size = c.problem.minibatch_size, .steps = steps, .seed = seed});
  return c.kl(q.mean, q.covariance());
}

// The steps that a method's chains need, all runs together.
double needed_steps(const ExactKl& exact) {
  return kRelaxations * exact.relaxation * kEngines * kKlChains;
}

// Steps of all runs together; 0 for a method that is not simulated.
std::uint64_t steps_of(const Context& context, const KlCase& c, std::size_t method,
                       const ExactKl& exact) {
  const Budget& budget = context.quick() ? kQuickBudget : kThoroughBudget;
  const double main = budget.main[c.set][c.scale()];
  const double most = is_main(method) ? main : budget.most[c.set];
  const double needed = needed_steps(exact);
  if (!std::isfinite(exact.kl) || needed > most) return 0;
  return static_cast<std::uint64_t>(std::min(most, std::max(needed, main)));
}

// Which methods are not simulated, and why.
void add_reasons(const Context& context, const KlCase& c, const std::vector<ExactKl>& exact,
                 Report& report) {
  const double most = (context.quick() ? kQuickBudget : kThoroughBudget).most[c.set];
  std::vector<std::string> unstable;
  std::vector<std::string> slow;
  for (std::size_t m = 0; m < kKlMethods.size(); ++m) {
    if (steps_of(context, c, m, exact[m]) > 0) continue;
    if (!std::isfinite(exact[m].kl)) {
      unstable.emplace_back(kKlMethods[m].label);
    } else {
      slow.push_back(fmt::format("{} ({:.2g}, which makes {:.2g})", kKlMethods[m].label,
                                 exact[m].relaxation, needed_steps(exact[m])));
    }
  }
  if (unstable.empty() && slow.empty()) return;
  std::string text = fmt::format("{}, not simulated.", c.name());
  if (!unstable.empty()) text += fmt::format(" Unstable: {}.", fmt::join(unstable, "; "));
  if (!slow.empty()) {
    text += fmt::format(
        " Too slow, with the steps in which the slowest direction relaxes and what {} chains of "
        "{:g} relaxations take, where {:.2g} are affordable: {}.",
        kEngines * kKlChains, kRelaxations, most, fmt::join(slow, "; "));
  }
  report.note(text);
}

// Where no stationary law agrees with the paper's figures, short runs may.
void add_short_runs(const Context& context, const KlCase& c, Report& report) {
  if (c.set == 2 || c.scaling == Scaling::kStandardized) return;
  std::vector<std::string> ends;
  const auto add = [&](std::size_t m, const std::string& from, const VectorXd& start, double steps,
                       std::size_t chains) {
    const auto whole = static_cast<std::uint64_t>(steps);
    const Estimate kl = short_run_kl(context, c.problem, c.config(m), start, whole, chains);
    Table(report, fmt::format("{}: all iterates of one chain from {}", c.name(), from))
        .add(fmt::format("{}, {} steps (nats)", kKlMethods[m].label, whole), kl)
        .beside(kKlMethods[m].papers[c.set], "Table 1", 1);
    return fmt::format("{:.3g} ± {:.1g} after {:.0f} steps", kl.value, kl.mcse, std::floor(steps));
  };
  if (c.set == 0) {
    for (const double passes : {14, 28}) {
      ends.push_back(add(kSgdF, "the mode", c.problem.posterior.mode,
                         passes * c.problem.n() / c.at_mode.minibatch_size, 20));
    }
    report.note(
        "{}: the paper prints {} for SGD-f. All iterates of a single chain from the mode have {}.",
        c.name(), kKlMethods[kSgdF].papers[c.set], fmt::join(ends, " and "));
    return;
  }
  for (const double steps : {1e4, 1e5, 1e6, 1e7}) {
    if (context.quick() && steps > 1e6) continue;
    ends.clear();
    for (const std::size_t m : {kSgd, kSgdD}) {
      ends.push_back(fmt::format("{}'s {}", kKlMethods[m].label,
                                 add(m, "0", VectorXd::Zero(c.problem.dimension()), steps, 4)));
    }
  }
  report.note(
      "{}: the paper prints {} for SGD and {} for SGD-d. All iterates of a single chain from 0 "
      "have {}: such a chain has the paper's figure somewhere on its way to the law.",
      c.name(), kKlMethods[kSgd].papers[c.set], kKlMethods[kSgdD].papers[c.set],
      fmt::join(ends, " and "));
}

// Gives the exact laws, one per method.
std::vector<ExactKl> run_case(const Context& context, const KlCase& c, double share,
                              Report& report) {
  std::vector<ExactKl> exact(kKlMethods.size());
  context.parallel(kKlMethods.size(), [&](std::size_t m) { exact[m] = exact_kl(c, m); });
  const std::uint64_t bbvi_steps =
      c.set == 2 ? context.choose(3000, 30'000) : context.choose(30'000, 300'000);
  const RunMoments posterior{1, c.problem.posterior.mode, c.problem.posterior.covariance};
  std::vector<PartJob> jobs;
  std::vector<std::size_t> methods;  // of the jobs; past the table: variational, mean-field, full
  for (std::size_t run = 0; run < kEngines; ++run) {
    const std::uint64_t seed = context.seed() * 1000 + run;
    const auto add = [&](std::size_t method, const std::string& what, std::uint64_t steps,
                         std::function<ordered_json()> compute) {
      jobs.push_back({fmt::format("{}-{}-{}", c.key(), method, run),
                      fmt::format("{}, {} steps", what, steps), std::move(compute)});
      methods.push_back(method);
    };
    for (std::size_t m = 0; m < kKlMethods.size(); ++m) {
      const std::uint64_t steps = steps_of(context, c, m, exact[m]) / kEngines;
      const SamplerConfig config = c.config(m);
      if (steps == 0) continue;
      add(m, settings_text(config), steps,
          [=, &c] { return simulate(c.problem, config, steps, seed); });
    }
    for (const bool full : {false, true}) {
      add(kKlMethods.size() + (full ? 1 : 0), "bbvi", bbvi_steps,
          [=, &c] { return run_bbvi(c, full, bbvi_steps, seed); });
    }
  }
  std::vector<std::vector<RunMoments>> moments(kKlMethods.size());
  std::array<std::vector<double>, 2> variational;
  const auto parts = context.run_parts(jobs, {c.name(), share, share + 1.0 / 6});
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (methods[j] < kKlMethods.size()) {
      moments[methods[j]].push_back(moments_from(parts[j]));
    } else {
      variational[methods[j] - kKlMethods.size()].push_back(
          parts[j].is_number() ? parts[j].get<double>() : std::numeric_limits<double>::infinity());
    }
  }

  std::vector<KlLine> lines;
  ordered_json details;
  for (std::size_t m = 0; m < kKlMethods.size(); ++m) {
    KlLine line{
        .label = kKlMethods[m].label, .papers = kKlMethods[m].papers[c.set], .exact = exact[m].kl};
    if (!moments[m].empty()) {
      line.steps = steps_of(context, c, m, exact[m]);
      line.chance = compare(moments[m], {posterior}).kl_by_chance;
      line.simulated = jackknife(
          moments[m], [&](const RunMoments& run) { return c.kl(run.mean, run.covariance); });
    }
    details[line.label] = {{"continuous_limit", exact[m].continuous},
                           {"relaxation_steps", exact[m].relaxation},
                           {"steps", steps_of(context, c, m, exact[m])}};
    lines.push_back(line);
  }
  const MatrixXd precision = c.problem.n() * c.problem.posterior.curvature;
  const Gaussian optimum = mean_field_optimum(c.problem.posterior.mode, precision);
  // The optimum of a full Gaussian on a linear model; of another it is not known.
  const double full = c.kl(optimum.mean, precision.inverse());
  lines.push_back({"BBVI, mean-field", kPapersBbvi[c.set], c.kl(optimum.mean, optimum.covariance),
                   mean_of(variational[0]), bbvi_steps});
  lines.push_back({"BBVI, full", kNone, c.linear() ? std::optional(full) : std::nullopt,
                   mean_of(variational[1]), bbvi_steps});
  for (KlLine& line : lines) line.papers_decimals = c.set == 2 ? -1 : 1;
  lines[kDefault].bar = at_most(c.bar());
  add_kl_figures(c.name(), c.linear(), lines, report);
  add_reasons(context, c, exact, report);
  add_short_runs(context, c, report);
  report.detail(c.name(), details);
  return exact;
}

std::string ratio(double ours, double papers) { return fmt::format("{:.2f}", ours / papers); }

// `exact`: in the order in which run_stationary_kl() runs the cases.
void add_findings(const std::array<std::vector<ExactKl>, 6>& exact, Report& report) {
  const auto& [wine_z, wine_m, protein_z, protein_m, skin_z, skin_m] = exact;
  const auto papers = [](std::size_t method, std::size_t set) {
    return kKlMethods[method].papers[set];
  };
  report.note(
      "The paper's \"unit length\" is not said further. With columns divided by their largest "
      "value, neither centred nor with an intercept, SGD and SGD-d on Wine have {} and {} times "
      "the paper's KL in discrete time, {} and {} times in the Ornstein-Uhlenbeck limit; on Skin "
      "SGD-d and SGD-f have {} and {} times the paper's with standardised features. On Protein it "
      "prints {} and {} for SGD and SGD-d, where the exact laws of SGD have {:.3g} standardised "
      "and {:.3g} otherwise: its slowest direction takes {:.1e} and {:.1e} steps there.",
      ratio(wine_m[kSgd].kl, papers(kSgd, 0)), ratio(wine_m[kSgdD].kl, papers(kSgdD, 0)),
      ratio(wine_m[kSgd].continuous, papers(kSgd, 0)),
      ratio(wine_m[kSgdD].continuous, papers(kSgdD, 0)), ratio(skin_z[kSgdD].kl, papers(kSgdD, 2)),
      ratio(skin_z[kSgdF].kl, papers(kSgdF, 2)), papers(kSgd, 1), papers(kSgdD, 1),
      protein_z[kSgd].kl, protein_m[kSgd].kl, protein_z[kSgd].relaxation,
      protein_m[kSgd].relaxation);
  report.note(
      "The paper prints {} and {} for SGD-f on Wine and Protein. Its exact law is {:.2g} and "
      "{:.2g} from the posterior standardised, {:.2g} and {:.2g} otherwise. The paper fits a "
      "Gaussian to iterates and does not say to how many: chance adds to its figures, as the rows "
      "\"of that by chance\" show for ours.",
      papers(kSgdF, 0), papers(kSgdF, 1), wine_z[kSgdF].kl, protein_z[kSgdF].kl, wine_m[kSgdF].kl,
      protein_m[kSgdF].kl);
}

// Notes where our file's number of features is not the paper's.
void add_features(const std::array<std::size_t, kSets.size()>& features, Report& report) {
  constexpr std::array kNames = {"Wine", "Protein", "Skin"};
  for (std::size_t set = 0; set < kSets.size(); ++set) {
    const int papers = kPapersFeatures[set];
    if (features[set] == static_cast<std::size_t>(papers)) continue;
    report.note(
        "{} has {} features here, as the file of its source has, and {} in the paper, which does "
        "not say which one it leaves out.",
        kNames[set], features[set], papers);
  }
}

}  // namespace

void run_stationary_kl(const Context& context, Report& report) {
  report.plot().panel_width = 720;
  report.plot().panel_height = 480;
  std::array<std::vector<ExactKl>, 2 * kSets.size()> exact;
  std::array<std::size_t, kSets.size()> features{};
  for (std::size_t i = 0; i < 2 * kSets.size(); ++i) {
    const Scaling scaling = i % 2 == 0 ? Scaling::kStandardized : Scaling::kUnitMaximum;
    const KlCase c(context, i / 2, scaling);
    exact[i] = run_case(context, c, static_cast<double>(i) / 6, report);
    features[i / 2] = c.problem.data.columns();
  }
  report.note(
      "The exact law solves for the covariance under minibatches drawn with replacement, with the "
      "noise that the spread of θ itself adds; 0 but for rounding for the default, which is told "
      "the noise averaged over the posterior, as its chains measure it. The others are told the "
      "noise at the mode.");
  report.note(
      "The posterior is exact for the linear models and Laplace's Gaussian on Skin: `ground-truth` "
      "says how far HMC and Stan are from that.");
  add_findings(exact, report);
  add_features(features, report);
  add_kl_notes(kEngines, kEngines * kKlChains, report);
}

}  // namespace windhover::reproduce
