// Timing of work on one thread, and what the process did meanwhile.
#ifndef WINDHOVER_TOOLS_BENCH_TIMING_H_
#define WINDHOVER_TOOLS_BENCH_TIMING_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/processor.h"

namespace windhover {

// The p-quantile of a few values, one of them, rounded down. NaN where there are none.
inline double quantile(std::vector<double> values, double p) {
  if (values.empty()) return std::nan("");
  const auto at = static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

// Processor seconds of one call of `f`: that of the fastest of a dozen blocks of calls, which
// together take about `budget` seconds. For work that is the same at each call. Limits and what is
// compared with them are both timed like this.
template <class F>
double fastest(double budget, F&& f) {
  constexpr int kBlocks = 12;
  std::size_t calls = 1;
  double took = 0;
  for (;; calls *= 2) {
    const double start = thread_seconds();
    for (std::size_t i = 0; i < calls; ++i) f();
    took = thread_seconds() - start;
    if (took >= budget / (2 * kBlocks)) break;
  }
  double best = took;
  for (int block = 0; block < kBlocks; ++block) {
    const double start = thread_seconds();
    for (std::size_t i = 0; i < calls; ++i) f();
    best = std::min(best, thread_seconds() - start);
  }
  return best / static_cast<double>(calls);
}

// Processor seconds of one call on average over `budget` seconds: for work that differs from call
// to call.
template <class F>
double average(double budget, F&& f) {
  const double start = thread_seconds();
  double took = 0;
  std::size_t calls = 0;
  do {
    for (int i = 0; i < 8; ++i) f();
    calls += 8;
    took = thread_seconds() - start;
  } while (took < budget);
  return took / static_cast<double>(calls);
}

// Records the nanoseconds of one call of `f`, by the clock on the wall.
template <class F>
void record(Histogram& latency, F&& f) {
  RealClock clock;
  const std::int64_t start = clock.now_ns();
  f();
  latency.record(clock.now_ns() - start);
}

// Seconds of all processors together since the machine started: busy, and stolen, when the machine
// was ready to run and its host ran something else. 0 where that cannot be read.
struct MachineTimes {
  double busy = 0;
  double stolen = 0;
};

// Notes the state of the process; figures() gives what has changed since: resident_bytes,
// heap_calls (null under sanitizers), cpu_seconds of this process, others_cpu, the number of
// processors that the rest of the machine kept busy, and stolen_cpu, the number that the host of a
// virtual machine withheld.
class ProcessSpan {
 public:
  ProcessSpan() noexcept;
  Json figures() const;

 private:
  double start_;
  std::optional<std::uint64_t> heap_;
  double own_;
  MachineTimes machine_;
};

// A few named numbers, without the heap: a report must not count in what it measures. Numbers that
// are not finite become null.
struct Figures {
  Figures(std::initializer_list<std::pair<const char*, double>> list) {
    for (const auto& [name, value] : list) add(name, value);
  }
  void add(const char* name, double value) { figures[count++] = {name, value}; }

  std::array<std::pair<const char*, double>, 20> figures;
  std::size_t count = 0;
};

// Collects runs, each with what the process did in its time.
class Runs {
 public:
  explicit Runs(double budget = 0) : budget_(budget) {}

  template <class Measure>
  void add(std::string name, Measure&& measure) {
    const ProcessSpan span;
    const Figures measured = measure();
    Json process = span.figures();
    Json run = {{"name", std::move(name)}};
    for (std::size_t i = 0; i < measured.count; ++i) {
      const auto& [figure, value] = measured.figures[i];
      run[figure] = std::isfinite(value) ? Json(value) : Json();
    }
    run.update(process);
    runs_.push_back(std::move(run));
  }
  Json& last() { return runs_.back(); }
  double budget() const { return budget_; }  // seconds of one measurement
  Json take() { return std::move(runs_); }

 private:
  double budget_;
  Json runs_ = Json::array();
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_TIMING_H_
