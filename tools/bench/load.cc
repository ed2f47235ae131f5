#include "windhover/tools/bench/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

EngineConfig served_config(const BenchOptions& options, std::uint32_t dimension,
                           std::uint32_t nonzeros) {
  if (dimension < 2) {
    throw UserError(fmt::format("--dimension {} must be at least 2", dimension));
  }
  EngineConfig config;
  config.model.features = dimension - 1;
  config.model.max_nonzeros = nonzeros;
  config.sampler.chains = options.chains;
  config.window_size = 100'000;
  config.max_readers = kServerReaders + 1;  // one for wait_until_settled()
  return config;
}

std::uint32_t rows_that_fit(std::uint32_t wanted, std::uint32_t dimension, std::uint32_t nonzeros) {
  const std::uint32_t row = nonzeros > 0 ? 12 * nonzeros + 12 : 8 * dimension;
  const std::uint32_t most = (ServerConfig{}.frame_cap - 64) / row;
  if (most == 0) {
    throw UserError(fmt::format("--dimension {}: a row of {} bytes does not fit into a frame of {}",
                                dimension, row, ServerConfig{}.frame_cap));
  }
  return std::clamp<std::uint32_t>(most, 1, wanted);
}

std::vector<std::uint32_t> list_or(const std::vector<std::uint32_t>& list,
                                   const std::vector<std::uint32_t>& otherwise) {
  return list.empty() ? otherwise : list;
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

IngestFigures watch_ingest(ServedEngine& served, double seconds) {
  Counters<RuntimeCounter>& counters = served.engine().counters();
  const auto accepted = counters.get(RuntimeCounter::kRowsAccepted);
  const auto examples = counters.get(RuntimeCounter::kExamples);
  const auto full = counters.get(RuntimeCounter::kWindowFull);
  const double start = wall_seconds();
  sleep_for(seconds);
  const double took = wall_seconds() - start;
  const double rows = static_cast<double>(counters.get(RuntimeCounter::kRowsAccepted) - accepted);
  const double drawn = static_cast<double>(counters.get(RuntimeCounter::kExamples) - examples);
  return {rows / took, rows > 0 ? drawn / rows / served.engine().config().sampler.chains : 0,
          counters.get(RuntimeCounter::kWindowFull) - full};
}

double saturating_rate(const BenchOptions& options, std::uint32_t dimension,
                       std::uint32_t nonzeros) {
  ServedEngine served(served_config(options, dimension, nonzeros));
  const LoadRows rows{.features = dimension - 1,
                      .nonzeros = nonzeros,
                      .rows_per_frame = rows_that_fit(kLoadRowsPerFrame, dimension, nonzeros)};
  const FrameSource source(served.observe_address(), rows, {.connections = kLoadConnections});
  sleep_for(0.5);
  const double rate = watch_ingest(served, 0.7).rows_per_second;
  source.check();
  return rate;
}

void wait_until_settled(ServedEngine& served, bool rest) {
  Reader reader = value_or_throw(served.engine().reader());
  std::vector<ParameterSummary> summaries(served.engine().dimension());
  std::uint64_t steps = 0;
  for (const double patience = wall_seconds() + 10; wall_seconds() < patience; sleep_for(0.1)) {
    Provenance p;
    if (!ok(reader.posterior(summaries, p))) continue;
    const bool rests = p.steps == steps;
    steps = p.steps;
    if (p.reason != StatusReason::kFewDraws && (rests || !rest)) return;
  }
  throw RunError("the posterior has not settled in ten seconds");
}

}  // namespace windhover
