// How the cost of an observation grows: with the length of the stream, and with D under a diagonal
// and a full preconditioner, in a whole engine and for a move of a chain alone. And how long the
// start takes.
//
// The limits are the machine's gemv and syrk at the shape: for each observation each of K chains
// draws R rows, two gemv with a row, and multiplies its gradient with the preconditioner; and each
// observation is summed once for A, which is D x D whatever the sampler, and with full noise for C.
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/owned_engine.h"

namespace windhover {

namespace {

constexpr std::uint32_t kMinibatch = 100;
constexpr std::uint32_t kGrowthFrame = 256;
constexpr std::uint32_t kGrowthRound = 64;
constexpr std::uint32_t kStreamMinibatch = 4 * kGrowthRound;  // R = 4
constexpr std::uint32_t kStreamDimension = 10;

// An engine that observes and learns in turns on this thread.
struct FedEngine {
  FedEngine(const EngineConfig& config, std::uint32_t count)
      : engine(config), rows(config.model, count, 1.0) {}

  void observe() {
    if (rows.feed(*engine, kGrowthRound) == kGrowthRound) return;
    throw RunError("observations were not taken");
  }
  void round() {
    observe();
    (void)engine->poll(1);
  }
  std::uint64_t seen() const { return rows.accepted(); }
  std::uint64_t count(RuntimeCounter counter) const { return engine.count(counter); }

  OwnedEngine engine;
  MicroRows rows;
};

EngineConfig logistic(std::uint32_t dimension, const BenchOptions& options) {
  EngineConfig config = served_config(options, dimension);
  config.model.name = "logistic";
  config.model.noise_variance = 0;
  return config;
}

// The least seconds for an observation, by the limits above.
double limit_seconds(const EngineConfig& config, std::uint32_t dimension) {
  constexpr double kBudget = 0.05;
  const bool full = config.sampler.noise_structure == NoiseStructure::kFull;
  const double rows = kStreamMinibatch;
  const double gemv = gemv_seconds(kStreamMinibatch, dimension, kBudget);
  const double square = full ? gemv_seconds(dimension, dimension, kBudget) : 0;
  const double syrk = syrk_seconds(kStreamMinibatch, dimension, kBudget);
  const double drawn = config.sampler.chains * config.draws_per_observation;
  return (drawn * (2 * gemv + square) + (full ? 2 : 1) * syrk) / rows;
}

// Observes and learns in turns on this thread. Each round gets as many rows as it can learn from at
// R = 4, as beside a stream that keeps the learner busy: a learner that rests in between makes more
// passes over the window, and one that a burst has overtaken makes draws anew. One run for each
// stretch of the stream.
void stream(Runs& runs, const BenchOptions& options) {
  const EngineConfig config = logistic(kStreamDimension, options);
  FedEngine fed(config, 512 * kGrowthFrame);
  const double first = std::min(1e6, options.observations);
  const double limit = limit_seconds(config, kStreamDimension);
  const int marks = 1 + static_cast<int>(2.001 * std::log10(options.observations / first));
  for (int k = 0; k < marks; ++k) {
    const double mark = first * std::pow(10.0, 0.5 * k);
    const auto end = static_cast<std::uint64_t>(mark) / kGrowthRound * kGrowthRound;
    const std::uint64_t begin = fed.seen();
    const std::uint64_t examples = fed.count(RuntimeCounter::kExamples);
    runs.add(fmt::format("stream D=10 to {:.2g} observations", mark), [&] {
      const double start = thread_seconds();
      while (fed.seen() < end) fed.round();
      const double took = thread_seconds() - start;
      const auto rows = static_cast<double>(end - begin);
      const auto drawn = static_cast<double>(fed.count(RuntimeCounter::kExamples) - examples);
      return Figures{{"ns_per_observation", 1e9 * took / rows},
                     {"draws_per_observation", drawn / rows / config.sampler.chains},
                     {"observations", static_cast<double>(end)},
                     {"of_gemv_and_syrk", limit * rows / took}};
    });
  }
}

// The same at several D: an engine past its cold start, for some time, two passes where that is not
// too long. S is the same everywhere. Each figure stands beside the power of D that leads to it
// from the previous one. `diagonal` has diagonal gradient noise and steps; its curvature is a
// matrix all the same.
void engines(Runs& runs, const BenchOptions& options, const char* label, const char* sampler,
             NoiseStructure structure) {
  const double budget = options.seconds > 0 ? options.seconds : 0.4;
  double before = 0;
  std::uint32_t dimension_before = 0;
  for (const std::uint32_t dimension : list_or(options.dimensions, {10, 30, 100, 300})) {
    EngineConfig config = logistic(dimension, options);
    config.sampler.name = sampler;
    config.sampler.noise_structure = structure;
    config.sampler.minibatch_size = kStreamMinibatch;
    config.window_slack = std::max(config.window_size, config.window_slack);
    const double limit = limit_seconds(config, dimension);
    FedEngine fed(config, 64 * kGrowthRound);
    // Observes most of the window at once, the rest between rounds.
    while (4 * fed.seen() < 3 * config.window_size) fed.observe();
    while (fed.seen() < config.window_size ||
           fed.engine->learner().view().phase != Learner::Phase::kSampling) {
      fed.round();
    }
    const std::uint64_t examples = fed.count(RuntimeCounter::kExamples);
    const std::uint64_t passes = fed.count(RuntimeCounter::kPasses);
    const std::uint64_t begin = fed.seen();
    runs.add(fmt::format("engine {} D={} S={}", label, dimension, kStreamMinibatch), [&] {
      const double start = thread_seconds();
      double took = 0;
      do {
        for (int i = 0; i < 8; ++i) fed.round();
        took = thread_seconds() - start;
      } while (took < budget ||
               (fed.count(RuntimeCounter::kPasses) < passes + 2 && took < 4 * budget));
      const auto observations = static_cast<double>(fed.seen() - begin);
      const auto drawn = static_cast<double>(fed.count(RuntimeCounter::kExamples) - examples);
      const double cost = took / observations;
      const double power = std::log(cost / before) / std::log(1.0 * dimension / dimension_before);
      before = cost;
      return Figures{{"dimension", dimension},
                     {"us_per_observation", 1e6 * cost},
                     {"grows_as_power_of_D", dimension_before > 0 ? power : NAN},
                     {"draws_per_observation", drawn / observations / config.sampler.chains},
                     {"passes", static_cast<double>(fed.count(RuntimeCounter::kPasses) - passes)},
                     {"window_rows", static_cast<double>(config.window_size)},
                     {"of_gemv_and_syrk", limit / cost}};
    });
    dimension_before = dimension;
  }
}

// A move of one chain, and its cost beside the gradient. The rig has D x D estimates for every
// sampler, as an engine has: resident_bytes grows as D^2 where the cost of a move does not.
void dimensions(Runs& runs, const BenchOptions& options, const char* sampler, bool full,
                const std::vector<std::uint32_t>& all) {
  const double budget = options.seconds > 0 ? options.seconds : 0.2;
  for (const std::uint32_t dimension : list_or(options.dimensions, all)) {
    const std::uint64_t rows = std::min<std::uint64_t>(4898, (32 << 20) / dimension);
    SamplerRig rig(
        {.sampler = sampler, .dimension = dimension, .minibatch_size = kMinibatch, .rows = rows});
    double limit = 2 * gemv_seconds(kMinibatch, dimension, budget / 2);
    if (full) limit += gemv_seconds(dimension, dimension, budget / 2);
    runs.add(fmt::format("move {} D={} S={}", sampler, dimension, kMinibatch), [&] {
      const double move = fastest(budget, [&] { rig.move(); });
      const double gradient = fastest(budget, [&] { rig.gradient(); });
      return Figures{{"dimension", dimension},
                     {"move_us", 1e6 * move},
                     {"gradient_us", 1e6 * gradient},
                     {"beside_gradient_us", 1e6 * (move - gradient)},
                     {"window_rows", static_cast<double>(rows)},
                     {"of_gemv", limit / move}};
    });
  }
}

// Seconds from the last row to an answer that includes it, and to one whose draws are enough to be
// judged. The rows come as fast as they are taken. The learner begins with the first of them, and
// so do the figures of the process.
void start_up(Runs& runs, const std::string& name, const EngineConfig& config, MicroRows& rows) {
  const OwnedEngine engine(config);
  prefault(engine.memory());
  LearnerThread learner;
  start_learner(learner, *engine);
  Reader reader = engine->reader().value();
  const std::vector<double> x(config.model.features, 0.1);
  runs.add(name, [&] {
    while (engine->head() < rows.size()) {
      if (rows.feed(*engine, kGrowthFrame) == 0) std::this_thread::yield();
    }
    const double last_row = wall_seconds();
    PredictRequest request;
    request.rows = 1;
    request.features = x;
    std::array<PredictiveSummary, 1> summary;
    Provenance provenance;
    double first_answer = 0;
    double draws = 0;
    do {
      sleep_for(1e-4);
      require(reader.predict(request, summary, provenance), "predicting");
      const double now = wall_seconds() - last_row;
      if (first_answer == 0 && provenance.sequence >= rows.size()) first_answer = now;
      draws = now;
    } while (first_answer == 0 || provenance.reason == StatusReason::kFewDraws);
    return Figures{{"seconds_to_first_answer", first_answer}, {"seconds_to_draws", draws}};
  });
}

void starts(Runs& runs, const BenchOptions& options) {
  constexpr std::uint32_t kRows = 100'000;
  for (const std::uint32_t dimension : list_or(options.dimensions, {100})) {
    MicroRows rows(logistic(dimension, options).model, kRows, 1.0);
    for (const std::uint32_t threads : {1U, 2U}) {
      EngineConfig config = logistic(dimension, options);
      config.learner_threads = threads;
      start_up(runs, fmt::format("start logistic D={} N={} threads={}", dimension, kRows, threads),
               config, rows);
    }
  }
}

}  // namespace

Json run_growth(const BenchOptions& options) {
  Runs runs;
  starts(runs, options);
  stream(runs, options);
  engines(runs, options, "diagonal", "sgd-d", NoiseStructure::kDiagonal);
  engines(runs, options, "full", "calibrated", NoiseStructure::kFull);
  dimensions(runs, options, "sgd-d", false, {10, 30, 100, 300, 1000, 3000, 10'000});
  dimensions(runs, options, "calibrated", true, {10, 30, 100, 300, 1000, 3000});
  return {{"limits", Json::object()}, {"runs", runs.take()}};
}

}  // namespace windhover
