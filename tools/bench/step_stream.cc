// A whole engine beside a stream, with a D x D sampler: its steps, its pauses, its answers.
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

// The longest time in which no chain moves after a round has moved them all: a piece of a refresh,
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

// A thread that predicts one row 500 times a second while told to, as a host does that asks in
// process. Records the time of each call.
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

  // Records from now on, the answer under way included; null: stops asking.
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

}  // namespace

// The cost of a step of the engine as a whole, with the sweep and all refreshes, the longest time
// for which the chains stand still, and the latency of answers meanwhile, beside that while nothing
// is learned.
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

}  // namespace windhover
