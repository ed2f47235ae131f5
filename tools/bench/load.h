// What the suites that serve an engine over loopback share.
#ifndef WINDHOVER_TOOLS_BENCH_LOAD_H_
#define WINDHOVER_TOOLS_BENCH_LOAD_H_

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/server_config.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/served_engine.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {

// The default 100,000, or of more than 100 parameters as many as make ten million numbers: of more,
// a posterior settles for tens of seconds.
std::uint64_t window_rows(std::uint32_t dimension);

// A linear model of so many parameters over a window of window_rows(). UserError when the dimension
// cannot be.
EngineConfig served_config(const BenchOptions& options, std::uint32_t dimension,
                           std::uint32_t nonzeros = 0);

// No more rows than fit into a frame of the default size. UserError when not even one does.
std::uint32_t rows_that_fit(std::uint32_t wanted, std::uint32_t dimension, std::uint32_t nonzeros);

// The list, or the default where it is empty.
std::vector<std::uint32_t> list_or(const std::vector<std::uint32_t>& list,
                                   const std::vector<std::uint32_t>& otherwise);

void sleep_for(double seconds);
inline constexpr double kPatience = 600;
// Looks every millisecond. RunError with these words after kPatience.
void wait_until(const std::function<bool()>& done, const char* otherwise);

// Work on a thread of its own, which is given a std::stop_token, until end() or destruction.
template <class Result>
class Beside {
 public:
  template <class Work>
  explicit Beside(Work&& work)
      : result_(std::async(std::launch::async, std::forward<Work>(work), stop_.get_token())) {}
  ~Beside() { stop_.request_stop(); }  // what is left then waits for it

  // What it gave; what it threw is thrown here. Once.
  Result end() {
    stop_.request_stop();
    return result_.get();
  }

 private:
  std::stop_source stop_;
  std::future<Result> result_;
};

// Notes what an engine has taken in and learned; figures() gives what has come to it since.
class IngestSpan {
 public:
  explicit IngestSpan(ServedEngine& served);

  double rows_per_second() const;
  // rows_per_second, draws_per_observation (R), chains_times_draws (K R), window_full, and the
  // window's size. RunError when the learner has begun a cold start meanwhile.
  Json figures() const;

 private:
  std::uint64_t since(RuntimeCounter counter) const;

  ServedEngine& served_;
  std::array<std::uint64_t, static_cast<std::size_t>(RuntimeCounter::kCount)> before_;
  double start_;
};

// What is sent where nothing else is said.
LoadRows load_rows(std::uint32_t dimension, std::uint32_t nonzeros);

// Sends up to 30,000 rows, then nothing until the posterior has settled, which it has not during a
// cold start, and, if `rest`, the learner has nothing left to do: its answers stand for as many
// steps as a tenth of a second before. Once an engine. RunError after kPatience.
void settle(ServedEngine& served, const LoadRows& rows, bool rest);

// Rows a second that the server takes from 32 connections: "saturation" where a suite speaks of a
// share of it. The posterior has settled before.
double saturating_rate(ServedEngine& served, const LoadRows& rows);
inline constexpr std::uint32_t kLoadConnections = 32;
inline constexpr std::uint32_t kLoadRowsPerFrame = 256;

// What `windhover bench ingest` sends.
struct IngestShape {
  std::uint32_t dimension;
  std::uint32_t nonzeros;
  std::uint32_t rows_per_frame;
  std::uint32_t connections;
  bool single_precision = false;
  bool unix_sockets = false;
};

// The runs of the suite with these options, in order.
std::vector<IngestShape> ingest_shapes(const BenchOptions& options);

// The name of the run.
std::string name_of(const IngestShape& shape);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LOAD_H_
