// One core, no sockets: gradients against the roofline, moves of a chain, preconditioners against
// gemv, whole rounds of the engine, normals, predictions in process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <thread>
#include <utility>

#include "windhover/platform/cpu.h"
#include "windhover/platform/histogram.h"
#include "windhover/platform/random.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {

namespace {

constexpr std::uint32_t kMinibatch = 100;

// A few named numbers, without the heap: what is being measured shall not count what reports it.
struct Figures {
  Figures(std::initializer_list<std::pair<const char*, double>> list) {
    for (const auto& figure : list) figures[count++] = figure;
  }
  std::array<std::pair<const char*, double>, 12> figures;
  std::size_t count = 0;
};

// Adds runs, each with what the process did in its time.
class Runs {
 public:
  explicit Runs(double budget) : budget_(budget) {}

  template <class Measure>
  void add(std::string name, Measure&& measure) {
    const ProcessSpan span;
    const Figures measured = measure();
    Json process = span.figures();
    Json run = {{"name", std::move(name)}};
    for (std::size_t i = 0; i < measured.count; ++i) {
      run[measured.figures[i].first] = measured.figures[i].second;
    }
    run.update(process);
    runs_.push_back(std::move(run));
  }
  Json& last() { return runs_.back(); }
  double budget() const { return budget_; }
  Json take() { return std::move(runs_); }

 private:
  double budget_;
  Json runs_ = Json::array();
};

// The gradient reads each row once (8 bytes times the row's stride) and does a multiplication and
// an addition with each feature twice: the roofline is the slower of the two at the machine's best.
void gradients(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits) {
  for (const bool in_cache : {true, false}) {
    const std::size_t row = 8 * ((dimension + 3) / 4 * 4);
    const std::size_t window = in_cache ? std::size_t{256} << 10 : std::size_t{128} << 20;
    SamplerRig rig({.dimension = dimension,
                    .minibatch_size = kMinibatch,
                    .rows = std::max<std::uint64_t>(16, window / row)});
    const double gemv = 2 * gemv_seconds(kMinibatch, dimension, runs.budget());
    runs.add(fmt::format("gradient D={} {}", dimension, in_cache ? "L2" : "DRAM"), [&] {
      const double seconds = fastest(runs.budget(), [&] { rig.gradient(); }) / kMinibatch;
      const double flops = 4.0 * dimension;
      const double bytes = static_cast<double>(rig.bytes_per_row());
      const double by_flops = flops / limits.flops_double;
      const double by_bytes = bytes / (in_cache ? limits.l2_bytes : limits.dram_bytes);
      return Figures{{"ns_per_example", 1e9 * seconds},
                     {"examples_per_second", 1 / seconds},
                     {"flops_per_example", flops},
                     {"bytes_per_example", bytes},
                     {"gflops", flops / seconds / 1e9},
                     {"gb_per_second", bytes / seconds / 1e9},
                     {"of_roofline", std::max(by_flops, by_bytes) / seconds},
                     {"of_two_gemv", gemv / kMinibatch / seconds}};
    });
  }
}

void moves(Runs& runs, std::uint32_t dimension, const char* sampler) {
  SamplerRig rig({.sampler = sampler, .dimension = dimension, .minibatch_size = kMinibatch});
  runs.add(fmt::format("move {} D={} S={}", sampler, dimension, kMinibatch), [&] {
    const double seconds = fastest(runs.budget(), [&] { rig.move(); });
    const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
    return Figures{{"us_per_move", 1e6 * seconds},
                   {"examples_per_second", kMinibatch / seconds},
                   {"gradient_us", 1e6 * gradient},
                   {"gradient_share", gradient / seconds}};
  });
}

// The longest time that a computation goes on without an interlude.
struct Pieces {
  double start = thread_seconds();
  double longest = 0;

  static void end(void* pieces) noexcept {
    Pieces& p = *static_cast<Pieces*>(pieces);
    const double now = thread_seconds();
    p.longest = std::max(p.longest, now - p.start);
    p.start = now;
  }
};

// Beside the gradient: D normals, and one triangular matrix D x D twice. Amortised: over n / S
// moves of each of the rig's chains, in which each draws as many rows as the posterior stands on.
void full_preconditioner(Runs& runs, std::uint32_t dimension) {
  SamplerRig rig({.sampler = "sgfs-f", .dimension = dimension, .minibatch_size = kMinibatch});
  const double gemv = gemv_seconds(dimension, dimension, runs.budget());
  runs.add(fmt::format("sgfs-f D={} S={}", dimension, kMinibatch), [&] {
    const double step = fastest(runs.budget(), [&] { rig.move(); });
    const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
    const double start = thread_seconds();
    rig.refresh();
    const double refresh = thread_seconds() - start;
    Pieces pieces;
    Interlude interlude(Pieces::end, &pieces);
    rig.refresh(&interlude);
    Pieces::end(&pieces);
    const double moves_a_refresh = RigConfig{}.n / kMinibatch * SamplerRig::kChains;
    const double rest = step - gradient;
    return Figures{{"step_us", 1e6 * step},
                   {"gradient_us", 1e6 * gradient},
                   {"refresh_ms", 1e3 * refresh},
                   {"longest_piece_ms", 1e3 * pieces.longest},
                   {"gemv_us", 1e6 * gemv},
                   {"without_gradient_in_gemv", rest / gemv},
                   {"amortised_in_gemv", (rest + refresh / moves_a_refresh) / gemv},
                   {"with_gradient_in_gemv", (step + refresh / moves_a_refresh) / gemv}};
  });
}

void low_rank(Runs& runs, std::uint32_t dimension) {
  SamplerRig rig({.sampler = "sgfs-lr",
                  .dimension = dimension,
                  .minibatch_size = kMinibatch,
                  .rows = 2000,
                  .rank = 16});
  runs.add(fmt::format("sgfs-lr D={} r=16 S={}", dimension, kMinibatch), [&] {
    const double step = fastest(runs.budget(), [&] { rig.move(); });
    const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
    return Figures{{"step_us", 1e6 * step},
                   {"gradient_us", 1e6 * gradient},
                   {"step_in_gradients", step / gradient}};
  });
}

// Whole rounds: sixteen moves, the sweep for C and A, the tail, refreshes and retained draws.
void rounds(Runs& runs, std::uint32_t dimension, const char* model, const char* sampler) {
  LearningEngine learning(model, sampler, dimension, kMinibatch);
  const double gemv = gemv_seconds(kMinibatch, dimension, runs.budget());
  runs.add(fmt::format("round {} {} D={} S={}", model, sampler, dimension, kMinibatch), [&] {
    const std::uint64_t before = learning.examples();
    const double start = thread_seconds();
    (void)average(2 * runs.budget(), [&] { learning.engine().poll(1); });
    const double took = thread_seconds() - start;
    const double examples = static_cast<double>(learning.examples() - before);
    return Figures{{"examples_per_second", examples / took},
                   {"of_gemv", gemv / kMinibatch * examples / took}};
  });
}

// A thread that helps whichever engine it is given, from construction to destruction.
class Helper {
 public:
  Helper() : thread_([this] { help(); }) {}
  ~Helper() {
    running_.store(false);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void set_engine(Engine* engine) { engine_.store(engine); }

 private:
  void help() {
    while (running_.load(std::memory_order_relaxed)) {
      Engine* engine = engine_.load(std::memory_order_acquire);
      if (engine == nullptr || engine->assist(1) == 0) pause_processor();
    }
  }

  std::atomic<bool> running_{true};
  std::atomic<Engine*> engine_{nullptr};
  std::thread thread_;
};

// Steps a second of the clock, all chains together.
double steps_per_second(LearningEngine& learning, double seconds) {
  const double start = wall_seconds();
  const std::uint64_t before = learning.steps();
  while (wall_seconds() - start < seconds) learning.engine().poll(16);
  return static_cast<double>(learning.steps() - before) / (wall_seconds() - start);
}

// Rounds shared out between two threads against one, in turns, so that what else the machine does
// weighs on both alike.
void threads(Runs& runs, std::uint32_t dimension) {
  constexpr std::uint64_t kWindow = 100'000;
  LearningEngine alone("logistic", "calibrated", dimension, kMinibatch, kWindow, 1);
  LearningEngine helped("logistic", "calibrated", dimension, kMinibatch, kWindow, 2);
  Helper helper;
  runs.add(fmt::format("threads logistic calibrated D={} S={}", dimension, kMinibatch), [&] {
    std::array<double, 9> ratios{};
    double one = 0;
    double two = 0;
    for (double& ratio : ratios) {
      const double before = steps_per_second(alone, runs.budget());
      helper.set_engine(&helped.engine());
      const double with_help = steps_per_second(helped, runs.budget());
      helper.set_engine(nullptr);
      ratio = with_help / before;
      one = std::max(one, before);
      two = std::max(two, with_help);
    }
    std::ranges::sort(ratios);
    return Figures{{"steps_per_second_1", one},
                   {"steps_per_second_2", two},
                   {"ratio", ratios[ratios.size() / 2]},
                   {"ratio_least", ratios.front()},
                   {"ratio_most", ratios.back()}};
  });
}

void normals(Runs& runs) {
  std::vector<double> values(4096);
  const InstructionSet best = instruction_set();
  for (const InstructionSet set : {best, InstructionSet::kBaseline}) {
    limit_instruction_set(set);
    for (const std::size_t count : {std::size_t{12}, values.size()}) {
      std::uint64_t round = 0;
      runs.add(fmt::format("normals {} {}", to_string(set), count), [&] {
        const double seconds = fastest(runs.budget(), [&] {
          fill_normals(1, {round++, 0, Purpose::kInjectedNoise}, {values.data(), count});
        });
        return Figures{{"per_second", static_cast<double>(count) / seconds}};
      });
    }
  }
  limit_instruction_set(best);
}

// Seconds a row of a request.
double predict(Runs& runs, LearningEngine& learning, const char* model, std::size_t rows,
               double single) {
  const std::uint32_t dimension = learning.engine().dimension();
  Reader reader = learning.engine().reader().value();
  const std::vector<double> x(rows * (dimension - 1), 0.1);
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  request.thompson_id = 1;  // reads all draws
  double seconds = 0;
  RealClock clock;
  Histogram latency;
  runs.add(fmt::format("predict {} D={} rows={}", model, dimension, rows), [&] {
    seconds = fastest(runs.budget(), [&] { (void)reader.predict(request, summaries, provenance); });
    for (const double end = thread_seconds() + runs.budget(); thread_seconds() < end;) {
      for (int i = 0; i < 64; ++i) {
        const std::int64_t start = clock.now_ns();
        (void)reader.predict(request, summaries, provenance);
        latency.record(clock.now_ns() - start);
      }
    }
    const double a_row = seconds / static_cast<double>(rows);
    return Figures{{"us", 1e6 * seconds},
                   {"us_per_row", 1e6 * a_row},
                   {"rate_over_single", single > 0 ? single / a_row : 1.0},
                   {"draws", static_cast<double>(provenance.draws)}};
  });
  runs.last()["latency"] = percentiles(latency);
  return seconds / static_cast<double>(rows);
}

void predictions(Runs& runs, std::uint32_t dimension) {
  for (const char* model : {"linear", "logistic"}) {
    LearningEngine learning(model, "calibrated", dimension, 64);
    const double single = predict(runs, learning, model, 1, 0);
    predict(runs, learning, model, 256, single);
  }
}

}  // namespace

Json run_step(const BenchOptions& options) {
  Runs runs(options.seconds > 0 ? options.seconds : 0.2);
  const ComputeLimits limits = measure_compute();
  Json json_limits = to_json(limits);
  const auto dimensions = list_or(options.dimensions, {10, 12, 100, 1000});
  for (const auto d : dimensions) (void)served_config(options, d);  // refuses what cannot be
  for (const auto d : dimensions) {
    json_limits[fmt::format("gemv_{}x{}_us", kMinibatch, d)] =
        1e6 * gemv_seconds(kMinibatch, d, runs.budget());
    json_limits[fmt::format("syrk_{}x{}_us", kMinibatch, d)] =
        1e6 * syrk_seconds(kMinibatch, d, runs.budget());
  }
  for (const auto d : dimensions) gradients(runs, d, limits);
  for (const auto d : dimensions) {
    for (const char* sampler : {"calibrated", "sgd-f"}) moves(runs, d, sampler);
  }
  for (const auto d : dimensions) {
    if (d > 200) continue;  // a cold start takes too long
    rounds(runs, d, "linear", "calibrated");
    rounds(runs, d, "linear", "sgd-f");
    rounds(runs, d, "logistic", "calibrated");
    threads(runs, d);
  }
  const bool all = options.dimensions.empty();
  for (const auto d : list_or(options.dimensions, {500, 1000})) full_preconditioner(runs, d);
  for (const auto d : list_or(options.dimensions, {2000})) low_rank(runs, d);
  if (all) normals(runs);
  for (const auto d : list_or(options.dimensions, {10, 100})) {
    if (d <= 200) predictions(runs, d);
  }
  return {{"limits", std::move(json_limits)}, {"runs", runs.take()}};
}

}  // namespace windhover
