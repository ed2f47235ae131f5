// Rounds of a whole engine: beside a stream, over rows that stay the same, and on two threads; and
// predictions in process.
#include "windhover/platform/cpu.h"
#include "windhover/platform/random.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

// A round is sixteen moves, the sweep for C and A, the tail, refreshes and retained draws. In a
// stream it also takes in as many rows as make R = 4, K R = 64. Over rows that stay the same the
// sweep has become rare, as it does when a few passes have shown nothing new.
void rounds(Runs& runs, std::uint32_t dimension, const char* model, bool streamed,
            std::uint64_t window) {
  const LearningConfig config{.model = model,
                              .dimension = dimension,
                              .minibatch_size = kStepMinibatch,
                              .rows = window,
                              .draws_per_observation = streamed ? kDrawsPerObservation : 0};
  LearningEngine learning(config);
  const double gemv = gemv_seconds(kStepMinibatch, dimension, runs.budget());
  const std::uint32_t rows = streamed ? kRowsARound : 0;
  for (int i = 0; i < (streamed ? 1 : 3); ++i) {
    (void)run_rounds(learning, rows, runs.budget() / (streamed ? 1 : 4));
  }
  runs.add(fmt::format("round {} {} {} D={} S={} N={}", streamed ? "in a stream" : "of quiet rows",
                       model, config.sampler, dimension, kStepMinibatch, window),
           [&] {
             const Work w = run_rounds(learning, rows, 2 * runs.budget());
             Figures figures{};
             if (streamed) {
               const double r = draws_per_observation(learning, w);
               figures.add("rows_per_round", w.rows / w.rounds);
               figures.add("draws_per_observation", r);
               figures.add("chains_times_draws", learning.engine().config().sampler.chains * r);
             }
             figures.add("us_per_round", 1e6 * w.seconds / w.rounds);
             figures.add("examples_per_second", w.examples / w.seconds);
             figures.add("passes", w.passes);
             figures.add("refreshes", w.refreshes);
             figures.add("window_mib", window_mib(learning));
             figures.add("of_gemv", gemv / kStepMinibatch * w.examples / w.seconds);
             return figures;
           });
}

// A thread that helps an engine while told to, and sleeps otherwise.
class Helper {
 public:
  explicit Helper(Engine& engine) : engine_(engine), thread_([this] { help(); }) {}
  ~Helper() {
    tell(kEnd);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void begin() { tell(kHelp); }
  void end() { tell(kSleep); }

 private:
  enum Order : std::uint8_t { kSleep, kHelp, kEnd };

  void tell(Order order) {
    order_.store(order);
    order_.notify_one();
  }
  void help() {
    for (Order order = kSleep; order != kEnd; order = order_.load(std::memory_order_acquire)) {
      if (order == kSleep) {
        order_.wait(kSleep);
      } else if (engine_.assist(1) == 0) {
        pause_processor();
      }
    }
  }

  Engine& engine_;
  std::atomic<Order> order_{kSleep};
  std::thread thread_;
};

// Steps a second of all chains together, by the wall clock.
double steps_per_second(LearningEngine& learning, double seconds) {
  const double start = wall_seconds();
  const std::uint64_t before = learning.steps();
  while (wall_seconds() - start < seconds) learning.engine().poll(16);
  return static_cast<double>(learning.steps() - before) / (wall_seconds() - start);
}

// Rounds shared between two threads against an engine with one thread, in turns, so that other work
// on the machine affects both alike.
void threads(Runs& runs, std::uint32_t dimension) {
  constexpr std::uint64_t kWindow = 100'000;
  LearningConfig config{.model = "logistic",
                        .dimension = dimension,
                        .minibatch_size = kStepMinibatch,
                        .rows = kWindow};
  LearningEngine alone(config);
  config.threads = 2;
  LearningEngine helped(config);
  Helper helper(helped.engine());
  runs.add(fmt::format("threads logistic calibrated D={} S={}", dimension, kStepMinibatch), [&] {
    std::array<double, 5> ratios{};
    double one = 0;
    double two = 0;
    for (double& ratio : ratios) {
      const double before = steps_per_second(alone, runs.budget());
      helper.begin();
      const double with_help = steps_per_second(helped, runs.budget());
      helper.end();
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

}  // namespace

void add_rounds(Runs& runs, std::uint32_t dimension) {
  const std::uint64_t window = window_rows(dimension);
  rounds(runs, dimension, "linear", true, window);
  rounds(runs, dimension, "logistic", true, window);
  rounds(runs, dimension, "linear", true, LearningEngine::kRows);
  rounds(runs, dimension, "linear", false, LearningEngine::kRows);
  rounds(runs, dimension, "logistic", false, LearningEngine::kRows);
  threads(runs, dimension);
}

namespace {

// A request of dense rows reads the draws and the lower triangle of the inverse factor of A at
// least once for all of its rows, from the cache that holds them, and multiplies each row with
// both: the roofline is the slower of the two at the machine's best. Every request has other rows.
// Returns the seconds for one row of a request.
double predict(Runs& runs, LearningEngine& learning, const char* model, std::size_t rows,
               double single, const ComputeLimits& limits) {
  const std::uint32_t dimension = learning.engine().dimension();
  Reader reader = learning.engine().reader().value();
  const std::size_t requests = std::max<std::size_t>(4, 64 / rows);
  const std::size_t numbers_asked = rows * (dimension - 1);
  std::vector<double> x(requests * numbers_asked);
  fill_normals(1, {rows}, x);
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  PredictRequest request;
  request.rows = rows;
  request.thompson_id = 1;  // reads all draws
  std::size_t next = 0;
  const auto ask = [&] {
    request.features = std::span(x).subspan(next * numbers_asked, numbers_asked);
    next = next + 1 == requests ? 0 : next + 1;
    (void)reader.predict(request, summaries, provenance);
  };
  double seconds = 0;
  Histogram latency;
  runs.add(fmt::format("predict {} D={} rows={}", model, dimension, rows), [&] {
    seconds = fastest(runs.budget(), ask);
    for (const double end = thread_seconds() + runs.budget(); thread_seconds() < end;) {
      for (int i = 0; i < 64; ++i) record(latency, ask);
    }
    const double a_row = seconds / static_cast<double>(rows);
    const double numbers = dimension * (provenance.draws + 0.5 * (dimension + 1));
    const double by_bytes = 8 * numbers / limits.bytes_per_second(8 * numbers);
    const double by_flops = 2 * numbers * static_cast<double>(rows) / limits.flops_double;
    return Figures{{"us", 1e6 * seconds},
                   {"us_per_row", 1e6 * a_row},
                   {"rate_over_single", single > 0 ? single / a_row : 1.0},
                   {"draws", static_cast<double>(provenance.draws)},
                   {"bytes_read", 8 * numbers},
                   {"by_bytes_us", 1e6 * by_bytes},
                   {"by_flops_us", 1e6 * by_flops},
                   {"clocks_in_its_time", 1e9 * seconds / limits.clock_ns},
                   {"of_roofline", std::max(by_bytes, by_flops) / seconds}};
  });
  runs.last()["latency"] = percentiles(latency);
  return seconds / static_cast<double>(rows);
}

}  // namespace

void add_predictions(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits) {
  for (const char* model : {"linear", "logistic"}) {
    LearningEngine learning({.model = model, .dimension = dimension, .minibatch_size = 64});
    const double single = predict(runs, learning, model, 1, 0, limits);
    predict(runs, learning, model, 256, single, limits);
  }
}

}  // namespace windhover
