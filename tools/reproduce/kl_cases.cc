#include "windhover/tools/reproduce/kl_cases.h"

namespace windhover::reproduce {

KlCase::KlCase(const Context& context, std::size_t set_in, Scaling scaling_in)
    : set(set_in),
      scaling(scaling_in),
      problem(load_problem(context, kSets[set_in], scaling_in)),
      at_mode(told_at_mode(problem)),
      spread(problem) {}

SamplerConfig KlCase::config(std::size_t method) const {
  SamplerConfig config{.name = kKlMethods[method].sampler,
                       .minibatch_size = problem.minibatch_size,
                       .chains = kKlChains,
                       .noise_scale = 0};
  const Rate rate = kKlMethods[method].rate;
  // The paper's step epsilon multiplies half the gradient of the log posterior.
  if (rate == Rate::kPapersStep) config.step_size = kPapersSteps[set] * at_mode.n / 2;
  if (rate == Rate::kEquation15) {
    const auto d = static_cast<double>(problem.dimension());
    config.step_size_max = 2 * d * at_mode.minibatch_size / (at_mode.n * at_mode.noise.trace());
  }
  return config;
}

double KlCase::kl(const VectorXd& mean, const MatrixXd& covariance) const {
  return gaussian_kl(mean, covariance, problem.posterior.mode, problem.posterior.covariance);
}

ExactKl exact_kl(const KlCase& c, std::size_t method) {
  Told told = c.at_mode;
  // As the engine's chains measure it: C averaged over the posterior.
  if (method == kDefault) told.noise += c.spread(c.problem.posterior.covariance);
  const Law law = law_of(c.config(method), told);
  ExactKl exact;
  exact.relaxation = relaxation(law, c.at_mode.curvature);
  const VectorXd& mode = c.problem.posterior.mode;
  exact.continuous = c.kl(mode, continuous_covariance(law, c.at_mode));
  const auto sigma = exact_covariance(law, c.at_mode, c.spread);
  if (sigma) exact.kl = c.kl(mode, *sigma);
  return exact;
}

namespace {

constexpr double kFloor = 1e-6;

void add_figures(const std::string& group, bool linear, const KlLine& line, Report& report) {
  Table table(report, group);
  const auto complete = [&](Figure& figure) {
    figure.beside(line.papers, "Table 1", line.papers_decimals).held_to(line.bar);
  };
  if (line.exact) {
    // The default's is 0 by the derivation of its step size matrix.
    const char* identity = line.label == "default" ? " (0 by its derivation)" : "";
    complete(table.add(fmt::format("{}, {}{}", line.label,
                                   linear ? "exact" : "exact for Laplace's Gaussian", identity),
                       *line.exact));
  }
  if (!line.simulated) return;
  complete(table.add(
      fmt::format("{}, simulated, {:.3g} steps", line.label, static_cast<double>(line.steps)),
      *line.simulated));
  if (line.chance) table.add(fmt::format("{}, of that by chance", line.label), *line.chance);
}

}  // namespace

void add_kl_figures(const std::string& group, bool linear, const std::vector<KlLine>& lines,
                    Report& report) {
  Panel panel = Panel{group, "", "KL from the posterior (nats)"}
                    .log("y")
                    .legend_at("outside top center horizontal maxrows 2")
                    .y_in(kFloor / 2, 1e5);
  Series exact = Series::points("exact law", 0);
  Series below = Series::points(fmt::format("exact law, below {:g}", kFloor), 0);
  below.open = true;
  Series simulated = Series::points("simulated", 1);
  Series chance = Series::points("of that by chance", 7);
  Series papers = Series::points("the paper's", 6).of_paper();
  Series bar = Series::line("bar of the default", 2);
  for (const KlLine& line : lines) {
    add_figures(group, linear, line, report);
    const auto x = static_cast<double>(panel.categories.size());
    panel.categories.push_back(line.label);
    if (line.exact) {
      const bool drawn = *line.exact >= kFloor;
      (drawn || std::isnan(*line.exact) ? exact : below).add(x - 0.2, drawn ? *line.exact : kFloor);
    }
    if (line.bar) {
      for (const double end : {x - 0.4, x + 0.4}) bar.add(end, line.bar->most);
    }
    papers.add(x, line.papers);
    if (line.simulated) simulated.add(x + 0.2, *line.simulated);
    if (line.chance) chance.add(x + 0.2, line.chance->value);
  }
  panel.series = {exact, below, simulated, chance, bar, papers};
  report.add(panel);
}

void add_kl_notes(std::size_t runs, std::size_t chains, Report& report) {
  report.note(
      "Steps are those of all {} chains of a method together, after a cold start and a tenth as "
      "many that are left out. The default, SGD-f and SGFS-f at α = 0 have the same number in each "
      "case. \"Of that by chance\" is the KL that the Monte Carlo error of so long a run makes on "
      "average, by the KL of each run from the pool of all {}: a KL of that size is no sign of a "
      "wrong law.",
      chains, runs);
  report.note(
      "\"-\" for an exact law means that there is none, the step is unstable. SGLD's steps of the "
      "paper are 10^-3, 10^-6 and 10^-5, times half the gradient of the log posterior; SGLD "
      "without further word is at the library's step. SGFS \"eq. 15\" has no rate above that of "
      "eq. 15.");
  report.note(
      "BBVI starts at 0 and follows Adam for a fixed number of steps: \"exact\" is where it ends "
      "when it converges, of a full Gaussian on a linear model computed from the posterior's own "
      "moments (0 but for rounding), on Skin left out as its optimum is not known; \"simulated\" "
      "is where it was, a mean of runs. The paper prints one figure a set and does not say of "
      "which family. It stands beside the mean-field one, which its section 7.3 uses: a full "
      "Gaussian that had converged would be at the posterior.");
}

}  // namespace windhover::reproduce
