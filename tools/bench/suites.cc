#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"
#include "windhover/tools/processor.h"

namespace windhover {

namespace {

constexpr std::array kSuites = {
    BenchSuite{"step", "the sampler, gradients, preconditioners, normals, predictions in process",
               run_step},
    BenchSuite{"ingest", "rows over loopback while the learner runs", run_ingest},
    BenchSuite{"query", "latency of predictions over loopback, idle and under ingest", run_query},
    BenchSuite{"mixed", "all kinds of questions while rows stream in", run_mixed},
    BenchSuite{"growth", "cost over the length of the stream and over D; the start", run_growth},
    BenchSuite{"sparse",
               "2^18 sparse columns and more: rows, predictions, memory, start, beside SGD",
               run_sparse},
    BenchSuite{"durable",
               "the log and checkpoints beside the disk they lie on; the start from them",
               run_durable},
    BenchSuite{"models", "several models behind one server: start, memory, learning, answers",
               run_models},
    BenchSuite{"coming", "one model's answers while others are added, replaced and removed",
               run_coming},
    BenchSuite{"hostile", "latency of one client's questions beside peers that do their worst",
               run_hostile},
    BenchSuite{"soak", "the same for --minutes: resident memory and heap calls over time",
               run_soak},
};

std::string processor() {
  const std::string name = processor_name();
  return name.empty() ? "unknown" : name;
}

}  // namespace

std::span<const BenchSuite> bench_suites() noexcept { return kSuites; }

Json to_json(const BenchOptions& o) {
  return {{"dimensions", o.dimensions},
          {"rows_per_frame", o.rows_per_frame},
          {"connections", o.connections},
          {"shares", o.shares},
          {"nonzeros", o.nonzeros},
          {"single_precision", o.single_precision},
          {"chains", o.chains},
          {"seconds", o.seconds},
          {"minutes", o.minutes},
          {"rate", o.rate},
          {"query_rate", o.query_rate},
          {"observations", o.observations},
          {"real_time", o.real_time},
          {"unix", o.unix_sockets},
          {"window_rows", o.window_rows},
          {"parts", o.parts},
          {"models", o.models}};
}

Json run_bench(std::string_view name, const BenchOptions& options) {
  for (const BenchSuite& suite : kSuites) {
    if (suite.name != name) continue;
    Json out = {{"suite", suite.name},
                {"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))},
                {"version", kVersion},
                {"revision", kRevision},
                {"processor", processor()},
                {"instruction_set", to_string(instruction_set())},
                {"compiler", __VERSION__},
                {"options", to_json(options)}};
    out.update(suite.run(options));
    return out;
  }
  std::vector<std::string> names;
  for (const BenchSuite& suite : kSuites) names.emplace_back(suite.name);
  throw UserError(fmt::format("no suite \"{}\"{}; there are {}", name, did_you_mean(name, names),
                              fmt::join(names, " ")));
}

}  // namespace windhover
