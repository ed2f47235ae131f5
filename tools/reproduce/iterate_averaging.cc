// Iterate averaging as approximate MCMC: Mandt, Hoffman and Blei 2017, section 7.2, Figures 3 to 5.
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/iterate_averaging_chains.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kStarts = kIasgStarts.size();

// All chains, by method and start.
using Chains = std::vector<Runs>;

// Passes at which variances are read: 2, then by factors of about 1.4.
std::vector<double> checkpoints(double most) {
  std::vector<double> passes;
  for (double p = 2; p < most; p = std::max(p + 1, std::round(1.4 * p))) passes.push_back(p);
  passes.push_back(most);
  return passes;
}

std::size_t checkpoint_of(const std::vector<double>& passes, double least) {
  const auto at = std::ranges::find_if(passes, [&](double p) { return p >= least; });
  return static_cast<std::size_t>(at - passes.begin());
}

// Mean over chains of a number at each checkpoint, and its standard deviation over chains.
struct Spread {
  std::vector<double> mean;
  std::vector<double> sd;
  std::vector<double> mcse;
};

Spread spread_of(const std::vector<ordered_json>& chains, std::size_t burn_in, const char* what,
                 std::optional<Index> parameter = {}) {
  Spread spread;
  for (std::size_t at = 0; at < chains[0].at(burn_in).at(what).size(); ++at) {
    std::vector<double> values;
    for (const ordered_json& chain : chains) {
      const ordered_json& value = chain.at(burn_in).at(what).at(at);
      const bool none = value.is_null() || !parameter;
      values.push_back(number_from(none ? value : value.at(static_cast<std::size_t>(*parameter))));
    }
    const Estimate e = mean_of(values);
    spread.mean.push_back(e.value);
    spread.mcse.push_back(e.mcse);
    spread.sd.push_back(e.mcse * std::sqrt(static_cast<double>(values.size())));
  }
  return spread;
}

// Variances of the parameters with the smallest and the largest variance, over passes.
void add_variances(const Chains& runs, const std::vector<double>& passes, const VectorXd& truth,
                   Index smallest, Index largest, Report& report) {
  for (std::size_t start = 0; start < kStarts; ++start) {
    for (std::size_t method = 0; method < kIasgMethods.size(); ++method) {
      const Runs& all = runs[method * kStarts + start];
      Panel panel = Panel{fmt::format("{} {} (Figure 4)", kIasgMethods[method], kIasgStarts[start]),
                          "passes over the data", "marginal variance"}
                        .log("xy")
                        .below()
                        .x_in(1.5, 1.3 * passes.back())
                        .y_in(1e-5, 1);
      for (std::size_t b = 0; b < kIasgBurnIns.size(); ++b) {
        for (const Index parameter : {smallest, largest}) {
          const bool least = parameter == smallest;
          const Spread spread = spread_of(all, b, "variances", parameter);
          const char* which = least ? "smallest" : "largest";
          const int colour = (least ? 4 : 0) + (b == 0 ? 1 : 0);
          Series series = Series::curve(
              fmt::format("{}, {:g} passes left out", which, kIasgBurnIns[b]), colour);
          if (b == 0) series.style = Style::kPoints;
          for (std::size_t at = 0; at < passes.size(); ++at) {
            // The two curves would overlap, as the truths differ by some per cent.
            series.add(passes[at] * (least ? 0.95 : 1.05), {spread.mean[at], spread.sd[at]});
          }
          panel.add(series);
          for (const std::size_t at : {checkpoint_of(passes, 50), passes.size() - 1}) {
            Table table(report, fmt::format("Figure 4: {}, {:g} passes of which {:g} are left out",
                                            kIasgStarts[start], passes[at], kIasgBurnIns[b]));
            const std::string name =
                fmt::format("{}, {} variance over the exact", kIasgMethods[method], which);
            const double exact = truth[parameter];
            table.add(name, {spread.mean[at] / exact, spread.mcse[at] / exact});
            if (at + 1 < passes.size()) continue;
            const double sd = spread.sd[at] / exact;
            const auto freedom = static_cast<double>(all.size() - 1);
            table.add(name + ", sd of one chain", {sd, sd / std::sqrt(2.0 * freedom)});
          }
        }
      }
      for (const Index parameter : {smallest, largest}) {
        const double exact = truth[parameter];
        panel.add(Series::dashes(parameter == smallest ? "exact" : "", 7,
                                 {passes[0], passes.back()}, {exact, exact}));
      }
      report.add(panel);
    }
  }
}

// Figure 5: the whole covariance that one chain estimates, entry by entry, and its error.
void add_entries(const Chains& runs, const std::vector<double>& passes, const MatrixXd& exact,
                 Report& report) {
  const VectorXd sd = exact.diagonal().cwiseSqrt();
  for (std::size_t start = 0; start < kStarts; ++start) {
    Panel panel =
        Panel{
            fmt::format("All entries of one chain's covariance, {} (Figure 5)", kIasgStarts[start]),
            "exact covariance (posterior sd = 1)", "estimated covariance (posterior sd = 1)"}
            .below();
    panel.add(Series::dashes("equal", 7, {-0.1, 1.1}, {-0.1, 1.1}));
    for (std::size_t method = 0; method < kIasgMethods.size(); ++method) {
      const Runs& all = runs[method * kStarts + start];
      const std::size_t burn_in = kIasgBurnIns.size() - 1;
      const MatrixXd c = matrix_from(all[0].at(burn_in).at("covariance"));
      Series series = Series::points(kIasgMethods[method], static_cast<int>(method));
      for (Index i = 0; i < c.rows(); ++i) {
        for (Index j = 0; j <= i; ++j) {
          series.add(exact(i, j) / (sd[i] * sd[j]) + 0.02 * static_cast<double>(method),
                     c(i, j) / (sd[i] * sd[j]));
        }
      }
      panel.add(series);
      for (std::size_t b = 0; b < kIasgBurnIns.size(); ++b) {
        const Spread error = spread_of(all, b, "error");
        Table(report, fmt::format("Figure 5: {}, {:g} passes", kIasgStarts[start], passes.back()))
            .add(fmt::format("{}, relative error of one chain's covariance, {:g} passes left out",
                             kIasgMethods[method], kIasgBurnIns[b]),
                 {error.mean.back(), error.mcse.back()});
      }
    }
    report.add(panel);
  }
}

// Figure 3: S = 1, a rate of 0.005, windows of one pass.
void add_covariances(const Context& context, const Problem& problem, Report& report) {
  const auto passes = static_cast<std::uint64_t>(context.choose(200, 1000));
  std::vector<PartJob> jobs;
  for (const bool averaged : {false, true}) {
    jobs.push_back(
        {fmt::format("figure-3-{}", averaged ? 1 : 0),
         fmt::format("{}, {} passes", settings_text(iasg_single(averaged)), passes),
         [&, averaged] { return iasg_single_chain(problem, averaged, passes, context.seed()); }});
  }
  std::vector<std::vector<RunMoments>> runs;
  for (const ordered_json& parts : context.run_parts(jobs)) {
    runs.push_back(moments_of_runs(parts.get<Runs>()));
  }
  const MatrixXd& posterior = problem.posterior.covariance;
  Panel panel =
      Panel{"Marginal variances, S = 1 (Figure 3)", "parameter", "variance"}.log("y").legend_at(
          "center right");
  const std::array labels = {"iterates of SGD", "their means over a pass", "posterior"};
  for (std::size_t i = 0; i < 3; ++i) {
    const MatrixXd c = i < 2 ? pooled(runs[i]).covariance : posterior;
    Series series = Series::points(labels[i], static_cast<int>(i));
    for (Index j = 0; j < c.rows(); ++j) {
      series.add(static_cast<double>(j + 1) + 0.1 * static_cast<double>(i), c(j, j));
      if (i == 2) continue;
      series.error.push_back(
          jackknife(runs[i], [&](const RunMoments& run) { return run.covariance(j, j); }).mcse);
    }
    panel.add(series);
    if (i == 2) continue;
    const Estimate ratio = jackknife(runs[i], [&](const RunMoments& run) {
      return (run.covariance.diagonal().array() / posterior.diagonal().array()).mean();
    });
    Table(report, "Figure 3: one chain, S = 1, rate 0.005")
        .add(fmt::format("{}: average variance over the posterior's", labels[i]), ratio);
  }
  report.add(panel);
}

// Compares the figures with the paper's conclusions.
void add_notes(const Chains& runs, const std::vector<double>& passes, const VectorXd& truth,
               Index smallest, const SgldLaw& law, Report& report) {
  const auto ratio = [&](std::size_t method, std::size_t start, std::size_t burn_in) {
    const Runs& chains = runs[method * kStarts + start];
    return spread_of(chains, burn_in, "variances", smallest).mean.back() / truth[smallest];
  };
  const std::size_t paper = kIasgBurnIns.size() - 1;
  report.note(
      "The same rule for all: no draw counts that was begun in the first {:g} passes, which is "
      "what we take the paper's \"first 10 iterations\" for, and beside it none is left out. A "
      "pass of NUTS is a gradient on all rows; its step is found at the start by doubling. Error "
      "bars in the plots of Figure 4 are the standard deviation over chains, as in the paper, "
      "which prints curves and no numbers. Every chain and start has a seed of its own.",
      kIasgBurnIns[paper]);
  report.note(
      "What the start does: from the prior, with nothing left out, the smallest variance after "
      "{:g} passes is {:.3g} (IASG), {:.3g} (SGLD) and {:.3g} (NUTS) times the exact one; without "
      "the first {:g} passes {:.3g}, {:.3g} and {:.3g}; from the mode {:.3g}, {:.3g} and {:.3g}.",
      passes.back(), ratio(0, 1, 0), ratio(1, 1, 0), ratio(2, 1, 0), kIasgBurnIns[paper],
      ratio(0, 1, paper), ratio(1, 1, paper), ratio(2, 1, paper), ratio(0, 0, paper),
      ratio(1, 0, paper), ratio(2, 0, paper));
  const double turns = kIasgRate * static_cast<double>(kIasgStepsAPass);
  report.note(
      "IASG at the paper's rate: a pass of {} steps at rate {:g} is {:.1f} relaxation times, and "
      "the mean over x of them has 1 - (1 - exp(-x)) / x of the posterior's variance (eq. 34), "
      "{:.2f}. Its own law, exactly, is among the figures.",
      kIasgStepsAPass, kIasgRate, turns, 1 - (1 - std::exp(-turns)) / turns);
  const double sgld = ratio(1, 0, paper);
  const double expected = law.variances[smallest] / truth[smallest];
  const bool explained = std::abs(sgld / expected - 1) < 0.1;
  const bool relaxed = law.relaxation_passes < passes.back() / 20;
  report.note(
      "SGLD with the paper's schedule has {:.2f} times the variance, from the mode; what its steps "
      "do to it, computed step by step, makes {:.2f}{}. The injected noise alone would make "
      "{:.2f}: that of the minibatches is h_t N / (2 S) times as much, {:.2f} averaged over the "
      "steps and {:.2f} at the last. It relaxes in {:.2f} passes at the end{}.",
      sgld, expected, explained ? "" : ", which does not explain it",
      law.injected_alone[smallest] / truth[smallest], law.minibatch_over_injected, law.at_the_end,
      law.relaxation_passes,
      relaxed ? ": it is as wide as its steps make it, not short of time"
              : ", too slowly for the run");
  const auto one_chain = [&](std::size_t method, std::size_t start) {
    const Spread s = spread_of(runs[method * kStarts + start], paper, "variances", smallest);
    return s.sd.back() / s.mean.back();
  };
  const auto off = [&](std::size_t method, std::size_t burn_in) {
    return spread_of(runs[method * kStarts + 1], burn_in, "error").mean.back();
  };
  const bool noisier = one_chain(1, 0) > 1.2 * one_chain(0, 0);
  const bool best = off(0, paper) < std::min(off(1, paper), off(2, paper));
  report.note(
      "The paper finds SGLD's estimates far noisier than IASG's. Here one chain's smallest "
      "variance has a relative sd of {:.3f} (IASG), {:.3f} (SGLD) and {:.3f} (NUTS) from the mode, "
      "so {}. It finds IASG's covariance the best from a random start (Figure 5). Here its "
      "relative error is {:.3f}, SGLD's {:.3f} and NUTS's {:.3f}, so {}; with nothing left out "
      "they are {:.3g}, {:.3g} and {:.3g}.",
      one_chain(0, 0), one_chain(1, 0), one_chain(2, 0), noisier ? "SGLD's are" : "they are not",
      off(0, paper), off(1, paper), off(2, paper), best ? "it is" : "it is not", off(0, 0),
      off(1, 0), off(2, 0));
}

}  // namespace

void run_iterate_averaging(const Context& context, Report& report) {
  report.plot().columns = 3;
  report.plot().panel_height = 480;
  const Problem problem = iasg_problem(context.seed());
  const auto chains = context.choose<std::size_t>(10, 100);
  const std::vector<double> passes = checkpoints(context.choose(1000.0, 10'000.0));

  std::vector<PartJob> jobs;
  for (std::size_t chain = 0; chain < chains; ++chain) {
    for (std::size_t method = 0; method < kIasgMethods.size(); ++method) {
      for (std::size_t start = 0; start < kStarts; ++start) {
        jobs.push_back({fmt::format("chain-{}-{}-{}", method, start, chain),
                        fmt::format("{} {}, {} passes", kIasgMethods[method], kIasgStarts[start],
                                    passes.back()),
                        [&, method, start, chain] {
                          return iasg_chain(problem, method, start, passes,
                                            (context.seed() * 10 + start) * 10'000 + chain);
                        }});
      }
    }
  }
  const std::vector<ordered_json> done = context.run_parts(jobs, {"chains", 0, 0.9});
  Chains runs(kIasgMethods.size() * kStarts);
  for (std::size_t i = 0; i < done.size(); ++i) runs[i % runs.size()].push_back(done[i]);

  const VectorXd truth = problem.posterior.covariance.diagonal();
  Index smallest = 0;
  Index largest = 0;
  truth.minCoeff(&smallest);
  truth.maxCoeff(&largest);
  const VectorXd predicted = iasg_mean_variances(problem);
  const SgldLaw law = sgld_law(problem, passes.back(), kIasgBurnIns.back());
  for (const Index parameter : {smallest, largest}) {
    const char* which = parameter == smallest ? "smallest" : "largest";
    const auto add = [&](const char* group, double variance) {
      Table(report, group)
          .add(fmt::format("{} variance over the exact", which), variance / truth[parameter]);
    };
    add("IASG's own law, exactly: the mean over a pass", predicted[parameter]);
    add("SGLD's own law, of its steps from the mode", law.variances[parameter]);
  }
  add_variances(runs, passes, truth, smallest, largest, report);
  add_entries(runs, passes, problem.posterior.covariance, report);
  add_covariances(context, problem, report);
  add_notes(runs, passes, truth, smallest, law, report);
}

}  // namespace windhover::reproduce
