// Iterate averaging as approximate MCMC: Mandt, Hoffman and Blei 2017, section 7.2, Figures 3 to 5.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/mnist.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/simulation.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr std::size_t kRows = 10'000;
constexpr std::size_t kFeatures = 10;
constexpr std::uint32_t kMinibatch = 10;
constexpr std::uint64_t kStepsAPass = kRows / kMinibatch;
constexpr double kRate = 0.003;
constexpr std::array kMethods = {"IASG", "SGLD", "NUTS"};
constexpr std::array kStarts = {"from the mode", "from the prior"};

// Rows of the model itself: features N(0, I), theta from the prior N(0, I), noise variance 1.
Problem simulated_rows(const Context& context) {
  Problem problem{
      .name = "simulated regression",
      .model = {.name = "linear", .features = kFeatures, .intercept = false, .noise_variance = 1},
      .data = {},
      .minibatch_size = kMinibatch};
  std::vector<double> z(kRows * (kFeatures + 1) + kFeatures);
  fill_normals(context.seed(), {.purpose = Purpose::kTest}, z);
  const double* truth = z.data() + kRows * (kFeatures + 1);
  problem.data.features.assign(z.begin(), z.begin() + kRows * kFeatures);
  for (std::size_t i = 0; i < kRows; ++i) {
    double y = z[kRows * kFeatures + i];
    for (std::size_t j = 0; j < kFeatures; ++j) y += z[i * kFeatures + j] * truth[j];
    problem.data.targets.push_back(y);
  }
  describe(problem.data, kFeatures);
  find_posterior(problem);
  return problem;
}

SamplerConfig config_of(std::size_t method) {
  if (method == 0) return {.name = "iasg", .minibatch_size = kMinibatch, .step_size = kRate};
  // Their epsilon_t = 10^-3 / sqrt(1000 + t), half of it times the gradient of the log posterior.
  const double first = 1e-3 / std::sqrt(1000.0) * static_cast<double>(kRows) / 2;
  return {.name = "sgld",
          .minibatch_size = kMinibatch,
          .step_size = first,
          .step_decay = 0.5,
          .step_offset = 1000};
}

// Passes at which variances are looked at: 20, then by factors of about 1.3.
std::vector<double> checkpoints(double most) {
  std::vector<double> passes;
  double p = 20;
  while (p < most) {
    passes.push_back(std::round(p));
    p *= 1.3;
  }
  passes.push_back(most);
  return passes;
}

// The variances of each parameter over the draws so far, at each checkpoint.
using Trajectory = std::vector<std::vector<double>>;

std::vector<double> variances(const Moments& moments) {
  const VectorXd v = moments.covariance().diagonal();
  return {v.data(), v.data() + v.size()};
}

std::vector<double> start_of(const Problem& problem, std::size_t start, std::uint64_t seed) {
  const VectorXd& mode = problem.posterior.mode;
  std::vector<double> theta(mode.data(), mode.data() + mode.size());
  if (start == 1) fill_normals(seed, {.purpose = Purpose::kInitialState}, theta);
  return theta;
}

Trajectory stochastic(const Problem& problem, const SamplerConfig& config,
                      const std::vector<double>& start, const std::vector<double>& passes,
                      std::uint64_t seed) {
  OwnedModel model(problem.model, problem.data);
  const OwnedSampler sampler(config, model.dimension());
  const KnownEstimates estimates(problem);
  if (!ok(sampler->refresh(estimates.view()))) return {};
  ChainRun chain(model, sampler, config, kMinibatch, seed, 0);
  chain.start(start);
  Moments moments(problem.posterior.mode);
  Trajectory trajectory;
  // A draw of IASG is the mean of one pass; SGLD's are taken as they come, without the first 10.
  const std::uint64_t interval = config.name == "iasg" ? kStepsAPass : 1;
  const std::uint64_t dropped = 10 * interval;
  for (const double end : passes) {
    while (chain.steps() < static_cast<std::uint64_t>(end) * kStepsAPass) {
      chain.step();
      if (chain.steps() > dropped && chain.steps() % interval == 0) {
        moments.add(chain.theta().data());
      }
    }
    trajectory.push_back(variances(moments));
  }
  return trajectory;
}

// A gradient on all rows is a pass. The warm-up counts, its draws do not.
Trajectory no_u_turn(const Problem& problem, const std::vector<double>& start,
                     const std::vector<double>& passes, std::uint64_t seed) {
  LogPosterior posterior(problem);
  const reference::LogDensity density = posterior.density();
  constexpr std::size_t kWarmUp = 100;
  reference::Options options{.warm_up = kWarmUp, .draws = 50, .seed = seed};
  const reference::Run pilot = reference::no_u_turn(density, start, options);
  const double a_move = static_cast<double>(pilot.gradients) / (kWarmUp + 50.0);
  options.draws = static_cast<std::size_t>(std::max(20.0, passes.back() / a_move - kWarmUp));
  const reference::Run run = reference::no_u_turn(density, start, options);
  const double gradients =
      static_cast<double>(run.gradients) / static_cast<double>(kWarmUp + options.draws);
  Moments moments(problem.posterior.mode);
  Trajectory trajectory;
  std::size_t next = 0;
  for (const double end : passes) {
    for (; next < run.draws.size() && static_cast<double>(kWarmUp + next) * gradients < end;
         ++next) {
      moments.add(run.draws[next].data());
    }
    trajectory.push_back(moments.count() > 1 ? variances(moments)
                                             : std::vector<double>(start.size(), std::nan("")));
  }
  return trajectory;
}

// Mean and standard deviation over chains of one parameter's variance at each checkpoint.
struct Spread {
  std::vector<double> mean;
  std::vector<double> sd;
};

Spread spread_of(const std::vector<ordered_json>& chains, std::size_t parameter) {
  Spread spread;
  for (std::size_t at = 0; at < chains[0].size(); ++at) {
    std::vector<double> values;
    for (const ordered_json& chain : chains) {
      const ordered_json& value = chain.at(at).at(parameter);
      values.push_back(value.is_null() ? std::nan("") : value.get<double>());
    }
    const Estimate e = mean_of(values);
    spread.mean.push_back(e.value);
    spread.sd.push_back(e.mcse * std::sqrt(static_cast<double>(values.size())));
  }
  return spread;
}

// Figure 3: S = 1, a rate of 0.005, windows of one pass.
void add_covariances(const Context& context, const Problem& problem, Report& report) {
  Problem single = problem;
  single.minibatch_size = 1;
  const KnownEstimates estimates(single);
  const auto passes = static_cast<std::uint64_t>(context.choose(200, 1000));
  // In parts that are long beside the relaxation, for their standard error.
  constexpr std::uint64_t kParts = 10;
  const auto moments_of = [&](const SamplerConfig& config, std::uint64_t interval) {
    OwnedModel model(single.model, single.data);
    const OwnedSampler sampler(config, model.dimension());
    if (!ok(sampler->refresh(estimates.view())))
      throw RunError("the sampler refuses its estimates");
    ChainRun chain(model, sampler, config, 1, context.seed(), 0);
    chain.start(start_of(problem, 0, 0));
    ordered_json parts = ordered_json::array();
    for (std::uint64_t part = 0; part < kParts; ++part) {
      Moments moments(single.posterior.mode);
      for (std::uint64_t step = 0; step < passes / kParts * kRows; ++step) {
        chain.step();
        if (chain.steps() % interval == 0) moments.add(chain.theta().data());
      }
      parts.push_back(to_json(moments));
    }
    return parts;
  };
  // Without its noise SGLD is SGD at a constant rate.
  const SamplerConfig plain{
      .name = "sgld", .minibatch_size = 1, .step_size = 0.005, .temperature = 0};
  const SamplerConfig averaged{.name = "iasg", .minibatch_size = 1, .step_size = 0.005};
  std::array<std::vector<RunMoments>, 2> runs;
  context.parallel(2, [&](std::size_t i) {
    const ordered_json parts =
        context.part(fmt::format("figure-3-{}", i),
                     fmt::format("{}, {} passes", settings_text(i == 0 ? plain : averaged), passes),
                     [&] { return i == 0 ? moments_of(plain, 100) : moments_of(averaged, kRows); });
    for (const ordered_json& part : parts) runs[i].push_back(moments_from(part));
  });
  const MatrixXd& posterior = problem.posterior.covariance;
  Panel panel{.title = "Marginal variances (Figure 3)",
              .x_label = "parameter",
              .y_label = "variance",
              .log_y = true,
              .legend = "center right"};
  const std::array labels = {"iterates of SGD", "their means over a pass", "posterior"};
  for (std::size_t i = 0; i < 3; ++i) {
    const MatrixXd c = i < 2 ? pooled(runs[i]).covariance : posterior;
    Series series{.label = labels[i],
                  .x = {},
                  .y = {},
                  .style = Style::kPoints,
                  .colour = static_cast<int>(i)};
    for (Index j = 0; j < c.rows(); ++j) {
      series.x.push_back(static_cast<double>(j + 1));
      series.y.push_back(c(j, j));
    }
    panel.series.push_back(series);
    if (i == 2) continue;
    const Estimate ratio = jackknife(runs[i], [&](const RunMoments& run) {
      return (run.covariance.diagonal().array() / posterior.diagonal().array()).mean();
    });
    report.add(Figure{.group = "Figure 3: one chain, S = 1, rate 0.005",
                      .name = fmt::format("{}: average variance over the posterior's", labels[i]),
                      .ours = ratio.value,
                      .mcse = ratio.mcse});
  }
  report.add(panel);
}

// Of the mean over a pass of SGD at kRate, in stationarity: the iterates' covariance at distance k
// is R^k Sigma with R = I - rate A, summed in the eigenvectors of A.
VectorXd mean_variances(const Problem& problem) {
  const KnownEstimates at_mode(problem);
  const Index d = problem.dimension();
  const Law law{kRate * MatrixXd::Identity(d, d), MatrixXd::Zero(d, d)};
  const MatrixXd sigma = exact_covariance(law, at_mode, SpreadNoise(problem)).value();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(at_mode.curvature);
  const MatrixXd& u = eigen.eigenvectors();
  constexpr auto kSteps = static_cast<double>(kStepsAPass);
  // sum over k of (T - k) rho^k
  VectorXd sums(d);
  for (Index j = 0; j < d; ++j) {
    const double lost = kRate * eigen.eigenvalues()[j];
    const double rho = 1 - lost;
    sums[j] = rho * (kSteps * lost - 1 + std::pow(rho, kSteps)) / (lost * lost);
  }
  MatrixXd mean = u.transpose() * sigma * u;
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) mean(i, j) *= (kSteps + sums[i] + sums[j]) / (kSteps * kSteps);
  }
  return (u * mean * u.transpose()).diagonal();
}

}  // namespace

void run_iterate_averaging(const Context& context, Report& report) {
  report.plot().columns = 3;
  const Problem problem = simulated_rows(context);
  const auto chains = context.choose<std::size_t>(10, 100);
  const std::vector<double> passes = checkpoints(context.choose(1000.0, 10'000.0));

  // Of each method and start: every chain's trajectory.
  constexpr std::size_t kCases = kMethods.size() * kStarts.size();
  std::vector<std::vector<ordered_json>> runs(kCases, std::vector<ordered_json>(chains));
  context.parallel(kCases * chains, {"chains", 0, 0.9}, [&](std::size_t job) {
    const std::size_t which = job % kCases;
    const std::size_t chain = job / kCases;
    const std::size_t method = which / kStarts.size();
    const std::size_t start = which % kStarts.size();
    const std::uint64_t seed = context.seed() * 10'000 + chain;
    runs[which][chain] = context.part(
        fmt::format("chain-{}-{}-{}", method, start, chain),
        fmt::format("{} from {}, {} passes", kMethods[method], kStarts[start], passes.back()),
        [&]() -> ordered_json {
          const std::vector<double> from = start_of(problem, start, seed);
          if (method == 2) return no_u_turn(problem, from, passes, seed);
          return stochastic(problem, config_of(method), from, passes, seed);
        });
  });

  const VectorXd truth = problem.posterior.covariance.diagonal();
  Index smallest = 0;
  Index largest = 0;
  truth.minCoeff(&smallest);
  truth.maxCoeff(&largest);
  const VectorXd predicted = mean_variances(problem);
  for (const Index parameter : {smallest, largest}) {
    report.add(Figure{.group = "IASG's own law, exactly: the mean over a pass",
                      .name = fmt::format("{} variance over the exact",
                                          parameter == smallest ? "smallest" : "largest"),
                      .ours = predicted[parameter] / truth[parameter]});
  }
  for (std::size_t start = 0; start < kStarts.size(); ++start) {
    for (std::size_t method = 0; method < kMethods.size(); ++method) {
      const std::vector<ordered_json>& all = runs[method * kStarts.size() + start];
      Panel panel{.title = fmt::format("{} {}", kMethods[method], kStarts[start]),
                  .x_label = "passes over the data",
                  .y_label = "marginal variance",
                  .log_x = true,
                  .log_y = true,
                  .legend = "outside bottom center horizontal",
                  .y_range = {2e-5, 1e-2}};
      for (int k = 0; k < 2; ++k) {
        const Index parameter = k == 0 ? smallest : largest;
        const Spread spread = spread_of(all, static_cast<std::size_t>(parameter));
        panel.series.push_back({.label = k == 0 ? "smallest" : "largest",
                                .x = passes,
                                .y = spread.mean,
                                .error = spread.sd,
                                .colour = k == 0 ? 4 : 0});
        panel.series.push_back({.label = k == 0 ? "exact" : "",
                                .x = {passes[0], passes.back()},
                                .y = {truth[parameter], truth[parameter]},
                                .style = Style::kDashes,
                                .colour = 1});
        const double root = std::sqrt(static_cast<double>(chains));
        report.add(Figure{.group = fmt::format("Figures 4, 5: after {:g} passes, {}", passes.back(),
                                               kStarts[start]),
                          .name = fmt::format("{}, {} variance over the exact", kMethods[method],
                                              k == 0 ? "smallest" : "largest"),
                          .ours = spread.mean.back() / truth[parameter],
                          .mcse = spread.sd.back() / root / truth[parameter]});
        report.add(Figure{.group = fmt::format("Figures 4, 5: after {:g} passes, {}", passes.back(),
                                               kStarts[start]),
                          .name = fmt::format("{}, likewise, sd of one chain", kMethods[method]),
                          .ours = spread.sd.back() / truth[parameter],
                          .mcse = spread.sd.back() / truth[parameter] /
                                  std::sqrt(2.0 * static_cast<double>(chains - 1))});
      }
      report.add(panel);
    }
  }
  add_covariances(context, problem, report);
  report.note(
      "Bars in the plots are the standard deviation over chains, as in the paper. The paper "
      "prints curves and no numbers.");
  report.note(
      fmt::format("IASG at the paper's rate is too narrow here, as its law says: a pass of {} "
                  "steps at rate {:g} "
                  "is only {:.1f} relaxation times, and the mean over x of them has 1 - (1 - "
                  "exp(-x)) / x of the "
                  "posterior's variance (eq. 34).",
                  kStepsAPass, kRate, kRate * static_cast<double>(kStepsAPass)));
  report.note(
      "SGLD's step follows the paper, epsilon = 10^-3 / sqrt(1000 + t) with half of it "
      "times the gradient of the log posterior. NUTS adapts for 100 moves, which count as "
      "passes; the random start is therefore left behind before its first draw.");
}

}  // namespace windhover::reproduce
