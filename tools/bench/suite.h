// The suites of `windhover bench`, registered in suites.cc; their results as text, and the
// comparison of two results.
#ifndef WINDHOVER_TOOLS_BENCH_SUITE_H_
#define WINDHOVER_TOOLS_BENCH_SUITE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace windhover {

using Json = nlohmann::ordered_json;

// Options of all suites. An empty list, or 0, means the default of the suite.
struct BenchOptions {
  std::vector<std::uint32_t> dimensions;  // parameters, intercept included
  std::vector<std::uint32_t> rows_per_frame;
  std::vector<std::uint32_t> connections;  // ingest: that send; the others: that ask
  std::vector<double> shares;              // query: ingest as a share of saturation
  std::uint32_t nonzeros = 0;              // sparse rows of so many; 0: dense, `sparse` 32
  bool single_precision = false;           // ingest: numbers of 4 bytes on the wire
  std::uint32_t chains = 4;
  double seconds = 0;  // measured time of a run
  double minutes = 10;
  double rate = 0;  // rows a second; 0: the default of the suite
  double query_rate = 2000;
  double observations = 3.2e6;             // growth: length of the stream
  std::vector<std::string> parts;          // durable: only these parts
  std::vector<std::uint64_t> window_rows;  // durable: windows that a server starts with
  std::vector<std::uint32_t> models;       // models: so many behind one server; several
  bool real_time = false;  // query: locked memory, FIFO, pinned, as far as permitted; hostile: FIFO
  bool unix_sockets = false;  // ingest, query: instead of TCP over loopback
};

struct BenchSuite {
  std::string_view name;
  std::string_view about;
  // Returns {"limits": {...}, "runs": [{"name": ..., ...}, ...]}: names are unique within a result,
  // figures are numbers or null. RunError when something does not start.
  Json (*run)(const BenchOptions& options);
};

Json run_step(const BenchOptions& options);
Json run_ingest(const BenchOptions& options);
Json run_query(const BenchOptions& options);
Json run_mixed(const BenchOptions& options);
Json run_soak(const BenchOptions& options);
Json run_growth(const BenchOptions& options);
Json run_sparse(const BenchOptions& options);
Json run_durable(const BenchOptions& options);
Json run_models(const BenchOptions& options);
Json run_coming(const BenchOptions& options);
Json run_hostile(const BenchOptions& options);

// The parts of `durable`.
std::vector<std::string> durable_parts();

std::span<const BenchSuite> bench_suites() noexcept;

Json to_json(const BenchOptions& options);

// Runs the suite of this name, UserError when there is none, and adds its name, the time, the
// version, revision and compiler, the processor and instruction set, and the options.
Json run_bench(std::string_view suite, const BenchOptions& options);

// Adds the options of `windhover bench`. Parsing them runs the suite and prints its result.
// UserError, RunError.
void add_bench(CLI::App& app);

// Draws a result of `query` or `growth`: writes SUITE.svg, SUITE.png and the script that draws them
// into `directory`, which is made where it is missing. RunError when that fails.
void draw_picture(const Json& result, const std::string& directory);

// The version, and the commit it was built from ("-dirty": with changes; "unknown": outside a
// repository). Written by revision.cmake in each build.
extern const char* const kVersion;
extern const char* const kRevision;

// The result as tables: a line for each run, runs with the same figures under one heading, parts of
// a run (e.g. the percentiles of a latency) under headings of their own.
std::string text_of(const Json& result);

// Reads a result that --json has printed. UserError: no such file, or other content.
Json read_result(const std::string& path);

// UserError unless the two are results of one suite with the same options. An option that one of
// them does not have counts with its default.
void require_comparable(const Json& before, const Json& after);

// For every run that both have, {"name": {"figure": new / old, ...}}; limits likewise under
// "limits". A figure that is 0 on one side is "old -> new"; one that is 0 on both, or null, is left
// out. "differs" has what else differs, old -> new: processor, instruction set, compiler, version,
// revision. REQUIRES: comparable results.
Json ratios(const Json& before, const Json& after);

// The same as a table of old, new and new / old.
std::string text_of_ratios(const Json& before, const Json& after);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_SUITE_H_
