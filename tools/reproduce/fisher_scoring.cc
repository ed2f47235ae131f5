// Stochastic gradient Fisher scoring on MNIST 7 against 9: Ahn, Korattikara and Welling 2012,
// section 5.1, Figures 1 and 2.
#include "windhover/tools/reproduce/fisher_runs.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {
namespace {

constexpr std::array kPathLengths = {0.2, 0.8, 3.2};
constexpr std::size_t kHmcSeeds = 4;

struct Errors {
  double e1 = 0;
  double e1_in_sd = 0;
  double e2 = 0;
};

Errors errors_of(const RunMoments& ours, const RunMoments& truth) {
  const VectorXd off = (ours.mean - truth.mean).cwiseAbs();
  return {
      off.sum() / truth.mean.cwiseAbs().sum(),
      off.cwiseQuotient(truth.covariance.diagonal().cwiseSqrt()).mean(),
      (ours.covariance - truth.covariance).cwiseAbs().sum() / truth.covariance.cwiseAbs().sum()};
}

struct Truths {
  std::vector<RunMoments> chains;
  RunMoments moments;
  Estimate split_half;        // E2 of one half of the chains from the other
  Estimate split_half_plain;  // the same of the draws without control variates
};

Truths ground_truth(const Context& context, const Problem& problem) {
  constexpr std::size_t kChains = 4;
  // Differences of two chains from the other two are independent of one another: as contrasts they
  // are orthogonal, and as means nearly normal.
  constexpr std::size_t kSplits[][kChains] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  const auto draws = context.choose<std::size_t>(1500, 20'000);
  const std::vector<Truth> chains =
      hmc_truths(context, problem, "hmc", kChains, draws, {"ground truth by HMC", 0, 0.3});
  const auto split = [&](auto member) {
    std::vector<double> e2;
    for (const auto& s : kSplits) {
      e2.push_back(errors_of(pooled({chains[s[0]].*member, chains[s[1]].*member}),
                             pooled({chains[s[2]].*member, chains[s[3]].*member}))
                       .e2);
    }
    return mean_of(e2);
  };
  std::vector<RunMoments> all;
  all.reserve(chains.size());
  for (const Truth& chain : chains) all.push_back(chain.corrected);
  return {all, pooled(all), split(&Truth::corrected), split(&Truth::plain)};
}

// Means over seeds of one setting's errors.
struct FisherFigures {
  Estimate early_e1, early_e2, e1, e1_in_sd, e2;
  std::vector<double> e2_of_seeds;
  Estimate autocorrelation_time;
  bool computed = false;  // not measured
  double mixing = 0;      // effective draws per gradient of a single row
  RunMoments first;
};

FisherFigures result_of(std::span<const ordered_json> parts, const ChainLaw& law,
                        std::uint64_t samples, const RunMoments& truth) {
  FisherFigures r;
  std::array<std::vector<double>, 5> values;
  std::vector<double> times;
  for (const ordered_json& part : parts) {
    const Errors early = errors_of(moments_from(part.at("early")), truth);
    const Errors late = errors_of(moments_from(part.at("late")), truth);
    const std::array all = {early.e1, early.e2, late.e1, late.e1_in_sd, late.e2};
    for (std::size_t i = 0; i < all.size(); ++i) values[i].push_back(all[i]);
    if (part.contains("autocorrelation_time")) {
      times.push_back(number_from(part.at("autocorrelation_time")));
    }
  }
  r.computed = law.covariance && (times.empty() || too_slow_to_measure(law, samples));
  r.autocorrelation_time = r.computed      ? Estimate{law.autocorrelation_time, 0}
                           : times.empty() ? Estimate{NAN, NAN}
                                           : mean_over_seeds(times);
  r.mixing = 1.0 / (r.autocorrelation_time.value * kFisherMinibatch);
  r.early_e1 = mean_over_seeds(values[0]);
  r.early_e2 = mean_over_seeds(values[1]);
  r.e1 = mean_over_seeds(values[2]);
  r.e1_in_sd = mean_over_seeds(values[3]);
  r.e2 = mean_over_seeds(values[4]);
  r.e2_of_seeds = values[4];
  r.first = moments_from(parts[0].at("late"));
  return r;
}

int colour_of(const std::string& method) {
  constexpr std::array kOrder = {"default", "SGFS-f", "SGFS-d", "SGLD", "HMC"};
  return static_cast<int>(std::ranges::find(kOrder, method) - kOrder.begin());
}

void add_reference(const Problem& problem, const Truths& truths, Report& report) {
  Table table(report, "The reference: four chains of HMC");
  table.add("E2 of one half from the other, mean of the three splits", truths.split_half)
      .held_to(at_most(0.02));
  table.add("likewise without control variates", truths.split_half_plain);
  const RunMoments laplace{1, problem.posterior.mode, problem.posterior.covariance};
  const auto add = [&](const char* name, double Errors::*member) {
    table.add(name, jackknife(truths.chains, [&](const RunMoments& truth) {
                return errors_of(laplace, truth).*member;
              }));
  };
  add("Laplace's E1", &Errors::e1);
  add("Laplace's E2", &Errors::e2);
}

std::vector<ChainLaw> add_exact_laws(const Problem& problem,
                                     const std::vector<FisherSetting>& settings, Report& report) {
  const Told at_mode = told_at_mode(problem);
  const SpreadNoise spread(problem);
  const RunMoments laplace{1, problem.posterior.mode, problem.posterior.covariance};
  Table table(report, "Exact laws beside Laplace's posterior");
  std::vector<ChainLaw> laws;
  for (const FisherSetting& s : settings) {
    laws.push_back(chain_law(problem, s.sampler, at_mode, spread));
    const auto& sigma = laws.back().covariance;
    const bool ours = s.label == "default";
    const char* why = ours ? " (0 by its derivation: checks the algebra)" : "";
    table
        .add(fmt::format("{}, E2{}", s.label, why),
             sigma ? errors_of({1, laplace.mean, *sigma}, laplace).e2 : NAN)
        .held_to(when(ours, at_most(1e-10)));
  }
  return laws;
}

// HMC gets as many gradients of all rows after its warm-up as the samplers took in minibatches
// after their burn-in. Gives the mean gradients per draw, one number per path length.
std::string add_hmc(const Context& context, const Problem& problem, double budget,
                    const RunMoments& truth, const std::string& group, ErrorCurves& curves,
                    Report& report) {
  std::vector<std::string> steps;
  std::vector<PartJob> jobs;
  for (std::size_t path = 0; path < kPathLengths.size(); ++path) {
    for (std::size_t seed = 0; seed < kHmcSeeds; ++seed) {
      jobs.push_back(
          {fmt::format("hmc-path-{}-{}", path, seed),
           fmt::format("path {}, budget {}", kPathLengths[path], budget), [&, path, seed] {
             return run_hmc(problem, kPathLengths[path], budget, context.seed() * 1000 + seed);
           }});
    }
  }
  const std::vector<ordered_json> runs = context.run_parts(jobs, {"HMC", 0.9, 1});
  for (std::size_t path = 0; path < kPathLengths.size(); ++path) {
    const auto first = runs.begin() + static_cast<std::ptrdiff_t>(path * kHmcSeeds);
    const Runs of_path(first, first + kHmcSeeds);
    const std::vector<double> gradients = values_of(of_path, "gradients");
    const std::vector<double> draws = values_of(of_path, "draws");
    std::vector<double> e1, e2;
    double mixing = 0;
    for (std::size_t seed = 0; seed < kHmcSeeds; ++seed) {
      const Errors e = errors_of(moments_from(of_path[seed].at("late")), truth);
      e1.push_back(e.e1);
      e2.push_back(e.e2);
      mixing +=
          number_from(of_path[seed].at("effective")) / (gradients[seed] * problem.n()) / kHmcSeeds;
    }
    const Estimate of_covariance = mean_of(e2);
    curves.add("HMC", fmt::format("{:g}", kPathLengths[path]), colour_of("HMC"), mixing,
               {Estimate{NAN, 0}, mean_of(e1), Estimate{NAN, 0}, of_covariance});
    Table(report, group)
        .add(fmt::format("HMC, path length {:g}, E2", kPathLengths[path]), of_covariance);
    Table budgets(
        report,
        fmt::format("HMC after its warm-up, budget {:g} gradients of all rows, mean of {} seeds",
                    budget, kHmcSeeds));
    budgets.add(fmt::format("path length {:g}, gradients of all rows", kPathLengths[path]),
                mean_of(gradients));
    budgets.add(fmt::format("path length {:g}, draws", kPathLengths[path]), mean_of(draws));
    steps.push_back(fmt::format("{:.1f}", mean_of(gradients).value / mean_of(draws).value));
  }
  return fmt::format("{}", fmt::join(steps, ", "));
}

}  // namespace

void run_fisher_scoring(const Context& context, Report& report) {
  report.plot().columns = 2;
  report.plot().panel_width = 640;
  const Problem problem = load_sevens_and_nines(context);
  const std::uint64_t samples = context.choose<std::uint64_t>(10'000, 100'000);
  const Truths truth = ground_truth(context, problem);
  const std::vector<FisherSetting> settings = fisher_settings(context, problem.n());

  add_reference(problem, truth, report);
  const std::vector<ChainLaw> laws = add_exact_laws(problem, settings, report);

  std::vector<PartJob> jobs;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    for (std::size_t seed = 0; seed < settings[s].seeds; ++seed) {
      jobs.push_back({fmt::format("setting-{}-{}", s, seed),
                      fmt::format("{}, {} samples", settings_text(settings[s].sampler), samples),
                      [&, s, seed] {
                        return run_setting(problem, settings[s], laws[s], samples,
                                           context.seed() * 1000 + seed);
                      }});
    }
  }
  const std::vector<ordered_json> parts = context.run_parts(jobs, {"samplers", 0.3, 0.9});

  const double late = static_cast<double>(samples) * kFisherMinibatch;
  ErrorCurves curves(late / 10, late);
  const std::string group = fmt::format("Simulated, {:.2g} gradients of one row", late);
  Table table(report, group);
  Table times(report, "Steps an effective draw (autocorrelation time), mean over parameters");
  std::vector<FisherFigures> results;
  std::size_t first = 0;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const auto of_setting = std::span(parts).subspan(first, settings[s].seeds);
    first += settings[s].seeds;
    results.push_back(result_of(of_setting, laws[s], samples, truth.moments));
    const FisherFigures& r = results.back();
    for (const auto& [name, e] :
         {std::pair{"E1", r.e1}, {"E1 in posterior sd", r.e1_in_sd}, {"E2", r.e2}}) {
      Figure& figure = table.add(fmt::format("{}, {}", settings[s].label, name), e);
      if (settings[s].seeds == 1) figure.mcse = {};
    }
    Figure& time =
        times.add(fmt::format("{}, {}", settings[s].label, r.computed ? "computed" : "measured"),
                  r.autocorrelation_time);
    if (r.computed) time.mcse = {};
    curves.add(settings[s].method, settings[s].mark, colour_of(settings[s].method), r.mixing,
               {r.early_e1, r.e1, r.early_e2, r.e2});
  }
  const auto of = [&](const std::string& label) -> const FisherFigures& {
    const auto found = std::ranges::find(settings, label, &FisherSetting::label);
    return results.at(static_cast<std::size_t>(found - settings.begin()));
  };
  // Both share the seeds' minibatches, start and reference.
  const Estimate difference =
      paired_difference(of("default").e2_of_seeds, of("SGFS-f, α = 0").e2_of_seeds);
  table.add(fmt::format("default's E2 less SGFS-f's at α = 0, seed by seed ({})",
                        of("default").e2_of_seeds.size()),
            difference);
  table.add("that in standard errors", {difference.value / difference.mcse, 1}).held_to(at_most(2));

  const std::string leapfrogs =
      add_hmc(context, problem, late / problem.n(), truth.moments, group, curves, report);
  curves.add_to(report);
  add_marginals("SGFS-f, α = 0", of("SGFS-f, α = 0").first, truth.moments, 1, report);
  add_marginals("SGFS-d, α = 0", of("SGFS-d, α = 0").first, truth.moments, 2, report);
  add_marginals("default", of("default").first, truth.moments, 0, report);
  report.note(
      "The paper shows its errors as curves over seconds and prints no numbers; here they stand "
      "over gradients of single rows, the same for all samplers.");
  report.note(
      "Equal gradients: a sampler's are those of its samples, {} steps of burn-in left out; HMC's "
      "are those of its draws, its warm-up left out, and it draws until they reach the budget, the "
      "last trajectory in full. The mixing rate counts the same gradients.",
      kFisherBurnIn);
  report.note(
      "The paper's curve of HMC goes over 50, 40, 30, 20, 10 and 1 leapfrog steps. The library's "
      "HMC has no fixed number: it draws the length of each trajectory up to twice a path length, "
      "here {}, which makes {} gradients a draw on average.",
      fmt::join(kPathLengths, ", "), leapfrogs);
  report.note(
      "The default and SGFS-f at α = 0 run with the same seeds, and their errors go up and down "
      "together: the error of their difference is that of the differences of the single seeds. In "
      "the plots numbers beside points are α of SGFS, every other ε of SGLD and the path length of "
      "HMC.");
  report.note(
      "An autocorrelation time marked as computed is that of the chain's law about the mode, exact "
      "where the gradient is linear: of SGLD at every step, and of what is too slow for the engine "
      "to measure (fewer than 200 relaxations). SGLD's chains begin with a draw of their law, as "
      "its smallest steps would take the burn-in many times over to get there.");
}

}  // namespace windhover::reproduce
