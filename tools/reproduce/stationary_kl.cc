// KL of the stationary laws of constant-rate samplers from the posterior: Mandt, Hoffman and Blei
// 2017, Table 1.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "windhover/tools/reproduce/bbvi.h"
#include "windhover/tools/reproduce/comparison.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/kl_figures.h"
#include "windhover/tools/reproduce/kl_short_runs.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/simulation.h"

namespace windhover::reproduce {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr std::size_t kRuns = 4;      // independent engines a simulated figure
constexpr std::uint32_t kChains = 2;  // of each
constexpr double kRelaxations = 20;   // of each chain, or it is not simulated
constexpr std::array kSets = {"wine", "protein", "skin"};

enum class Rate { kOwn, kPapersStep, kEquation15 };

struct Method {
  const char* label;
  const char* sampler;
  Rate rate = Rate::kOwn;
  double alpha = 0;              // SGFS: noise_scale
  std::array<double, 3> papers;  // Wine, Protein, Skin
};

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr std::array kMethods = {
    Method{"SGD", "sgd", Rate::kOwn, 0, {18.7, 1000.9, 0.471}},
    Method{"SGD-d", "sgd-d", Rate::kOwn, 0, {14.0, 678.4, 0.921}},
    Method{"SGD-f", "sgd-f", Rate::kOwn, 0, {0.7, 1.8, 0.005}},
    Method{"SGLD", "sgld", Rate::kOwn, 0, {kNone, kNone, kNone}},
    Method{"SGLD, paper's step", "sgld", Rate::kPapersStep, 0, {2.9, 4.5, 0.905}},
    Method{"SGFS-d, α = 0", "sgfs-d", Rate::kOwn, 0, {kNone, kNone, kNone}},
    Method{"SGFS-f, α = 0", "sgfs-f", Rate::kOwn, 0, {kNone, kNone, kNone}},
    Method{"SGFS-d, eq. 15", "sgfs-d", Rate::kEquation15, 0, {12.8, 597.4, 0.864}},
    Method{"SGFS-f, eq. 15", "sgfs-f", Rate::kEquation15, 0, {0.8, 1.3, 0.005}},
    Method{"default", "calibrated", Rate::kOwn, 0, {kNone, kNone, kNone}},
};
constexpr std::size_t kSgd = 0;
constexpr std::size_t kSgdD = 1;
constexpr std::size_t kSgdF = 2;
constexpr std::size_t kSgfsF = 6;
constexpr std::size_t kDefault = kMethods.size() - 1;
constexpr bool is_main(std::size_t method) {
  return method == kDefault || method == kSgdF || method == kSgfsF;
}
constexpr std::array<double, 3> kPapersBbvi = {44.7, 478.1, 5.74};
constexpr std::array<double, 3> kPapersSteps = {1e-3, 1e-6, 1e-5};
// Bars of the default, by set: standardised, unit maximum.
constexpr std::array<std::array<double, 2>, 3> kBars = {
    {{0.001, 0.001}, {0.002, 0.04}, {0.003, 0.0025}}};
constexpr std::array<int, 3> kPapersFeatures = {11, 8, 3};

// Steps of all runs together: of the default and its main rivals, the same for each, and what the
// others may take. By set; Skin's are a hundred times as long.
struct Budget {
  std::array<std::array<double, 2>, 3> main;  // standardised, unit maximum
  std::array<double, 3> most;
};
constexpr Budget kQuick = {{{{3e6, 3e6}, {1e7, 1e7}, {1.5e5, 1e5}}}, {1e6, 1e6, 4e4}};
constexpr Budget kThorough = {{{{6e6, 6e6}, {1.2e7, 1.2e7}, {2e6, 2e6}}}, {2e8, 2e8, 5e6}};

SamplerConfig config_of(const Method& method, std::size_t set, const KnownEstimates& e) {
  SamplerConfig config{.name = method.sampler,
                       .minibatch_size = static_cast<std::uint32_t>(e.minibatch_size),
                       .chains = kChains,
                       .noise_scale = method.alpha};
  // Their step epsilon multiplies half the gradient of the log posterior.
  if (method.rate == Rate::kPapersStep) config.step_size = kPapersSteps[set] * e.n / 2;
  if (method.rate == Rate::kEquation15) {
    const auto d = static_cast<double>(e.curvature.rows());
    config.step_size_max = 2 * d * e.minibatch_size / (e.n * e.noise.trace());
  }
  return config;
}

double kl_of(const Problem& problem, const VectorXd& mean, const MatrixXd& covariance) {
  return gaussian_kl(mean, covariance, problem.posterior.mode, problem.posterior.covariance);
}

struct Case {
  std::size_t set;
  Scaling scaling;
  Problem problem;
  KnownEstimates at_mode;
  SpreadNoise spread;

  Case(const Context& context, std::size_t set_in, Scaling scaling_in)
      : set(set_in),
        scaling(scaling_in),
        problem(load_problem(context, kSets[set_in], scaling_in)),
        at_mode(problem),
        spread(problem) {}
  std::string name() const { return fmt::format("{}, {}", problem.name, to_string(scaling)); }
  std::size_t scale() const { return scaling == Scaling::kStandardized ? 0 : 1; }
  bool linear() const { return problem.model.name == "linear"; }
  double bar() const { return kBars[set][scale()]; }
  std::string key() const {
    return fmt::format("{}-{}", kSets[set], scaling == Scaling::kStandardized ? "z" : "m");
  }
};

struct Exact {
  double kl = std::numeric_limits<double>::infinity();
  double continuous = std::numeric_limits<double>::infinity();
  double relaxation = std::numeric_limits<double>::infinity();
};

Exact exact_law(const Case& c, std::size_t method) {
  KnownEstimates told = c.at_mode;
  // What the chains of the engine measure: C averaged over the posterior.
  if (method == kDefault) told.noise += c.spread(c.problem.posterior.covariance);
  const Law law = law_of(config_of(kMethods[method], c.set, c.at_mode), told);
  Exact exact;
  exact.relaxation = relaxation(law, c.at_mode.curvature);
  const VectorXd& mode = c.problem.posterior.mode;
  exact.continuous = kl_of(c.problem, mode, continuous_covariance(law, c.at_mode));
  const auto sigma = exact_covariance(law, c.at_mode, c.spread);
  if (sigma) exact.kl = kl_of(c.problem, mode, *sigma);
  return exact;
}

// KL of black-box variational inference's Gaussian, from theta = 0.
double run_bbvi(const Case& c, bool full, std::uint64_t steps, std::uint64_t seed) {
  OwnedModel model(c.problem.model, c.problem.data);
  const VariationalFit q = bbvi(
      model, VectorXd::Zero(c.problem.dimension()),
      {.full = full, .minibatch_size = c.problem.minibatch_size, .steps = steps, .seed = seed});
  return kl_of(c.problem, q.mean, q.covariance());
}

// What the chains of a method need, all runs together.
double needed_steps(const Exact& exact) {
  return kRelaxations * exact.relaxation * kRuns * kChains;
}

// Steps of all runs together; 0: it is not simulated.
std::uint64_t steps_of(const Context& context, const Case& c, std::size_t method,
                       const Exact& exact) {
  const Budget& budget = context.quick() ? kQuick : kThorough;
  const double main = budget.main[c.set][c.scale()];
  const double most = is_main(method) ? main : budget.most[c.set];
  const double needed = needed_steps(exact);
  if (!std::isfinite(exact.kl) || needed > most) return 0;
  return static_cast<std::uint64_t>(std::min(most, std::max(needed, main)));
}

// Which methods are not simulated, and why.
void add_reasons(const Context& context, const Case& c, const std::vector<Exact>& exact,
                 Report& report) {
  const double most = (context.quick() ? kQuick : kThorough).most[c.set];
  std::vector<std::string> unstable;
  std::vector<std::string> slow;
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    if (steps_of(context, c, m, exact[m]) > 0) continue;
    if (!std::isfinite(exact[m].kl)) {
      unstable.emplace_back(kMethods[m].label);
    } else {
      slow.push_back(fmt::format("{} ({:.2g}, which makes {:.2g})", kMethods[m].label,
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
        kRuns * kChains, kRelaxations, most, fmt::join(slow, "; "));
  }
  report.note(text);
}

// Where no stationary law has the paper's figures, short runs may.
void add_short_runs(const Context& context, const Case& c, Report& report) {
  if (c.set == 2 || c.scaling == Scaling::kStandardized) return;
  std::vector<std::string> ends;
  const auto add = [&](std::size_t m, const std::string& from, const VectorXd& start, double steps,
                       std::size_t chains) {
    const Estimate kl =
        add_short_run(context, c.name(), c.problem, c.at_mode,
                      {kMethods[m].label, config_of(kMethods[m], c.set, c.at_mode), from, start,
                       static_cast<std::uint64_t>(steps), kMethods[m].papers[c.set], chains},
                      report);
    return fmt::format("{:.3g} ± {:.1g} after {:.0f} steps", kl.value, kl.mcse, std::floor(steps));
  };
  if (c.set == 0) {
    for (const double passes : {14, 28}) {
      ends.push_back(add(kSgdF, "the mode", c.problem.posterior.mode,
                         passes * c.problem.n() / c.at_mode.minibatch_size, 20));
    }
    report.note(fmt::format(
        "{}: the paper prints {} for SGD-f. All iterates of a single chain from the mode have {}.",
        c.name(), kMethods[kSgdF].papers[c.set], fmt::join(ends, " and ")));
    return;
  }
  for (const double steps : {1e4, 1e5, 1e6, 1e7}) {
    if (context.quick() && steps > 1e6) continue;
    ends.clear();
    for (const std::size_t m : {kSgd, kSgdD}) {
      ends.push_back(fmt::format("{}'s {}", kMethods[m].label,
                                 add(m, "0", VectorXd::Zero(c.problem.dimension()), steps, 4)));
    }
  }
  report.note(
      fmt::format("{}: the paper prints {} for SGD and {} for SGD-d. All iterates of a single "
                  "chain from 0 have "
                  "{}: such a chain has the paper's figure somewhere on its way to the law.",
                  c.name(), kMethods[kSgd].papers[c.set], kMethods[kSgdD].papers[c.set],
                  fmt::join(ends, " and ")));
}

// Gives the exact laws, one a method.
std::vector<Exact> run_case(const Context& context, const Case& c, double share, Report& report) {
  std::vector<Exact> exact(kMethods.size());
  context.parallel(kMethods.size(), [&](std::size_t m) { exact[m] = exact_law(c, m); });
  struct Job {
    std::size_t method;  // beyond the table: variational
    std::size_t run;
    std::uint64_t steps;
  };
  std::vector<Job> jobs;
  const std::uint64_t bbvi_steps =
      c.set == 2 ? context.choose(3000, 30'000) : context.choose(30'000, 300'000);
  const RunMoments posterior{1, c.problem.posterior.mode, c.problem.posterior.covariance};
  for (std::size_t run = 0; run < kRuns; ++run) {
    for (std::size_t m = 0; m < kMethods.size(); ++m) {
      const std::uint64_t steps = steps_of(context, c, m, exact[m]);
      if (steps > 0) jobs.push_back({m, run, steps / kRuns});
    }
    jobs.push_back({kMethods.size(), run, bbvi_steps});
    jobs.push_back({kMethods.size() + 1, run, bbvi_steps});
  }
  std::vector<std::vector<RunMoments>> moments(kMethods.size());
  std::array<std::vector<double>, 2> variational;
  std::mutex mutex;
  context.parallel(jobs.size(), {c.name(), share, share + 1.0 / 6}, [&](std::size_t j) {
    const Job& job = jobs[j];
    const bool sampled = job.method < kMethods.size();
    const std::uint64_t seed = context.seed() * 1000 + job.run;
    const ordered_json part = context.part(
        fmt::format("{}-{}-{}", c.key(), job.method, job.run),
        fmt::format(
            "{}, {} steps",
            sampled ? settings_text(config_of(kMethods[job.method], c.set, c.at_mode)) : "bbvi",
            job.steps),
        [&]() -> ordered_json {
          if (sampled) {
            const SamplerConfig config = config_of(kMethods[job.method], c.set, c.at_mode);
            return simulate(c.problem, config, job.steps, seed);
          }
          return run_bbvi(c, job.method > kMethods.size(), job.steps, seed);
        });
    const std::lock_guard lock(mutex);
    if (sampled) {
      moments[job.method].push_back(moments_from(part));
    } else {
      variational[job.method - kMethods.size()].push_back(
          part.is_number() ? part.get<double>() : std::numeric_limits<double>::infinity());
    }
  });

  std::vector<KlLine> lines;
  ordered_json details;
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    KlLine line{
        .label = kMethods[m].label, .papers = kMethods[m].papers[c.set], .exact = exact[m].kl};
    if (!moments[m].empty()) {
      line.steps = steps_of(context, c, m, exact[m]);
      line.chance = compare(moments[m], {posterior}).kl_by_chance;
      line.simulated = jackknife(moments[m], [&](const RunMoments& run) {
        return kl_of(c.problem, run.mean, run.covariance);
      });
    }
    details[line.label] = {{"continuous_limit", exact[m].continuous},
                           {"relaxation_steps", exact[m].relaxation},
                           {"steps", steps_of(context, c, m, exact[m])}};
    lines.push_back(line);
  }
  const Gaussian optimum =
      mean_field_optimum(c.problem.posterior.mode, c.problem.n() * c.problem.posterior.curvature);
  lines.push_back({"BBVI, mean-field", kPapersBbvi[c.set],
                   kl_of(c.problem, optimum.mean, optimum.covariance), mean_of(variational[0])});
  lines.back().steps = bbvi_steps;
  // The optimum of a full Gaussian on a linear model; of another it is not known.
  const MatrixXd precision = c.problem.n() * c.problem.posterior.curvature;
  const double full = kl_of(c.problem, optimum.mean, precision.inverse());
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

// By case as run_stationary_kl runs them.
void add_findings(const std::array<std::vector<Exact>, 6>& exact, Report& report) {
  const auto& [wine_z, wine_m, protein_z, protein_m, skin_z, skin_m] = exact;
  const auto papers = [](std::size_t method, std::size_t set) {
    return kMethods[method].papers[set];
  };
  report.note(fmt::format(
      "The paper's \"unit length\" is not said further. With columns divided by their largest "
      "value, neither centred nor with an intercept, SGD and SGD-d on Wine have {} and {} times "
      "the paper's KL in discrete time, {} and {} times in the Ornstein-Uhlenbeck limit; on Skin "
      "SGD-d and SGD-f have {} and {} times the paper's with standardised features. On Protein it "
      "prints {} and {} for SGD and SGD-d, where the exact laws of SGD have {:.3g} standardised "
      "and {:.3g} otherwise: its slowest direction takes {:.1e} and {:.1e} steps "
      "there.",
      ratio(wine_m[kSgd].kl, papers(kSgd, 0)), ratio(wine_m[kSgdD].kl, papers(kSgdD, 0)),
      ratio(wine_m[kSgd].continuous, papers(kSgd, 0)),
      ratio(wine_m[kSgdD].continuous, papers(kSgdD, 0)), ratio(skin_z[kSgdD].kl, papers(kSgdD, 2)),
      ratio(skin_z[kSgdF].kl, papers(kSgdF, 2)), papers(kSgd, 1), papers(kSgdD, 1),
      protein_z[kSgd].kl, protein_m[kSgd].kl, protein_z[kSgd].relaxation,
      protein_m[kSgd].relaxation));
  report.note(fmt::format(
      "The paper prints {} and {} for SGD-f on Wine and Protein. Its exact law is {:.2g} and "
      "{:.2g} from the posterior standardised, {:.2g} and {:.2g} otherwise. The paper fits a "
      "Gaussian to iterates and does not say to how many: chance adds to its figures, as the rows "
      "\"of that by chance\" show for ours.",
      papers(kSgdF, 0), papers(kSgdF, 1), wine_z[kSgdF].kl, protein_z[kSgdF].kl, wine_m[kSgdF].kl,
      protein_m[kSgdF].kl));
}

// Where our file has not the features that the paper says.
void add_features(const std::array<std::size_t, kSets.size()>& features, Report& report) {
  constexpr std::array kNames = {"Wine", "Protein", "Skin"};
  for (std::size_t set = 0; set < kSets.size(); ++set) {
    const int papers = kPapersFeatures[set];
    if (features[set] == static_cast<std::size_t>(papers)) continue;
    report.note(fmt::format(
        "{} has {} features here, as the file of its source has, and {} in the paper, which does "
        "not say which one it leaves out.",
        kNames[set], features[set], papers));
  }
}

}  // namespace

void run_stationary_kl(const Context& context, Report& report) {
  report.plot().panel_width = 720;
  report.plot().panel_height = 480;
  std::array<std::vector<Exact>, 2 * kSets.size()> exact;
  std::array<std::size_t, kSets.size()> features{};
  for (std::size_t i = 0; i < 2 * kSets.size(); ++i) {
    const Scaling scaling = i % 2 == 0 ? Scaling::kStandardized : Scaling::kUnitMaximum;
    const Case c(context, i / 2, scaling);
    exact[i] = run_case(context, c, static_cast<double>(i) / 6, report);
    features[i / 2] = c.problem.data.columns();
  }
  report.note(
      "The exact law solves for the covariance under minibatches drawn with replacement, with the "
      "noise that the spread of θ itself adds; 0 but for rounding for the default, which is told "
      "the "
      "noise averaged over the posterior, as its chains measure it. The others are told the noise "
      "at the mode.");
  report.note(
      "The posterior is exact for the linear models and Laplace's Gaussian on Skin: `ground-truth` "
      "says how far HMC and Stan are from that.");
  add_findings(exact, report);
  add_features(features, report);
  add_kl_notes(kRuns, kRuns * kChains, report);
}

}  // namespace windhover::reproduce
