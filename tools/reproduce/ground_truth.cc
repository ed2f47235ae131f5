// Checks the reference that experiments measure against, on logistic models: Laplace's Gaussian
// against the library's HMC, and HMC against Stan.
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/problem.h"
#include "windhover/tools/reproduce/stan.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kHmcChains = 4;
constexpr StanOptions kStan = {.chains = 4, .draws = 2000};
constexpr std::size_t kParts = 5;  // of each of Stan's chains, long beside its autocorrelation
constexpr double kErrors = 4;      // Monte Carlo standard errors that two references may differ by
// Differences that a comparison must be able to see: posterior sd of a mean, ratios of sd, nats.
constexpr double kMeanWithin = 0.1;
constexpr double kRatioWithin = 0.05;
constexpr double kKlWithin = 0.02;

struct Hmc {
  std::vector<RunMoments> chains;
  double divergences = 0;
  double seconds = 0;  // of processor time
};

Hmc run_hmc(const Context& context, const Problem& problem, const std::string& key) {
  // With control variates our draws are worth many times Stan's.
  const auto draws = context.choose<std::size_t>(500, 1500);
  Hmc hmc;
  for (const Truth& truth : hmc_truths(context, problem, "hmc-" + key, kHmcChains, draws)) {
    hmc.chains.push_back(truth.corrected);
    hmc.divergences += truth.divergences;
    hmc.seconds += truth.seconds;
  }
  return hmc;
}

// The features as the model sees them; the last column is the intercept's 1.
Dataset dataset_of(const Problem& problem) {
  const MatrixXd x = design_matrix(problem);
  Dataset data;
  data.names.assign(static_cast<std::size_t>(x.cols()), "x");
  data.targets = problem.data.targets;
  data.features.reserve(static_cast<std::size_t>(x.size()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) data.features.push_back(x(i, j));
  }
  return data;
}

ordered_json run_stan(const Context& context, const Problem& problem) {
  StanOptions options = kStan;
  options.seed = context.seed();
  options.threads = context.settings().threads;
  const StanRun run =
      run_stan(parts_of(context.settings(), "ground-truth"), dataset_of(problem), options);
  ordered_json parts = ordered_json::array();
  for (const auto& chain : run.draws) {
    for (std::size_t part = 0; part < kParts; ++part) {
      Moments moments(problem.posterior.mode);
      for (std::size_t i = part * chain.size() / kParts; i < (part + 1) * chain.size() / kParts;
           ++i) {
        moments.add(chain[i].data());
      }
      parts.push_back(to_json(moments));
    }
  }
  return {{"parts", parts},
          {"r_hat", run.r_hat},
          {"bulk", run.bulk},
          {"divergences", run.divergences},
          {"warm_up_seconds", run.warm_up_seconds},
          {"draw_seconds", run.draw_seconds}};
}

void add_comparison(Report& report, const std::string& group, const Comparison& c, bool barred) {
  Table table(report, group);
  const auto add = [&](const char* name, const Estimate& e, const Bar& bar, double within,
                       double error) {
    table.add(name, e).held_to(when(barred, decided_within(bar, within, error)));
  };
  const auto margin = [](const Estimate& e) { return kErrors * e.mcse; };
  const Estimate& chance = c.kl_by_chance;
  add("largest difference of means (posterior sd)", c.furthest, at_most(margin(c.furthest)),
      kMeanWithin, c.furthest.mcse);
  add("smallest ratio of sd", c.least_sd, at_least(1 - margin(c.least_sd)), kRatioWithin,
      c.least_sd.mcse);
  add("largest ratio of sd", c.most_sd, at_most(1 + margin(c.most_sd)), kRatioWithin,
      c.most_sd.mcse);
  add("KL of Gaussian moments (nats)", c.kl, at_most(chance.value + margin(chance)), kKlWithin,
      chance.mcse);
  table.add("what chance alone makes of it, give or take", chance);
}

void add_stan(Report& report, const std::string& group, const ordered_json& stan, double seconds) {
  Table table(report, group);
  const auto r_hat = stan.at("r_hat").get<std::vector<double>>();
  const auto bulk = stan.at("bulk").get<std::vector<double>>();
  // Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021: R-hat below 1.01 and at least 100 draws
  // per chain.
  table.add("Stan's R-hat, the largest", *std::ranges::max_element(r_hat)).held_to(at_most(1.01));
  table.add("Stan's effective draws (bulk), the least", *std::ranges::min_element(bulk))
      .held_to(at_least(100.0 * kStan.chains));
  table.add("Stan's divergences", stan.at("divergences").get<double>()).held_to(at_most(0));
  table
      .add("Stan's seconds, all chains, compilation left out",
           stan.at("warm_up_seconds").get<double>() + stan.at("draw_seconds").get<double>())
      .by_clock();
  table.add("HMC's seconds, all chains", seconds).by_clock();
}

Series differences(const std::string& label, int colour, double shift, const Comparison& c) {
  Series series = Series::points(label, colour);
  for (std::size_t j = 0; j < c.off.size(); ++j) {
    series.add(static_cast<double>(j) + shift, c.off[j]);
  }
  return series;
}

void check(const Context& context, const std::string& key, double share, bool stan,
           Report& report) {
  const Problem problem = load_problem(context, key, Scaling::kStandardized);
  const std::string name = fmt::format("{} ({} rows, {} parameters)", problem.name,
                                       problem.data.rows(), problem.dimension());
  context.progress(share, fmt::format("{}: HMC", problem.name));
  const Hmc hmc = run_hmc(context, problem, key);
  const RunMoments laplace{1, problem.posterior.mode, problem.posterior.covariance};
  const Comparison of_laplace = compare({laplace}, hmc.chains);
  const std::string group = fmt::format("Laplace's Gaussian beside HMC: {}", name);
  add_comparison(report, group, of_laplace, false);
  Table(report, group).add("HMC's divergences", hmc.divergences).held_to(at_most(0));
  Panel panel{.title = fmt::format("{}: means beside HMC's", problem.name),
              .x_label = "",
              .y_label = "difference (posterior sd)",
              .series = {differences("Laplace", 1, -0.1, of_laplace)},
              .categories = problem.data.names,
              .legend = "outside top center horizontal"};
  panel.categories.emplace_back("intercept");
  if (stan) {
    context.progress(share + 0.1, fmt::format("{}: Stan", problem.name));
    const ordered_json run = context.part(
        fmt::format("stan-{}", key),
        fmt::format("{} chains, {} draws, {} parts", kStan.chains, kStan.draws, kParts),
        [&] { return run_stan(context, problem); });
    const Comparison of_stan = compare(moments_of_runs(run.at("parts").get<Runs>()), hmc.chains);
    const std::string stans = fmt::format("Stan beside HMC: {}", name);
    add_comparison(report, stans, of_stan, true);
    add_stan(report, stans, run, hmc.seconds);
    panel.add(differences("Stan", 0, 0.1, of_stan));
    report.detail(fmt::format("stan-{}", key), {{"r_hat", run.at("r_hat")},
                                                {"bulk", run.at("bulk")},
                                                {"warm_up_seconds", run.at("warm_up_seconds")},
                                                {"draw_seconds", run.at("draw_seconds")}});
  }
  report.add(panel);
}

}  // namespace

void run_ground_truth(const Context& context, Report& report) {
  const bool installed = has_stan();
  check(context, "wine-logistic", 0, installed, report);
  check(context, "skin", 0.2, installed && !context.quick(), report);
  report.note(
      "Experiments measure against the exact posterior where the model is linear, and else against "
      "Laplace's Gaussian (Skin in `stationary-kl` and `ou-covariance`), HMC (`fisher-scoring`) or "
      "NUTS (`nuts-crossover`) of the library. Here {} chains of HMC, with Stein's identity as "
      "control variate, stand beside Laplace's Gaussian and beside Stan: on Skin, and where "
      "Laplace's is further off, on whether a white wine's quality is 7 or more. Standardised, "
      "with an intercept, prior precision 1.",
      kHmcChains);
  if (!installed) {
    report.leave_out("the comparison with Stan, as {}", kNoStan);
    return;
  }
  report.note(
      "Stan (rstan, NUTS, bernoulli_logit_glm, every row): {} chains of 1000 moves of warm-up and "
      "{} draws. HMC and Stan may be {:g} Monte Carlo standard errors of both together apart, by "
      "the jackknife over chains of HMC and fifths of Stan's; and their KL as much above what "
      "chance alone makes of it, by the KL of the same parts from their pool. Seconds are "
      "processor time of all chains, Stan's as it counts them. A bar counts where its standard "
      "error is a third or less of {:g} posterior sd, {:g} of a ratio and {:g} nats.",
      kStan.chains, kStan.draws, kErrors, kMeanWithin, kRatioWithin, kKlWithin);
  if (context.quick()) {
    report.leave_out(
        "with --quick the comparison with Stan on Skin, which takes minutes: HMC is compared with "
        "Laplace's Gaussian alone there");
  }
}

}  // namespace windhover::reproduce
