#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/platform/histogram.h"
#include "windhover/tools/answers.h"
#include "windhover/tools/commands.h"
#include "windhover/tools/frame_source.h"
#include "windhover/tools/served_engine.h"

namespace windhover {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string suite;
  std::uint32_t dimension = 0;  // 0: 10 for ingest, 100 for query
  std::uint32_t chains = 4;
  double seconds = 4;
  double rate = 0;  // rows a second; 0: as fast as the server takes them
  double query_rate = 2000;
  bool json = false;
};

EngineConfig engine_config(const Options& o, std::uint32_t dimension) {
  EngineConfig config;
  config.model.features = dimension - 1;
  config.sampler.chains = o.chains;
  config.window_size = 100'000;
  return config;
}

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

struct IngestResult {
  double rows_a_second = 0;
  double draws_per_observation = 0;  // R over the measured time
  std::uint64_t window_full = 0;
};

// Rows accepted a second while the learner runs, after a second of warming up.
IngestResult measure_ingest(ServedEngine& served, std::uint32_t features,
                            std::uint32_t rows_per_frame, double rate, double seconds) {
  const FrameSource source(served.observe_address(), features, rows_per_frame, rate);
  wait(1);
  Counters<RuntimeCounter>& counters = served.engine().counters();
  const auto accepted = counters.get(RuntimeCounter::kRowsAccepted);
  const auto examples = counters.get(RuntimeCounter::kExamples);
  const auto full = counters.get(RuntimeCounter::kWindowFull);
  const Clock::time_point start = Clock::now();
  wait(seconds);
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  const double rows = static_cast<double>(counters.get(RuntimeCounter::kRowsAccepted) - accepted);
  const double drawn = static_cast<double>(counters.get(RuntimeCounter::kExamples) - examples);
  return {rows / took, rows > 0 ? drawn / rows / served.engine().config().sampler.chains : 0,
          counters.get(RuntimeCounter::kWindowFull) - full};
}

Json ingest(const Options& o) {
  const std::uint32_t dimension = o.dimension == 0 ? 10 : o.dimension;
  Json out = {{"suite", "ingest"}, {"dimension", dimension}, {"chains", o.chains}};
  for (const std::uint32_t rows_per_frame : {1U, 16U, 256U}) {
    ServedEngine served(engine_config(o, dimension));
    const IngestResult r = measure_ingest(served, dimension - 1, rows_per_frame, o.rate, o.seconds);
    out["runs"].push_back({{"rows_per_frame", rows_per_frame},
                           {"rows_per_second", r.rows_a_second},
                           {"draws_per_observation", r.draws_per_observation},
                           {"chains_times_draws", o.chains * r.draws_per_observation},
                           {"window_full", r.window_full}});
  }
  return out;
}

Json percentiles(const Histogram& h) {
  return {{"count", h.count()},
          {"p50_us", static_cast<double>(h.quantile(0.5)) / 1e3},
          {"p99_us", static_cast<double>(h.quantile(0.99)) / 1e3},
          {"p999_us", static_cast<double>(h.quantile(0.999)) / 1e3},
          {"max_us", static_cast<double>(h.max()) / 1e3}};
}

// One question at each tick of an open-loop schedule. A question that starts late because the one
// before it took too long counts from its tick; one that starts late because this thread overslept
// counts from when it was sent.
void ask(ServedEngine& served, std::uint32_t features, const Options& o, Histogram& latency) {
  Client client;
  connect_or_throw(client, served.query_address());
  const std::vector<double> x(features, 0.1);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  const auto period =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / o.query_rate));
  const auto questions = static_cast<std::uint64_t>(o.seconds * o.query_rate);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  Clock::time_point tick = Clock::now();
  for (std::uint64_t i = 0; i < questions; ++i, tick += period) {
    const bool late = Clock::now() > tick;
    std::this_thread::sleep_until(tick);
    const Clock::time_point start = late ? tick : Clock::now();
    request.thompson_id = i + 1;  // makes the answer read all draws
    check_reply(client, client.predict(request, answers, provenance), "asking for a prediction");
    latency.record(std::chrono::nanoseconds(Clock::now() - start).count());
  }
}

Json query(const Options& o) {
  const std::uint32_t dimension = o.dimension == 0 ? 100 : o.dimension;
  const std::uint32_t features = dimension - 1;
  // As many rows as fit into a frame of the default size, but no more than 256.
  const std::uint32_t rows_per_frame =
      std::min<std::uint32_t>(256, ServerConfig{}.frame_cap / (8 * dimension + 64));
  double saturating = 0;
  {
    ServedEngine served(engine_config(o, dimension));
    saturating = measure_ingest(served, features, rows_per_frame, 0, 2).rows_a_second;
  }
  Json out = {{"suite", "query"},
              {"dimension", dimension},
              {"draws", EngineConfig{}.retained_draws},
              {"query_rate", o.query_rate},
              {"saturating_rows_per_second", saturating}};
  for (const double share : {0.0, 0.5, 1.0}) {
    ServedEngine served(engine_config(o, dimension));
    const FrameSource source(served.observe_address(), features, rows_per_frame,
                             share == 1.0 ? 0 : std::max(1.0, share * saturating));
    wait(2);  // past the cold start
    Histogram latency;
    ask(served, features, o, latency);
    out["runs"].push_back({{"ingest_share_of_saturation", share},
                           {"round_trip", percentiles(latency)},
                           {"handler", percentiles(served.server().query_latency())}});
  }
  return out;
}

void print(const Json& result) {
  if (result["suite"] == "ingest") {
    fmt::print("ingest over TCP, D = {}, {} chains, learner on\n", result["dimension"].get<int>(),
               result["chains"].get<int>());
    fmt::print("{:>14} {:>14} {:>8} {:>8} {:>12}\n", "rows a frame", "rows a second", "R", "K R",
               "window full");
    for (const Json& r : result["runs"]) {
      fmt::print("{:>14} {:>14.0f} {:>8.2f} {:>8.2f} {:>12}\n", r["rows_per_frame"].get<int>(),
                 r["rows_per_second"].get<double>(), r["draws_per_observation"].get<double>(),
                 r["chains_times_draws"].get<double>(), r["window_full"].get<std::uint64_t>());
    }
    return;
  }
  fmt::print(
      "predict over TCP, D = {}, {} draws, {} questions a second, saturation {:.0f} rows/s\n",
      result["dimension"].get<int>(), result["draws"].get<int>(),
      result["query_rate"].get<double>(), result["saturating_rows_per_second"].get<double>());
  fmt::print("{:>8} {:>12} {:>10} {:>10} {:>10} {:>10}\n", "ingest", "us", "p50", "p99", "p99.9",
             "max");
  for (const Json& r : result["runs"]) {
    for (const char* what : {"round_trip", "handler"}) {
      const Json& p = r[what];
      fmt::print("{:>7.0f}% {:>12} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f}\n",
                 100 * r["ingest_share_of_saturation"].get<double>(), what,
                 p["p50_us"].get<double>(), p["p99_us"].get<double>(), p["p999_us"].get<double>(),
                 p["max_us"].get<double>());
    }
  }
}

void run(const Options& o) {
  if (o.dimension == 1) throw UserError("--dimension must be at least 2");
  const Json result = o.suite == "ingest" ? ingest(o) : query(o);
  if (o.json) {
    fmt::print("{}\n", result.dump(2));
  } else {
    print(result);
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Load a server in this process over loopback and measure it");
  auto options = std::make_shared<Options>();
  command->add_option("suite", options->suite, "ingest or query")
      ->required()
      ->check(CLI::IsMember({"ingest", "query"}));
  command->add_option("--dimension", options->dimension, "Parameters, intercept included");
  command->add_option("--chains", options->chains, "Chains of the learner")
      ->check(CLI::Range(1, 1024));
  command->add_option("--seconds", options->seconds, "Measured time of a run")
      ->check(CLI::Range(0.1, 1000.0));
  command->add_option("--rate", options->rate, "ingest: rows a second; 0: as many as are taken")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--query-rate", options->query_rate, "Questions a second")
      ->check(CLI::Range(1.0, 1e6));
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace windhover
