// What takes a whole engine: its rounds, on one thread and on two, and predictions of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

// Whole rounds: sixteen moves, the sweep for C and A, the tail, refreshes and retained draws.
void rounds(Runs& runs, std::uint32_t dimension, const char* model, const char* sampler) {
  LearningEngine learning(model, sampler, dimension, kStepMinibatch);
  const double gemv = gemv_seconds(kStepMinibatch, dimension, runs.budget());
  runs.add(fmt::format("round {} {} D={} S={}", model, sampler, dimension, kStepMinibatch), [&] {
    const std::uint64_t before = learning.examples();
    const double start = thread_seconds();
    (void)average(2 * runs.budget(), [&] { learning.engine().poll(1); });
    const double took = thread_seconds() - start;
    const double examples = static_cast<double>(learning.examples() - before);
    return Figures{{"examples_per_second", examples / took},
                   {"of_gemv", gemv / kStepMinibatch * examples / took}};
  });
}

// A thread that helps an engine while it is told to, and sleeps otherwise.
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

// Steps a second of the clock, all chains together.
double steps_per_second(LearningEngine& learning, double seconds) {
  const double start = wall_seconds();
  const std::uint64_t before = learning.steps();
  while (wall_seconds() - start < seconds) learning.engine().poll(16);
  return static_cast<double>(learning.steps() - before) / (wall_seconds() - start);
}

// Rounds shared out between two threads against an engine of one, alone in the process, in turns,
// so that what else the machine does weighs on both alike.
void threads(Runs& runs, std::uint32_t dimension) {
  constexpr std::uint64_t kWindow = 100'000;
  LearningEngine alone("logistic", "calibrated", dimension, kStepMinibatch, kWindow, 1);
  LearningEngine helped("logistic", "calibrated", dimension, kStepMinibatch, kWindow, 2);
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

// A request of dense rows reads the draws and the lower triangle of the inverse factor of A, at
// least once for all of its rows, and each row is multiplied with both: the roofline is the slower
// of the two at the machine's best. Returns the seconds a row of a request.
double predict(Runs& runs, LearningEngine& learning, const char* model, std::size_t rows,
               double single, const ComputeLimits& limits) {
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
    const double numbers = dimension * (provenance.draws + 0.5 * (dimension + 1));
    const double by_bytes = 8 * numbers / limits.l2_bytes;
    const double by_flops = 2 * numbers * static_cast<double>(rows) / limits.flops_double;
    return Figures{{"us", 1e6 * seconds},
                   {"us_per_row", 1e6 * a_row},
                   {"rate_over_single", single > 0 ? single / a_row : 1.0},
                   {"draws", static_cast<double>(provenance.draws)},
                   {"bytes_read", 8 * numbers},
                   {"of_roofline", std::max(by_bytes, by_flops) / seconds}};
  });
  runs.last()["latency"] = percentiles(latency);
  return seconds / static_cast<double>(rows);
}

}  // namespace

void add_rounds(Runs& runs, std::uint32_t dimension) {
  rounds(runs, dimension, "linear", "calibrated");
  rounds(runs, dimension, "linear", "sgd-f");
  rounds(runs, dimension, "logistic", "calibrated");
  threads(runs, dimension);
}

void add_predictions(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits) {
  for (const char* model : {"linear", "logistic"}) {
    LearningEngine learning(model, "calibrated", dimension, 64);
    const double single = predict(runs, learning, model, 1, 0, limits);
    predict(runs, learning, model, 256, single, limits);
  }
}

}  // namespace windhover
