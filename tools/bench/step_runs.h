// What the parts of `windhover bench step` share.
#ifndef WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_
#define WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_

#include <cstdint>
#include <string_view>

#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {

inline constexpr std::uint32_t kStepMinibatch = 100;

inline constexpr double kMiB = 1 << 20;
inline constexpr double kDrawsPerObservation = 4;
inline constexpr std::uint32_t kRowsARound = kStepMinibatch / 4;  // R = S / rows

// What an engine has done in some processor time of the calling thread.
struct Work {
  double seconds = 0;
  double rounds = 0;
  double rows = 0;
  double steps = 0;
  double examples = 0;
  double passes = 0;
  double refreshes = 0;
};

// Makes rounds, each after `rows` new rows, for `seconds` of this thread's time and until two
// passes over the window have ended, but no longer than ten times that.
template <class Around>
inline Work run_rounds(LearningEngine& learning, std::uint32_t rows, double seconds,
                       Around&& round) {
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
      (void)learning.stream(rows);
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

inline Work run_rounds(LearningEngine& learning, std::uint32_t rows, double seconds) {
  return run_rounds(learning, rows, seconds, [&] { learning.engine().poll(1); });
}

inline double window_mib(const LearningEngine& learning) {
  return static_cast<double>(learning.window_bytes()) / kMiB;
}

inline double draws_per_observation(LearningEngine& learning, const Work& work) {
  return work.examples / work.rows / learning.engine().config().sampler.chains;
}

// The parts with a whole engine: its rounds beside a stream, over rows that stay the same, and on
// two threads, and its predictions (step_rounds.cc); the cost of a step as a whole
// (step_stream.cc).
void add_rounds(Runs& runs, std::uint32_t dimension);
void add_stream(Runs& runs, std::uint32_t dimension, std::string_view sampler);
void add_predictions(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_
