// Predicted against empirical covariance of the iterates of constant-rate SGD: Mandt, Hoffman and
// Blei 2017, Figures 1 and 2.
#include <Eigen/Eigenvalues>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/optimizers.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kOuRuns = 8;
constexpr double kOuRelaxations = 100;  // of each run
constexpr double kDeviations = 3;       // standard deviations of the ellipses, as in the paper
constexpr double kWithin = 0.05;        // relative: the iterates' variance against the exact law's
constexpr double kGood = 0.05;          // relative: below it agreement is called good

struct OuMethod {
  const char* label;
  const char* sampler;
};
constexpr std::array kOuMethods = {OuMethod{"SGD-f", "sgd-f"}, OuMethod{"SGD", "sgd"},
                                   OuMethod{"default", "calibrated"}};

Matrix2d projected(const MatrixXd& covariance, const MatrixXd& directions) {
  return directions.transpose() * covariance * directions;
}

// The smallest and the largest principal component of the posterior, in its standard deviations.
MatrixXd extremes(const MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance);
  MatrixXd directions(covariance.rows(), 2);
  const Index last = covariance.rows() - 1;
  directions << solver.eigenvectors().col(0) / std::sqrt(solver.eigenvalues()[0]),
      solver.eigenvectors().col(last) / std::sqrt(solver.eigenvalues()[last]);
  return directions;
}

Panel ellipses(const std::string& title) {
  return {.title = title,
          .x_label = "smallest component (posterior sd)",
          .y_label = "largest component (posterior sd)",
          .legend = "outside bottom center horizontal"};
}

void add_ellipse(Panel& panel, const char* label, const MatrixXd& covariance,
                 const MatrixXd& directions, int colour, Style style) {
  panel.add(ellipse(label, style, colour, Vector2d::Zero(), projected(covariance, directions),
                    kDeviations));
}

// Entries of the covariance over the posterior's standard deviations.
Panel entries(const std::string& title, const MatrixXd& predicted, const MatrixXd& empirical,
              const MatrixXd& posterior) {
  Panel panel = Panel{title, "predicted covariance (posterior sd = 1)",
                      "empirical covariance (posterior sd = 1)"}
                    .legend_at("top left");
  Series off = Series::points("off the diagonal", 1);
  Series on = Series::points("variances", 0);
  const VectorXd sd = posterior.diagonal().cwiseSqrt();
  double least = 0;
  double most = 0;
  for (Index i = 0; i < sd.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double x = predicted(i, j) / (sd[i] * sd[j]);
      (i == j ? on : off).add(x, empirical(i, j) / (sd[i] * sd[j]));
      least = std::min(least, x);
      most = std::max(most, x);
    }
  }
  panel.series = {Series::dashes("equal", 7, {least, most}, {least, most}), off, on};
  return panel;
}

void run_problem(const Context& context, const std::string& set, Scaling scaling, Report& report) {
  const Problem problem = load_problem(context, set, scaling);
  const Told at_mode = told_at_mode(problem);
  const SpreadNoise spread(problem);
  const MatrixXd& posterior = problem.posterior.covariance;
  const MatrixXd directions = extremes(posterior);
  const std::string group = fmt::format("{}, {}", problem.name, to_string(scaling));
  Table table(report, group);
  std::vector<Panel> scatter;
  for (const OuMethod& method : kOuMethods) {
    const SamplerConfig config{
        .name = method.sampler, .minibatch_size = problem.minibatch_size, .chains = 2};
    const Law law = law_of(config, at_mode);
    const auto exact = exact_covariance(law, at_mode, spread);
    if (!exact) throw RunError(fmt::format("{} has no stationary law on {}", method.label, group));
    const MatrixXd continuous = continuous_covariance(law, at_mode);
    const double wanted = kOuRelaxations * config.chains * relaxation(law, at_mode.curvature);
    const double least = problem.minibatch_size > 1000 ? 1.2e4 : 5e5;
    const auto steps = static_cast<std::uint64_t>(
        std::min(std::max(wanted, least), context.choose(4.0, 20.0) * least));
    std::vector<PartJob> jobs;
    for (std::size_t run = 0; run < kOuRuns; ++run) {
      jobs.push_back({fmt::format("{}-{}-{}", set, method.sampler, run),
                      fmt::format("{}, {} steps", settings_text(config), steps), [&, run] {
                        return simulate(problem, config, steps, context.seed() * 1000 + run);
                      }});
    }
    const std::vector<RunMoments> runs = moments_of_runs(context.run_parts(jobs));
    context.progress(set == "wine" ? 0.4 : 0.9, group);
    const MatrixXd empirical = pooled(runs).covariance;
    const auto figure = [&](const char* what, const std::function<double(const MatrixXd&)>& value) {
      const Estimate e =
          jackknife(runs, [&](const RunMoments& run) { return value(run.covariance); });
      table.add(fmt::format("{}, {}", method.label, what), e);
    };
    figure("empirical beside exact law, relative error",
           [&](const MatrixXd& c) { return relative_covariance_error(c, *exact); });
    figure("empirical beside Ornstein-Uhlenbeck, relative error",
           [&](const MatrixXd& c) { return relative_covariance_error(c, continuous); });
    const Estimate average = jackknife(runs, [&](const RunMoments& run) {
      return exact->llt().solve(run.covariance).trace() / static_cast<double>(problem.dimension());
    });
    const Bar bar{1 - kWithin, 1 + kWithin};
    table
        .add(fmt::format("{}, empirical variance over exact law, average over directions",
                         method.label),
             average)
        .held_to(bar, kWithin);
    const double found = relative_covariance_error(empirical, continuous);
    const double discrete = relative_covariance_error(continuous, *exact);
    report.note(
        "{}, {}: the iterates' covariance is {:.1f} % from the Ornstein-Uhlenbeck prediction and "
        "{:.1f} % from the exact law of the discrete steps. The paper finds very good agreement "
        "with the former{}.",
        group, method.label, 100 * found, 100 * relative_covariance_error(empirical, *exact),
        found < kGood          ? "; so do we"
        : discrete > found / 2 ? fmt::format("; here it is not, by the steps' being discrete: the "
                                             "two predictions differ by {:.1f} %",
                                             100 * discrete)
                               : "; here it is not, by the error of the run");
    table.add(fmt::format("{}, Ornstein-Uhlenbeck beside exact law, relative error", method.label),
              relative_covariance_error(continuous, *exact));
    for (int k = 0; k < 2; ++k) {
      const char* which = k == 0 ? "smallest" : "largest";
      const VectorXd v = directions.col(k);
      const double target = v.dot(posterior * v);
      table.add(fmt::format("{}, predicted variance over the posterior's, {} component",
                            method.label, which),
                v.dot(*exact * v) / target);
      figure(fmt::format("empirical variance over the posterior's, {} component", which).c_str(),
             [&](const MatrixXd& c) { return v.dot(c * v) / target; });
    }
    Panel panel = ellipses(fmt::format("{}: {}, {:g} sd", problem.name, method.label, kDeviations));
    add_ellipse(panel, "posterior", posterior, directions, 6, Style::kLine);
    // Points, which the dashes of the prediction do not hide.
    add_ellipse(panel, "iterates", empirical, directions, 4, Style::kPoints);
    add_ellipse(panel, "predicted, OU", continuous, directions, 1, Style::kDashes);
    add_ellipse(panel, "predicted, exact", *exact, directions, 0, Style::kDashes);
    report.add(panel);
    scatter.push_back(entries(fmt::format("{}: {}, all entries", problem.name, method.label),
                              *exact, empirical, posterior));
  }
  const Gaussian field = mean_field_optimum(problem.posterior.mode, posterior.inverse());
  Panel panel = ellipses(fmt::format("{}: mean-field BBVI, {:g} sd", problem.name, kDeviations));
  add_ellipse(panel, "posterior", posterior, directions, 6, Style::kLine);
  add_ellipse(panel, "BBVI", field.covariance, directions, 2, Style::kLine);
  report.add(panel);
  for (Panel& p : scatter) report.add(p);
  // An empty panel fills the row.
  report.add(Panel{.title = "", .x_label = "", .y_label = ""});
}

}  // namespace

void run_ou_covariance(const Context& context, Report& report) {
  report.plot().columns = 4;
  report.plot().panel_width = 440;
  run_problem(context, "wine", Scaling::kUnitMaximum, report);
  run_problem(context, "skin", Scaling::kStandardized, report);
}

}  // namespace windhover::reproduce
