#include "windhover/tools/reproduce/crossover.h"

#include "windhover/runtime/learning/learner.h"
#include "windhover/samplers/reference/effective_draws.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kCrossoverFeatures = 10;
// Iterates kept per chain: several for each effective draw wanted, so that thinning loses little.
constexpr std::size_t kMostKept = 32'000;

// Keeps every `interval`-th iterate of each chain.
class Kept {
 public:
  Kept(std::size_t chains, std::uint64_t interval)
      : interval_(interval), wait_(chains), numbers_(chains) {
    for (auto& chain : numbers_) chain.reserve(2 * kMostKept * kCrossoverFeatures);
  }

  void visit(std::size_t chain, const double* theta) {
    if (wait_[chain]-- > 0) return;
    wait_[chain] = interval_ - 1;
    numbers_[chain].insert(numbers_[chain].end(), theta, theta + kCrossoverFeatures);
  }

  // Cut to the length of the shortest; lengths may differ by one.
  Draws chains() {
    const auto shortest =
        std::ranges::min(numbers_, {}, &std::vector<double>::size).size() / kCrossoverFeatures;
    Draws chains(numbers_.size());
    for (std::size_t c = 0; c < chains.size(); ++c) {
      for (std::size_t i = 0; i < shortest; ++i) {
        const double* theta = numbers_[c].data() + i * kCrossoverFeatures;
        chains[c].emplace_back(theta, theta + kCrossoverFeatures);
      }
    }
    if (shortest > kMostKept) thin(shortest);
    return chains;
  }

 private:
  // Drops every other iterate, which loses little where the sampler is slow.
  void thin(std::size_t length) {
    for (auto& chain : numbers_) {
      for (std::size_t i = 1; 2 * i < length; ++i) {
        std::copy_n(chain.data() + 2 * i * kCrossoverFeatures, kCrossoverFeatures,
                    chain.data() + i * kCrossoverFeatures);
      }
      chain.resize((length + 1) / 2 * kCrossoverFeatures);
    }
    interval_ *= 2;
  }

  std::uint64_t interval_;
  std::vector<std::uint64_t> wait_;
  std::vector<std::vector<double>> numbers_;
};

EngineConfig engine_config(const char* sampler, std::uint64_t seed) {
  EngineConfig config;
  config.model.name = "logistic";
  config.model.prior_precision = 1;
  config.model.intercept_precision = 0.1;
  config.model.intercept = false;
  config.sampler.name = sampler;
  config.seed = seed;
  return config;
}

}  // namespace

Dataset make_rows(std::size_t rows, std::uint64_t seed) {
  Dataset data;
  data.names.assign(kCrossoverFeatures, "x");
  data.features.resize(rows * kCrossoverFeatures);
  data.targets.resize(rows);
  std::array<double, kCrossoverFeatures> truth;
  fill_normals(seed, {.step = 1}, truth);
  fill_normals(seed, {.step = 2}, data.features);
  std::vector<double> u(rows);
  fill_uniforms(seed, {.step = 3}, u);
  for (std::size_t i = 0; i < rows; ++i) {
    double predictor = 0;
    for (std::size_t j = 0; j < kCrossoverFeatures; ++j)
      predictor += 0.5 * truth[j] * data.row(i)[j];
    data.targets[i] = u[i] < 1 / (1 + std::exp(-predictor)) ? 1 : 0;
  }
  return data;
}

double error_of_effective(const Draws& draws, const Summary& summary) {
  constexpr std::size_t kStretches = 8;
  const auto worst =
      static_cast<std::size_t>(std::ranges::min_element(summary.bulk) - summary.bulk.begin());
  std::vector<double> effective;
  for (std::size_t s = 0; s < kStretches; ++s) {
    std::vector<std::vector<double>> stretch;
    for (const std::vector<double>& chain : column(draws, worst)) {
      const auto end_of = [&](std::size_t count) {
        return chain.begin() + static_cast<std::ptrdiff_t>(count * chain.size() / kStretches);
      };
      stretch.emplace_back(end_of(s), end_of(s + 1));
    }
    effective.push_back(reference::bulk_effective_draws(stretch));
  }
  const Estimate e = mean_of(effective);
  return e.mcse / e.value;
}

ordered_json to_json(const Draws& draws, double cold_seconds, double draw_seconds) {
  const Summary s = summarize(draws);
  return {{"mean", s.mean},
          {"sd", s.sd},
          {"bulk", s.bulk},
          {"least", s.least_effective()},
          {"least_error", error_of_effective(draws, s)},
          {"spread_error", std::ranges::max(spread_errors(draws, s))},
          {"cold", cold_seconds},
          {"seconds", draw_seconds}};
}

ordered_json run_nuts(const Dataset& data, std::size_t draws, std::uint64_t seed) {
  LogisticDensity density(data);
  const reference::LogDensity log_density = [&](const auto& theta, auto& gradient) {
    return density(theta, gradient);
  };
  const std::vector<double> start(kCrossoverFeatures, 0.0);
  reference::Options options{.draws = 1, .seed = seed};
  const double begin = thread_seconds();
  reference::no_u_turn(log_density, start, options);
  const double middle = thread_seconds();
  options.draws = draws;
  const reference::Run run = reference::no_u_turn(log_density, start, options);
  const double end = thread_seconds();
  const double warm_up = middle - begin;
  ordered_json result = to_json({run.draws}, warm_up, end - middle - warm_up);
  const auto gradients = static_cast<double>(run.gradients - run.warm_up_gradients);
  result["gradients"] = gradients;
  result["rows"] = gradients * static_cast<double>(data.rows());
  result["divergences"] = run.divergences;
  return result;
}

ordered_json run_engine(const char* sampler, const Dataset& data, double wanted, double most,
                        std::uint64_t seed) {
  const double begin = thread_seconds();
  EngineRun engine(engine_config(sampler, seed), data);
  engine.settle();
  const double cold = thread_seconds() - begin;
  const auto chains = engine.engine().config().sampler.chains;
  const double window =
      static_cast<double>(data.rows()) / engine.engine().learner().view().minibatch_size;
  // Several iterates in an autocorrelation time.
  const auto interval = static_cast<std::uint64_t>(std::max(1.0, window / 8));
  Kept kept(chains, interval);
  const Visit visit = [&](std::uint16_t chain, const double* theta) { kept.visit(chain, theta); };
  const std::uint64_t settled = engine.examples();
  const std::uint64_t steps_settled = engine.steps();
  double seconds = 0;
  double effective = 0;
  std::uint64_t steps = 32 * interval * chains;
  do {
    const double from = thread_seconds();
    engine.run(steps, visit);
    seconds += thread_seconds() - from;
    effective = summarize(kept.chains()).least_effective();
    steps = steps / 2 * 3;
  } while (effective < wanted && seconds < most);
  ordered_json result = to_json(kept.chains(), cold, seconds);
  result["rows"] = engine.examples() - settled;
  result["gradients"] = engine.steps() - steps_settled;
  result["divergences"] = engine.engine().counters().get(RuntimeCounter::kDivergences);
  return result;
}

Bias bias(const std::vector<double>& mean, const std::vector<double>& sd,
          const ordered_json& truth) {
  Bias worst;
  for (std::size_t j = 0; j < kCrossoverFeatures; ++j) {
    const double true_sd = truth["sd"][j].get<double>();
    const double off = std::abs(mean[j] - truth["mean"][j].get<double>()) / true_sd;
    const double ratio = sd[j] / true_sd;
    worst.mean = off > worst.mean || !std::isfinite(off) ? off : worst.mean;
    if (!(std::abs(std::log(ratio)) <= std::abs(std::log(worst.ratio)))) worst.ratio = ratio;
  }
  return worst;
}

Crossover crossover_of(const std::vector<std::size_t>& sizes, const std::vector<double>& leads,
                       const std::vector<double>& errors) {
  if (leads.front() >= 1) return {.words = "ahead from the smallest size on"};
  for (std::size_t i = 1; i < leads.size(); ++i) {
    if (!(leads[i] >= 1)) continue;
    const double low = std::log(leads[i - 1]);
    const double from = std::log(static_cast<double>(sizes[i - 1]));
    const double to = std::log(static_cast<double>(sizes[i]));
    const double rise = std::log(leads[i]) - low;
    const double part = -low / rise;
    const double rows = std::exp(from + part * (to - from));
    // The derivatives of `part` in the two logarithms are those of the zero of a straight line.
    const double error = std::hypot((1 - part) * errors[i - 1], part * errors[i]) / rise;
    return {rows, "between two sizes", rows * (to - from) * error};
  }
  return {.words = "at no size"};
}

ordered_json run_served(const Dataset& data, const ordered_json& truth, std::uint64_t seed) {
  const double begin = thread_seconds();
  EngineRun engine(engine_config("calibrated", seed), data);
  double looking = 0;
  double since = NAN;  // since when the bars have been met
  Bias off;
  bool warming_up = true;
  std::vector<ParameterSummary> parameters(kCrossoverFeatures);
  for (;;) {
    engine.engine().poll(1);
    const double now = thread_seconds();
    const double spent = now - begin - looking;
    if (spent > kWatchedSeconds) {
      return {
          {"seconds", since}, {"mean", off.mean}, {"ratio", off.ratio}, {"warming_up", warming_up}};
    }
    Provenance provenance;
    const Status status = engine.reader().posterior(parameters, provenance);
    std::vector<double> mean;
    std::vector<double> sd;
    for (const ParameterSummary& p : parameters) {
      mean.push_back(p.mean);
      sd.push_back(p.sd);
    }
    off = bias(mean, sd, truth);
    warming_up = !ok(status) || provenance.status == PosteriorStatus::kWarmingUp;
    const bool near = !warming_up && off.mean <= kMeanBar && std::abs(off.ratio - 1) <= kSpreadBar;
    if (!near) since = NAN;
    if (near && std::isnan(since)) since = spent;
    looking += thread_seconds() - now;
  }
}

ordered_json run_printed(bool momentum, const Dataset& data, std::size_t steps,
                         std::uint64_t seed) {
  ModelConfig config{
      .name = "logistic", .features = kCrossoverFeatures, .intercept = false, .prior_precision = 1};
  const double begin = thread_seconds();
  OwnedModel model(config, data);
  constexpr double kStep = 1e-3;
  constexpr double kFriction = 0.1;
  const auto n = static_cast<double>(data.rows());
  std::vector<std::uint32_t> slots(32);
  std::vector<double> theta(kCrossoverFeatures);
  std::vector<double> velocity(kCrossoverFeatures);
  std::vector<double> g(kCrossoverFeatures);
  std::vector<double> z(kCrossoverFeatures);
  Draws kept(1);
  for (std::size_t step = 0; step < steps; ++step) {
    model.draw(seed, {.step = step, .purpose = Purpose::kMinibatch}, slots);
    model.gradient()(theta.data(), g.data());
    fill_normals(seed, {.step = step, .purpose = Purpose::kInjectedNoise}, z);
    for (std::size_t j = 0; j < kCrossoverFeatures; ++j) {
      if (momentum) {
        velocity[j] += -kStep * kFriction * velocity[j] - kStep * n * g[j] +
                       std::sqrt(2 * kStep * kFriction) * z[j];
        theta[j] += kStep * velocity[j];
      } else {
        theta[j] += -kStep * n * g[j] + std::sqrt(2 * kStep) * z[j];
      }
    }
    if (step >= steps / 5 && step % 4 == 0) kept[0].push_back(theta);
  }
  ordered_json result = to_json(kept, 0, 0.8 * (thread_seconds() - begin));
  const double gradients = 0.8 * static_cast<double>(steps);
  result["gradients"] = gradients;
  result["rows"] = gradients * static_cast<double>(slots.size());
  return result;
}

}  // namespace windhover::reproduce
