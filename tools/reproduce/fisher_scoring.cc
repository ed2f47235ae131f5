// Stochastic gradient Fisher scoring on MNIST 7 against 9: Ahn, Korattikara and Welling 2012,
// section 5.1, Figures 1 and 2.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "windhover/samplers/reference/effective_draws.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/fisher_plots.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/mnist.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/simulation.h"

namespace windhover::reproduce {
namespace {

using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr std::size_t kRows = 10'000;
constexpr std::size_t kProjected = 50;
constexpr std::uint32_t kMinibatch = 500;
constexpr std::uint64_t kBurnIn = 3000;
constexpr std::array kAlphas = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
constexpr std::array kSgldSteps = {1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6};
// With --quick none below: one relaxation of the last is minutes.
constexpr double kQuickSgldStep = 5e-5;
constexpr std::array kPathLengths = {0.2, 0.8, 3.2};
constexpr std::size_t kHmcSeeds = 4;

// 7 is 0 and 9 is 1.
Problem load_sevens_and_nines(const Context& context) {
  const Dataset all = load_mnist(context, true);
  std::vector<std::size_t> rows;
  for (const std::size_t i : permutation(all.rows(), context.seed())) {
    if (all.targets[i] == 7 || all.targets[i] == 9) rows.push_back(i);
    if (rows.size() == kRows) break;
  }
  Problem problem{.name = "MNIST 7 v 9",
                  .model = {.name = "logistic", .features = kProjected, .intercept_precision = 1},
                  .data = random_projection(rows_of(all, rows), kProjected, context.seed()),
                  .minibatch_size = kMinibatch};
  for (double& y : problem.data.targets) y = y == 9 ? 1.0 : 0.0;
  find_posterior(problem);
  return problem;
}

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

struct Setting {
  std::string method;  // a curve
  std::string label;
  SamplerConfig sampler;
  std::size_t seeds;
};

std::vector<Setting> settings_of(const Context& context, double n) {
  std::vector<Setting> settings;
  const std::size_t few = context.choose<std::size_t>(2, 4);
  const auto add = [&](const char* method, const std::string& label, SamplerConfig sampler,
                       std::size_t seeds) {
    sampler.minibatch_size = kMinibatch;
    sampler.chains = 1;
    settings.push_back({method, label, sampler, seeds});
  };
  for (const char* name : {"sgfs-f", "sgfs-d"}) {
    for (const double alpha : kAlphas) {
      if (context.quick() && alpha != 0 && alpha != 1 && alpha != 3 && alpha != 6) continue;
      const bool full = name == std::string("sgfs-f");
      add(full ? "SGFS-f" : "SGFS-d",
          fmt::format("{}, α = {:g}", full ? "SGFS-f" : "SGFS-d", alpha),
          {.name = name, .noise_scale = alpha}, full && alpha == 0 ? 10 : few);
    }
  }
  // Their step epsilon multiplies half the gradient of the log posterior.
  for (const double step : kSgldSteps) {
    if (context.quick() && step < kQuickSgldStep) continue;
    add("SGLD", fmt::format("SGLD, ε = {:g}", step), {.name = "sgld", .step_size = step * n / 2},
        few);
  }
  // Last: drawn over the others.
  add("default", "default", {.name = "calibrated"}, 10);
  return settings;
}

// One engine: moments after a tenth and after all of its samples, and how it mixes.
ordered_json run_setting(const Problem& problem, const Setting& setting, std::uint64_t samples,
                         std::uint64_t seed) {
  EngineConfig config;
  config.model = problem.model;
  config.sampler = setting.sampler;
  config.seed = seed;
  EngineRun run(config, problem.data);
  run.settle();
  run.run(kBurnIn);
  Moments moments(problem.posterior.mode);
  const Visit add = [&](std::uint16_t, const double* theta) { moments.add(theta); };
  run.run(samples / 10, add);
  ordered_json out = {{"early", to_json(moments)}};
  run.run(samples - samples / 10, add);
  out["late"] = to_json(moments);
  std::vector<ParameterSummary> summaries(run.dimension());
  Provenance provenance;
  if (!ok(run.reader().posterior(summaries, provenance))) throw RunError("no posterior");
  double iat = 0;
  for (const ParameterSummary& s : summaries) iat += s.autocorrelation_time;
  out["autocorrelation_time"] = iat / static_cast<double>(summaries.size());
  return out;
}

// HMC of the library with a budget of gradients of all rows, in the model's own coordinates.
ordered_json run_hmc(const Problem& problem, double path_length, double budget,
                     std::uint64_t seed) {
  LogPosterior posterior(problem);
  const reference::LogDensity density = posterior.density();
  const VectorXd& mode = problem.posterior.mode;
  const std::vector<double> start(mode.data(), mode.data() + mode.size());
  reference::Options options{.warm_up = 200, .draws = 50, .path_length = path_length, .seed = seed};
  const reference::Run pilot = reference::hamiltonian_monte_carlo(density, start, options);
  const double a_move = static_cast<double>(pilot.gradients) / 250.0;
  options.draws = static_cast<std::size_t>(std::max(20.0, budget / a_move));
  const reference::Run run = reference::hamiltonian_monte_carlo(density, start, options);
  Moments moments(mode);
  for (const std::vector<double>& draw : run.draws) moments.add(draw.data());
  double effective = 0;
  for (std::size_t j = 0; j < start.size(); ++j) {
    std::vector<double> series;
    for (const std::vector<double>& draw : run.draws) series.push_back(draw[j]);
    effective += reference::bulk_effective_draws({series}) / static_cast<double>(start.size());
  }
  return {{"late", to_json(moments)}, {"gradients", run.gradients}, {"effective", effective}};
}

struct Truths {
  std::vector<RunMoments> chains;
  RunMoments moments;
  Estimate split_half;        // E2 of one half of the chains from the other
  Estimate split_half_plain;  // likewise of the draws as they are
};

Truths ground_truth(const Context& context, const Problem& problem) {
  constexpr std::size_t kChains = 4;
  // The differences of two chains from the other two are independent of one another: as contrasts
  // they are orthogonal, and as means nearly normal.
  constexpr std::size_t kSplits[][kChains] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  std::vector<Truth> chains(kChains);
  context.parallel(kChains, [&](std::size_t chain) {
    chains[chain] = truth_from(context.part(fmt::format("hmc-{}", chain), [&] {
      return hmc_truth(problem, context.choose<std::size_t>(1500, 20'000), context.seed(),
                       static_cast<std::uint16_t>(chain));
    }));
  });
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
struct Result {
  Estimate early_e1, early_e2, e1, e1_in_sd, e2;
  double mixing = 0;  // effective draws a gradient of one row
  RunMoments first;
};

Estimate mean_over_seeds(const std::vector<double>& values) {
  return values.size() < 2 ? Estimate{values.at(0), 0} : mean_of(values);
}

Result result_of(const std::vector<ordered_json>& parts, const RunMoments& truth) {
  Result r;
  std::array<std::vector<double>, 5> values;
  for (const ordered_json& part : parts) {
    const Errors early = errors_of(moments_from(part.at("early")), truth);
    const Errors late = errors_of(moments_from(part.at("late")), truth);
    const std::array all = {early.e1, early.e2, late.e1, late.e1_in_sd, late.e2};
    for (std::size_t i = 0; i < all.size(); ++i) values[i].push_back(all[i]);
    const double iat = part.at("autocorrelation_time").get<double>();
    r.mixing += 1.0 / (iat * kMinibatch) / static_cast<double>(parts.size());
  }
  r.early_e1 = mean_over_seeds(values[0]);
  r.early_e2 = mean_over_seeds(values[1]);
  r.e1 = mean_over_seeds(values[2]);
  r.e1_in_sd = mean_over_seeds(values[3]);
  r.e2 = mean_over_seeds(values[4]);
  r.first = moments_from(parts[0].at("late"));
  return r;
}

int colour_of(const std::string& method) {
  constexpr std::array kOrder = {"default", "SGFS-f", "SGFS-d", "SGLD", "HMC"};
  return static_cast<int>(std::ranges::find(kOrder, method) - kOrder.begin());
}

void add_reference(const Problem& problem, const Truths& truths, Report& report) {
  const std::string reference = "The reference: four chains of HMC";
  report.add(Figure{.group = reference,
                    .name = "E2 of one half from the other, mean of the three splits",
                    .ours = truths.split_half.value,
                    .mcse = truths.split_half.mcse,
                    .bar = at_most(0.02)});
  report.add(Figure{.group = reference,
                    .name = "likewise without control variates",
                    .ours = truths.split_half_plain.value,
                    .mcse = truths.split_half_plain.mcse});
  const RunMoments laplace{1, problem.posterior.mode, problem.posterior.covariance};
  for (const auto& [name, member] :
       {std::pair{"Laplace's E1", &Errors::e1}, {"Laplace's E2", &Errors::e2}}) {
    const Estimate e = jackknife(
        truths.chains, [&](const RunMoments& truth) { return errors_of(laplace, truth).*member; });
    report.add(Figure{.group = reference, .name = name, .ours = e.value, .mcse = e.mcse});
  }
}

void add_exact_laws(const Problem& problem, const std::vector<Setting>& settings, Report& report) {
  const KnownEstimates at_mode(problem);
  const SpreadNoise spread(problem);
  const RunMoments laplace{1, problem.posterior.mode, problem.posterior.covariance};
  for (const Setting& s : settings) {
    KnownEstimates told = at_mode;
    // What the chains measure: C averaged over the posterior.
    told.noise += spread(problem.posterior.covariance);
    const auto sigma = exact_covariance(law_of(s.sampler, told), at_mode, spread);
    Figure figure{.group = "Exact laws beside Laplace's posterior", .name = s.label + ", E2"};
    if (sigma) figure.ours = errors_of({1, laplace.mean, *sigma}, laplace).e2;
    if (s.label == "default") figure.bar = at_most(1e-10);
    report.add(figure);
  }
}

// With as many gradients of all rows as the samplers have had in minibatches.
void add_hmc(const Context& context, const Problem& problem, double budget, const RunMoments& truth,
             const std::string& group, ErrorCurves& curves, Report& report) {
  std::vector<ordered_json> runs(kPathLengths.size() * kHmcSeeds);
  context.parallel(runs.size(), [&](std::size_t job) {
    const std::size_t path = job / kHmcSeeds;
    const std::size_t seed = job % kHmcSeeds;
    runs[job] = context.part(fmt::format("hmc-path-{}-{}", path, seed), [&] {
      return run_hmc(problem, kPathLengths[path], budget, context.seed() * 1000 + seed);
    });
  });
  for (std::size_t path = 0; path < kPathLengths.size(); ++path) {
    std::vector<double> e1, e2;
    double mixing = 0;
    for (std::size_t seed = 0; seed < kHmcSeeds; ++seed) {
      const ordered_json& run = runs[path * kHmcSeeds + seed];
      const Errors e = errors_of(moments_from(run.at("late")), truth);
      e1.push_back(e.e1);
      e2.push_back(e.e2);
      const double gradients = run.at("gradients").get<double>() * problem.n();
      mixing += run.at("effective").get<double>() / gradients / kHmcSeeds;
    }
    const Estimate of_mean = mean_of(e1);
    const Estimate of_covariance = mean_of(e2);
    curves.add("HMC", colour_of("HMC"), mixing,
               {Estimate{NAN, 0}, of_mean, Estimate{NAN, 0}, of_covariance});
    report.add(Figure{.group = group,
                      .name = fmt::format("HMC, path length {:g}, E2", kPathLengths[path]),
                      .ours = of_covariance.value,
                      .mcse = of_covariance.mcse});
  }
}

}  // namespace

void run_fisher_scoring(const Context& context, Report& report) {
  report.plot().columns = 2;
  const Problem problem = load_sevens_and_nines(context);
  const std::uint64_t samples = context.choose<std::uint64_t>(10'000, 100'000);
  const Truths truth = ground_truth(context, problem);
  context.progress(0.3, "ground truth by HMC");
  const std::vector<Setting> settings = settings_of(context, problem.n());

  add_reference(problem, truth, report);
  add_exact_laws(problem, settings, report);

  struct Job {
    std::size_t setting;
    std::size_t seed;
  };
  std::vector<Job> jobs;
  std::vector<std::vector<ordered_json>> parts(settings.size());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    parts[s].resize(settings[s].seeds);
    for (std::size_t seed = 0; seed < settings[s].seeds; ++seed) jobs.push_back({s, seed});
  }
  std::mutex mutex;
  double done = 0;
  context.parallel(jobs.size(), [&](std::size_t j) {
    const std::size_t s = jobs[j].setting;
    const std::size_t seed = jobs[j].seed;
    const std::string key = fmt::format("setting-{}-{}", s, seed);
    parts[s][seed] = context.part(key, [&] {
      return run_setting(problem, settings[s], samples, context.seed() * 1000 + seed);
    });
    const std::lock_guard lock(mutex);
    context.progress(0.3 + 0.6 * ++done / static_cast<double>(jobs.size()), settings[s].label);
  });

  const double late = static_cast<double>(samples) * kMinibatch;
  ErrorCurves curves(late / 10, late);
  const std::string group = fmt::format("Simulated, {:.2g} gradients of one row", late);
  std::vector<Result> results;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    results.push_back(result_of(parts[s], truth.moments));
    const Result& r = results.back();
    for (const auto& [name, e] :
         {std::pair{"E1", r.e1}, {"E1 in posterior sd", r.e1_in_sd}, {"E2", r.e2}}) {
      Figure figure{
          .group = group, .name = fmt::format("{}, {}", settings[s].label, name), .ours = e.value};
      if (settings[s].seeds > 1) figure.mcse = e.mcse;
      report.add(figure);
    }
    curves.add(settings[s].method, colour_of(settings[s].method), r.mixing,
               {r.early_e1, r.e1, r.early_e2, r.e2});
  }
  const auto of = [&](const std::string& label) -> const Result& {
    const auto found = std::ranges::find(settings, label, &Setting::label);
    return results.at(static_cast<std::size_t>(found - settings.begin()));
  };
  const Estimate ours = of("default").e2;
  const Estimate theirs = of("SGFS-f, α = 0").e2;
  const double error = std::hypot(ours.mcse, theirs.mcse);
  report.add(Figure{.group = group,
                    .name = "default's E2 less SGFS-f's at α = 0, in standard errors",
                    .ours = (ours.value - theirs.value) / error,
                    .mcse = 1,
                    .bar = at_most(2)});

  add_hmc(context, problem, late / problem.n(), truth.moments, group, curves, report);
  curves.add_to(report);
  add_marginals("SGFS-f, α = 0", of("SGFS-f, α = 0").first, truth.moments, 1, report);
  add_marginals("SGFS-d, α = 0", of("SGFS-d, α = 0").first, truth.moments, 2, report);
  add_marginals("default", of("default").first, truth.moments, 0, report);
  report.note(
      "The paper shows its errors as curves over seconds and prints no numbers; here they "
      "stand over gradients of single rows, the same for all samplers.");
}

}  // namespace windhover::reproduce
