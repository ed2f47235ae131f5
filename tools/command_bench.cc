#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "windhover/tools/bench/picture.h"
#include "windhover/tools/bench/report.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/commands.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/plot.h"

namespace windhover {
namespace {

struct Options : BenchOptions {
  std::string suite;
  std::string compare;  // empty: with nothing
  std::string plot;     // a directory; empty: no picture
  bool json = false;
};

void run(const Options& o) {
  // Before a minute of measuring, not after.
  std::optional<Json> before;
  if (!o.compare.empty()) before = read_result(o.compare);
  if (!o.plot.empty()) {
    if (!has_picture(o.suite)) {
      throw UserError(fmt::format("--plot: there is no picture of {}", o.suite));
    }
    reproduce::require_gnuplot();
  }
  Json result = run_bench(o.suite, o);
  if (!o.plot.empty()) draw_picture(result, o.plot);
  if (o.json) {
    if (before) result["compared"] = ratios(*before, result);
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print("{}", text_of(result));
  if (before) fmt::print("compared with {}\n{}", o.compare, text_of_ratios(*before, result));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure this build against the limits of this machine");
  auto options = std::make_shared<Options>();
  std::string suites;
  for (const BenchSuite& suite : bench_suites()) {
    suites += fmt::format("\n{:<8}{}", suite.name, suite.about);
  }
  command->add_option("suite", options->suite, "Which suite:" + suites)->required();
  command
      ->add_option("--dimension", options->dimensions,
                   "Parameters, intercept included; several, but for mixed and soak")
      ->delimiter(',')
      ->check(CLI::Range(2, 100'000));
  command->add_option("--rows-per-frame", options->rows_per_frame, "ingest: rows a frame; several")
      ->delimiter(',')
      ->check(CLI::Range(1, 32'768));
  command
      ->add_option(
          "--connections", options->connections,
          "ingest: that send; query, mixed, soak: that ask; several, but for mixed and soak")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  command->add_option("--nonzeros", options->nonzeros, "ingest: sparse rows of so many; 0: dense")
      ->check(CLI::Range(0, 1000));
  command->add_flag("--single-precision", options->single_precision,
                    "ingest: numbers of 4 bytes on the wire instead of 8");
  command
      ->add_option("--shares", options->shares,
                   "query: ingest as a share of saturation, 1: as much as is taken; several")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--chains", options->chains, "Chains of the learner")
      ->check(CLI::Range(1, 1024));
  command->add_option("--seconds", options->seconds, "Measured time of a run")
      ->check(CLI::Range(0.001, 1000.0));
  command->add_option("--minutes", options->minutes, "soak: how long")
      ->check(CLI::Range(0.01, 100'000.0));
  command->add_option("--rate", options->rate, "Rows a second; 0: as many as are taken")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--query-rate", options->query_rate, "Questions a second")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--observations", options->observations, "growth: length of the stream")
      ->check(CLI::Range(1e6, 1e10));
  command->add_flag(
      "--real-time", options->real_time,
      "query: locked memory, FIFO for the query thread and the one that asks, as far as "
      "permitted; the result says how far");
  command->add_option("--compare", options->compare, "An older result of --json, for ratios");
  command->add_option("--plot", options->plot, "query, growth: a picture into this directory");
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace windhover
