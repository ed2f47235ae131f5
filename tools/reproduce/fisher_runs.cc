#include "windhover/tools/reproduce/fisher_runs.h"

#include <Eigen/Cholesky>

#include "windhover/platform/random.h"
#include "windhover/samplers/reference/effective_draws.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/hmc.h"

namespace windhover::reproduce {

namespace {

constexpr std::size_t kFisherRows = 10'000;
constexpr std::size_t kFisherInputs = 50;
constexpr std::array kAlphas = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
constexpr std::array kSgldSteps = {1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6};
constexpr std::size_t kWarmUp = 200;  // moves of HMC

// `advance(steps, visit)` makes `steps` steps.
ordered_json moments_of(const Problem& problem, std::uint64_t samples, const auto& advance) {
  Moments moments(problem.posterior.mode);
  const Visit add = [&](std::uint16_t, const double* theta) { moments.add(theta); };
  advance(kFisherBurnIn, Visit());
  advance(samples / 10, add);
  ordered_json out = {{"early", to_json(moments)}};
  advance(samples - samples / 10, add);
  out["late"] = to_json(moments);
  return out;
}

ordered_json run_sgld(const Problem& problem, const FisherSetting& setting, const ChainLaw& law,
                      std::uint64_t samples, std::uint64_t seed) {
  VectorXd at = problem.posterior.mode;
  if (law.covariance) {
    VectorXd z(at.size());
    fill_normals(seed, {.purpose = Purpose::kInitialState}, entries_of(z));
    at += law.covariance->llt().matrixL() * z;
  }
  KnownChain chain(problem, setting.sampler, seed, at);
  return moments_of(problem, samples, [&](std::uint64_t steps, const Visit& visit) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (!chain.step()) throw RunError(fmt::format("{} diverged", setting.label));
      if (visit) visit(0, chain.theta().data());
    }
  });
}

}  // namespace

Problem load_sevens_and_nines(const Context& context) {
  const Dataset all = load_mnist(context, true);
  std::vector<std::size_t> rows;
  for (const std::size_t i : permutation(all.rows(), context.seed())) {
    if (all.targets[i] == 7 || all.targets[i] == 9) rows.push_back(i);
    if (rows.size() == kFisherRows) break;
  }
  Problem problem{.name = "MNIST 7 v 9",
                  .model = {.name = "logistic",
                            .features = kFisherInputs,
                            .prior_precision = 1,
                            .intercept_precision = 1},
                  .data = random_projection(rows_of(all, rows), kFisherInputs, context.seed()),
                  .minibatch_size = kFisherMinibatch};
  for (double& y : problem.data.targets) y = y == 9 ? 1.0 : 0.0;
  find_posterior(problem);
  return problem;
}

std::vector<FisherSetting> fisher_settings(const Context& context, double n) {
  std::vector<FisherSetting> settings;
  const std::size_t few = context.choose<std::size_t>(2, 4);
  const auto add = [&](const char* method, const std::string& label, const std::string& mark,
                       SamplerConfig sampler, std::size_t seeds) {
    sampler.minibatch_size = kFisherMinibatch;
    sampler.chains = 1;
    settings.push_back({method, label, mark, sampler, seeds});
  };
  for (const char* name : {"sgfs-f", "sgfs-d"}) {
    for (const double alpha : kAlphas) {
      if (context.quick() && alpha != 0 && alpha != 1 && alpha != 3 && alpha != 6) continue;
      const bool full = name == std::string("sgfs-f");
      add(full ? "SGFS-f" : "SGFS-d",
          fmt::format("{}, α = {:g}", full ? "SGFS-f" : "SGFS-d", alpha),
          fmt::format("{:g}", alpha), {.name = name, .noise_scale = alpha},
          full && alpha == 0 ? 10 : few);
    }
  }
  // The paper's step epsilon multiplies half the gradient of the log posterior.
  for (const double step : kSgldSteps) {
    const double digits = std::log10(step);  // every second step is a power of ten
    const std::string mark =
        std::abs(digits - std::round(digits)) < 1e-9 ? fmt::format("1e{:.0f}", digits) : "";
    add("SGLD", fmt::format("SGLD, ε = {:g}", step), mark,
        {.name = "sgld", .step_size = step * n / 2}, few);
  }
  // Last, so that it is drawn over the others.
  add("default", "default", "", {.name = "calibrated"}, 10);
  return settings;
}

ChainLaw chain_law(const Problem& problem, const SamplerConfig& sampler, const Told& at_mode,
                   const SpreadNoise& spread) {
  Told told = at_mode;
  told.noise += spread(problem.posterior.covariance);
  const Law law = law_of(sampler, told);
  ChainLaw out{.covariance = exact_covariance(law, at_mode, spread),
               .relaxation = relaxation(law, at_mode.curvature)};
  if (out.covariance) {
    out.autocorrelation_time =
        autocorrelation_times(law, at_mode.curvature, *out.covariance).mean();
  }
  return out;
}

ordered_json run_setting(const Problem& problem, const FisherSetting& setting, const ChainLaw& law,
                         std::uint64_t samples, std::uint64_t seed) {
  if (setting.sampler.name == "sgld") return run_sgld(problem, setting, law, samples, seed);
  EngineConfig config;
  config.model = problem.model;
  config.sampler = setting.sampler;
  config.seed = seed;
  EngineRun run(config, problem.data);
  run.settle();
  ordered_json out = moments_of(
      problem, samples, [&](std::uint64_t steps, const Visit& visit) { run.run(steps, visit); });
  const std::vector<ParameterSummary> summaries = run.posterior();
  double time = 0;
  for (const ParameterSummary& s : summaries) time += s.autocorrelation_time;
  out["autocorrelation_time"] = time / static_cast<double>(summaries.size());
  return out;
}

ordered_json run_hmc(const Problem& problem, double path_length, double budget,
                     std::uint64_t seed) {
  LogPosterior posterior(problem);
  const VectorXd& mode = problem.posterior.mode;
  const std::vector<double> start(mode.data(), mode.data() + mode.size());
  const auto most = static_cast<std::size_t>(budget);
  // A draw takes at least one gradient.
  const reference::Run run = reference::hamiltonian_monte_carlo(posterior.density(), start,
                                                                {.warm_up = kWarmUp,
                                                                 .draws = most,
                                                                 .most_gradients = most,
                                                                 .path_length = path_length,
                                                                 .seed = seed});
  Moments moments(mode);
  for (const std::vector<double>& draw : run.draws) moments.add(draw.data());
  double effective = 0;
  for (std::size_t j = 0; j < start.size(); ++j) {
    effective +=
        reference::bulk_effective_draws(column({run.draws}, j)) / static_cast<double>(start.size());
  }
  return {{"late", to_json(moments)},
          {"draws", run.draws.size()},
          {"gradients", run.gradients - run.warm_up_gradients},
          {"effective", effective}};
}

namespace {

Matrix2d pair_of(const MatrixXd& c, Index i, Index j) {
  Matrix2d out;
  out << c(i, i), c(i, j), c(j, i), c(j, j);
  return out;
}

}  // namespace

void add_marginals(const std::string& label, const RunMoments& ours, const RunMoments& truth,
                   int colour, Report& report) {
  std::array<std::pair<Index, Index>, 2> chosen;
  std::array<double, 2> extreme = {INFINITY, -INFINITY};
  const auto mean_of_pair = [](const VectorXd& m, Index i, Index j) {
    return Vector2d(m[i], m[j]);
  };
  for (Index i = 0; i < ours.mean.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double kl =
          gaussian_kl(mean_of_pair(ours.mean, i, j), pair_of(ours.covariance, i, j),
                      mean_of_pair(truth.mean, i, j), pair_of(truth.covariance, i, j));
      if (kl < extreme[0]) extreme[0] = kl, chosen[0] = {i, j};
      if (kl > extreme[1]) extreme[1] = kl, chosen[1] = {i, j};
    }
  }
  for (std::size_t k = 0; k < 2; ++k) {
    const auto [i, j] = chosen[k];
    Panel panel =
        Panel{fmt::format("{}: marginal of {} difference", label, k == 0 ? "smallest" : "largest"),
              fmt::format("θ{}", i + 1), fmt::format("θ{}", j + 1)}
            .below();
    panel.add(ellipse("HMC, 2 sd", Style::kLine, 6, mean_of_pair(truth.mean, i, j),
                      pair_of(truth.covariance, i, j), 2));
    panel.add(ellipse(label, Style::kDashes, colour, mean_of_pair(ours.mean, i, j),
                      pair_of(ours.covariance, i, j), 2));
    report.add(panel);
  }
}

ErrorCurves::ErrorCurves(double early, double late) {
  for (std::size_t p = 0; p < 4; ++p) {
    panels_[p] = {.title = fmt::format("{} after {:.2g} gradients of one row",
                                       p < 2 ? "Mean" : "Covariance", p % 2 == 0 ? early : late),
                  .x_label = "effective draws a gradient of one row (mixing rate)",
                  .y_label = p < 2 ? "error E1" : "error E2",
                  .log_x = true,
                  .log_y = true,
                  .legend = "outside bottom center horizontal"};
  }
}

void ErrorCurves::add(const std::string& method, const std::string& mark, int colour, double mixing,
                      const std::array<Estimate, 4>& errors) {
  for (std::size_t p = 0; p < 4; ++p) {
    if (!std::isfinite(errors[p].value)) continue;
    std::vector<Series>& all = panels_[p].series;
    if (all.empty() || all.back().label != method) {
      all.push_back(Series::curve(method, colour));
    }
    all.back().add(mixing, errors[p]);
    all.back().names.push_back(mark);
    all.back().open = all.back().x.size() == 1;
  }
}

void ErrorCurves::add_to(Report& report) const {
  for (const Panel& panel : panels_) report.add(panel);
}

}  // namespace windhover::reproduce
