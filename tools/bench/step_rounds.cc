// Rounds of a whole engine: beside a stream, over rows that stay the same, on one thread and on
// two.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

constexpr double kMiB = 1 << 20;
constexpr double kDrawsPerObservation = 4;
constexpr std::uint64_t kRowsARound = kStepMinibatch / 4;  // R = S / rows

// What an engine has done in some time of the calling thread.
struct Work {
  double seconds = 0;
  double rounds = 0;
  double rows = 0;
  double steps = 0;
  double examples = 0;
  double passes = 0;
  double refreshes = 0;
};

// Rounds, with so many rows taken in before each, for `seconds` of this thread's time and until two
// passes over the window have ended, but no longer than ten times that.
template <class Around>
Work run_rounds(LearningEngine& learning, std::uint64_t rows, double seconds, Around&& round) {
  const auto now = [&] {
    return Work{.seconds = thread_seconds(),
                .rows = static_cast<double>(learning.engine().head()),
                .steps = static_cast<double>(learning.steps()),
                .examples = static_cast<double>(learning.examples()),
                .passes = static_cast<double>(learning.count(RuntimeCounter::kPasses)),
                .refreshes = static_cast<double>(learning.count(RuntimeCounter::kRefreshes))};
  };
  const Work before = now();
  Work done;
  double rounds = 0;
  do {
    for (int i = 0; i < 8; ++i) {
      if (rows > 0) (void)learning.stream(rows);
      round();
    }
    rounds += 8;
    const Work after = now();
    done = {after.seconds - before.seconds,    rounds,
            after.rows - before.rows,          after.steps - before.steps,
            after.examples - before.examples,  after.passes - before.passes,
            after.refreshes - before.refreshes};
  } while (done.seconds < seconds || (done.passes < 2 && done.seconds < 10 * seconds));
  return done;
}

Work run_rounds(LearningEngine& learning, std::uint64_t rows, double seconds) {
  return run_rounds(learning, rows, seconds, [&] { learning.engine().poll(1); });
}

double window_mib(const LearningEngine& learning) {
  return static_cast<double>(learning.window_bytes()) / kMiB;
}

double draws_per_observation(LearningEngine& learning, const Work& work) {
  return work.examples / work.rows / learning.engine().config().sampler.chains;
}

// Sixteen moves, the sweep for C and A, the tail, refreshes and retained draws, and the taking in
// of as many rows as make R = 4, K R = 64.
void streamed(Runs& runs, std::uint32_t dimension, const char* model, const char* sampler,
              std::uint64_t window) {
  LearningEngine learning({.model = model,
                           .sampler = sampler,
                           .dimension = dimension,
                           .minibatch_size = kStepMinibatch,
                           .rows = window,
                           .draws_per_observation = kDrawsPerObservation});
  const double gemv = gemv_seconds(kStepMinibatch, dimension, runs.budget());
  (void)run_rounds(learning, kRowsARound, runs.budget());
  runs.add(fmt::format("round in a stream {} {} D={} S={} N={}", model, sampler, dimension,
                       kStepMinibatch, window),
           [&] {
             const Work w = run_rounds(learning, kRowsARound, 2 * runs.budget());
             const double r = draws_per_observation(learning, w);
             return Figures{{"rows_per_round", w.rows / w.rounds},
                            {"draws_per_observation", r},
                            {"chains_times_draws", learning.engine().config().sampler.chains * r},
                            {"us_per_round", 1e6 * w.seconds / w.rounds},
                            {"examples_per_second", w.examples / w.seconds},
                            {"passes", w.passes},
                            {"refreshes", w.refreshes},
                            {"window_mib", window_mib(learning)},
                            {"of_gemv", gemv / kStepMinibatch * w.examples / w.seconds}};
           });
}

// The same over rows that stay the same: the sweep has become rare, as it does when a few passes
// have shown nothing new.
void quiet(Runs& runs, std::uint32_t dimension, const char* model, const char* sampler) {
  LearningEngine learning({.model = model,
                           .sampler = sampler,
                           .dimension = dimension,
                           .minibatch_size = kStepMinibatch});
  const double gemv = gemv_seconds(kStepMinibatch, dimension, runs.budget());
  for (int i = 0; i < 3; ++i) (void)run_rounds(learning, 0, runs.budget() / 4);
  runs.add(fmt::format("round of quiet rows {} {} D={} S={} N={}", model, sampler, dimension,
                       kStepMinibatch, LearningEngine::kRows),
           [&] {
             const Work w = run_rounds(learning, 0, 2 * runs.budget());
             return Figures{{"us_per_round", 1e6 * w.seconds / w.rounds},
                            {"examples_per_second", w.examples / w.seconds},
                            {"passes", w.passes},
                            {"refreshes", w.refreshes},
                            {"window_mib", window_mib(learning)},
                            {"of_gemv", gemv / kStepMinibatch * w.examples / w.seconds}};
           });
}

// The longest time in which no chain moves once a round has moved them all: a piece of a refresh,
// or the publication of a snapshot.
class Pauses {
 public:
  explicit Pauses(Learner& learner, std::size_t chains) : learner_(learner), chains_(chains) {
    learner_.set_trace(moved, this);
  }
  ~Pauses() { learner_.set_trace(nullptr, nullptr); }
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  void begin_round() noexcept { moves_ = 0; }
  void end_round() noexcept {
    if (moves_ >= chains_) end_pause();
  }
  double longest() const noexcept { return longest_; }

 private:
  static void moved(void* pauses, std::uint16_t, const double*) noexcept {
    Pauses& p = *static_cast<Pauses*>(pauses);
    if (++p.moves_ < p.chains_) return;
    if (p.moves_ > p.chains_) return p.end_pause();
    p.start_ = thread_seconds();
  }
  void end_pause() noexcept {
    const double now = thread_seconds();
    longest_ = std::max(longest_, now - start_);
    start_ = now;
  }

  Learner& learner_;
  std::size_t chains_;
  std::size_t moves_ = 0;
  double start_ = 0;
  double longest_ = 0;
};

// A thread that predicts one row 500 times a second while it is told to, as a host does that asks
// in process. An answer's time is that of the call.
class Asker {
 public:
  explicit Asker(Engine& engine)
      : reader_(engine.reader().value()),
        x_(engine.config().model.features, 0.1),
        thread_([this] { run(); }) {}
  ~Asker() {
    stop_.store(true);
    record_in(&last_);
    thread_.join();
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // From now on, the answer under way included; null: asks no more.
  void record_in(Histogram* latency) {
    latency_.store(latency);
    latency_.notify_one();
  }

 private:
  void run() {
    RealClock clock;
    PredictRequest request;
    request.rows = 1;
    request.features = x_;
    request.thompson_id = 1;  // reads all draws
    std::array<PredictiveSummary, 1> summary;
    Provenance provenance;
    while (!stop_.load()) {
      latency_.wait(nullptr);
      sleep_for(2e-3);
      const std::int64_t start = clock.now_ns();
      (void)reader_.predict(request, summary, provenance);
      const std::int64_t took = clock.now_ns() - start;
      if (Histogram* latency = latency_.load()) latency->record(took);
    }
  }

  Reader reader_;
  std::vector<double> x_;
  Histogram last_;
  std::atomic<Histogram*> latency_{nullptr};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

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

}  // namespace

// What a step of an engine costs as a whole where the sampler is D x D: with the sweep and the
// refreshes of everything, the longest time that the chains stand still, and what answers take
// meanwhile, beside what they take while nothing is learned.
void add_stream(Runs& runs, std::uint32_t dimension, std::string_view sampler) {
  const std::uint64_t window = window_rows(dimension);
  const double gemv = gemv_seconds(dimension, dimension, runs.budget());
  SamplerRig rig({.dimension = dimension, .minibatch_size = kStepMinibatch, .rows = window});
  const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
  LearningEngine learning({.sampler = sampler,
                           .dimension = dimension,
                           .minibatch_size = kStepMinibatch,
                           .rows = window,
                           .draws_per_observation = kDrawsPerObservation});
  Engine& engine = learning.engine();
  Asker asker(engine);
  Histogram busy;
  Histogram idle;
  runs.add(fmt::format("engine in a stream {} D={} S={} N={}", sampler, dimension, kStepMinibatch,
                       window),
           [&] {
             const double seconds = 5 * runs.budget();
             const Work w = run_rounds(learning, kRowsARound, seconds);
             Pauses pauses(engine.learner(), engine.config().sampler.chains);
             asker.record_in(&busy);
             const Work asked = run_rounds(learning, kRowsARound, seconds, [&] {
               pauses.begin_round();
               engine.poll(1);
               pauses.end_round();
             });
             asker.record_in(&idle);
             sleep_for(seconds);
             asker.record_in(nullptr);
             const double step = w.seconds / w.steps;
             return Figures{{"draws_per_observation", draws_per_observation(learning, w)},
                            {"step_us", 1e6 * step},
                            {"gradient_us", 1e6 * gradient},
                            {"gemv_us", 1e6 * gemv},
                            {"step_in_gemv", step / gemv},
                            {"without_gradient_in_gemv", (step - gradient) / gemv},
                            {"refreshes", w.refreshes},
                            {"steps_per_refresh", w.refreshes > 0 ? w.steps / w.refreshes : 0},
                            {"refreshes_while_asked", asked.refreshes},
                            {"longest_pause_ms", 1e3 * pauses.longest()},
                            {"window_mib", window_mib(learning)}};
           });
  runs.last()["answers"] = percentiles(busy);
  runs.last()["answers_idle"] = percentiles(idle);
}

void add_rounds(Runs& runs, std::uint32_t dimension) {
  const std::uint64_t window = window_rows(dimension);
  streamed(runs, dimension, "linear", "calibrated", window);
  streamed(runs, dimension, "logistic", "calibrated", window);
  streamed(runs, dimension, "linear", "calibrated", LearningEngine::kRows);
  quiet(runs, dimension, "linear", "calibrated");
  quiet(runs, dimension, "logistic", "calibrated");
  threads(runs, dimension);
}

}  // namespace windhover
