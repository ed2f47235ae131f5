#include "windhover/tools/bench/load.h"

#include <algorithm>
#include <chrono>

#include "windhover/tools/bench/timing.h"

namespace windhover {

std::uint64_t window_rows(std::uint32_t dimension) {
  constexpr std::uint64_t kMostNumbers = 10'000'000;
  return std::min<std::uint64_t>(EngineConfig{}.window_size, kMostNumbers / dimension);
}

EngineConfig served_config(const BenchOptions& options, std::uint32_t dimension,
                           std::uint32_t nonzeros) {
  if (dimension < 2) {
    throw UserError(fmt::format("--dimension {} must be at least 2", dimension));
  }
  EngineConfig config;
  config.model.features = dimension - 1;
  config.model.max_nonzeros = nonzeros;
  config.model.prior_precision = 1;
  config.model.intercept_precision = 0.1;
  config.sampler.chains = options.chains;
  config.window_size = window_rows(dimension);
  config.max_readers = kServerReaders + 1;  // one for settle()
  config.max_watchers = kServerWatchers;
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

void wait_until(const std::function<bool()>& done, const char* otherwise) {
  for (const double end = wall_seconds() + kPatience; !done(); sleep_for(0.001)) {
    if (wall_seconds() > end) throw RunError(otherwise);
  }
}

IngestSpan::IngestSpan(ServedEngine& served) : served_(served), start_(wall_seconds()) {
  for (std::size_t i = 0; i < before_.size(); ++i) {
    before_[i] = served.engine().counters().get(static_cast<RuntimeCounter>(i));
  }
}

std::uint64_t IngestSpan::since(RuntimeCounter counter) const {
  return served_.engine().counters().get(counter) - before_[static_cast<std::size_t>(counter)];
}

double IngestSpan::rows_per_second() const {
  return static_cast<double>(since(RuntimeCounter::kRowsAccepted)) / (wall_seconds() - start_);
}

Json IngestSpan::figures() const {
  const double rate = rows_per_second();
  const auto rows = static_cast<double>(since(RuntimeCounter::kRowsAccepted));
  const auto drawn = static_cast<double>(since(RuntimeCounter::kExamples));
  const EngineConfig& config = served_.engine().config();
  if (since(RuntimeCounter::kColdStarts) > 0) {
    throw RunError("the learner has started anew while it was measured");
  }
  Json out = {{"rows_per_second", rate},
              {"draws_per_observation", nullptr},
              {"chains_times_draws", nullptr},
              {"window_full", since(RuntimeCounter::kWindowFull)},
              {"window_rows", config.window_size}};
  if (rows > 0) {
    out["draws_per_observation"] = drawn / rows / config.sampler.chains;
    out["chains_times_draws"] = drawn / rows;
  }
  return out;
}

LoadRows load_rows(std::uint32_t dimension, std::uint32_t nonzeros) {
  return {.features = dimension - 1,
          .nonzeros = nonzeros,
          .rows_per_frame = rows_that_fit(kLoadRowsPerFrame, dimension, nonzeros)};
}

void settle(ServedEngine& served, const LoadRows& rows, bool rest) {
  const double patience = wall_seconds() + kPatience;
  {
    const FrameSource source(served.observe_address(), rows, {});
    const auto enough = std::min<std::uint64_t>(30'000, served.engine().config().window_size);
    while (served.engine().head() < enough && wall_seconds() < patience) sleep_for(0.01);
    source.check();
  }
  Reader reader = value_or_throw(served.engine().reader());
  std::vector<ParameterSummary> summaries(served.engine().dimension());
  std::uint64_t steps = 0;
  for (; wall_seconds() < patience; sleep_for(0.1)) {
    Provenance p;
    if (!ok(reader.posterior(summaries, p))) continue;
    const bool rests = p.steps == steps;
    steps = p.steps;
    if (p.reason != StatusReason::kFewDraws && (rests || !rest)) return;
  }
  throw RunError(fmt::format("the posterior has not settled in {} seconds", kPatience));
}

double saturating_rate(ServedEngine& served, const LoadRows& rows) {
  const FrameSource source(served.observe_address(), rows, {.connections = kLoadConnections});
  sleep_for(0.3);  // all connections under way
  const IngestSpan span(served);
  sleep_for(0.7);
  source.check();
  return span.figures().at("rows_per_second").get<double>();
}

}  // namespace windhover
