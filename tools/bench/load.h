// What the suites that serve an engine over loopback share.
#ifndef WINDHOVER_TOOLS_BENCH_LOAD_H_
#define WINDHOVER_TOOLS_BENCH_LOAD_H_

#include <cstdint>
#include <vector>

#include "windhover/io/server_config.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/served_engine.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {

// A linear model of so many parameters over a window of 100,000 rows. UserError when the dimension
// cannot be.
EngineConfig served_config(const BenchOptions& options, std::uint32_t dimension,
                           std::uint32_t nonzeros = 0);

// No more rows than fit into a frame of the default size. UserError when not even one does.
std::uint32_t rows_that_fit(std::uint32_t wanted, std::uint32_t dimension, std::uint32_t nonzeros);

// The list, or the default where it is empty.
std::vector<std::uint32_t> list_or(const std::vector<std::uint32_t>& list,
                                   const std::vector<std::uint32_t>& otherwise);

void sleep_for(double seconds);

struct IngestFigures {
  double rows_per_second = 0;
  double draws_per_observation = 0;  // R over the measured time
  std::uint64_t window_full = 0;
};

// Rows accepted while `seconds` pass.
IngestFigures watch_ingest(ServedEngine& served, double seconds);

// Rows a second that the server takes from 32 connections, learner on, after half a second of
// warming up: "saturation" where a suite speaks of a share of it.
double saturating_rate(const BenchOptions& options, std::uint32_t dimension,
                       std::uint32_t nonzeros);

// Until the posterior has settled and, if `rest`, the learner has nothing left to do: its answers
// stand for as many steps as a tenth of a second before. Once an engine. RunError after ten
// seconds.
void wait_until_settled(ServedEngine& served, bool rest);
inline constexpr std::uint32_t kLoadConnections = 32;
inline constexpr std::uint32_t kLoadRowsPerFrame = 256;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LOAD_H_
