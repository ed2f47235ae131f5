// What the parts of `windhover bench step` share.
#ifndef WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_
#define WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {

inline constexpr std::uint32_t kStepMinibatch = 100;

// A few named numbers, without the heap: what is being measured shall not count what reports it.
struct Figures {
  Figures(std::initializer_list<std::pair<const char*, double>> list) {
    for (const auto& figure : list) figures[count++] = figure;
  }
  std::array<std::pair<const char*, double>, 20> figures;
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
  double budget() const { return budget_; }  // seconds of one measurement
  Json take() { return std::move(runs_); }

 private:
  double budget_;
  Json runs_ = Json::array();
};

// What takes a whole engine. Its rounds beside a stream, over rows that stay the same, and on two
// threads (step_rounds.cc); predictions of it (step_predictions.cc).
void add_rounds(Runs& runs, std::uint32_t dimension);
void add_stream(Runs& runs, std::uint32_t dimension, std::string_view sampler);
void add_predictions(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_STEP_RUNS_H_
