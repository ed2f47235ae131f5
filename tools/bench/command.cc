#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/bench/suite.h"
#include "windhover/tools/error.h"
#include "windhover/tools/gnuplot.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/reproduce/plot.h"

namespace windhover {
namespace {

struct Options : BenchOptions {
  std::string suite;
  std::string compare;  // an older result; empty: none
  std::string plot;     // a directory; empty: no picture
  bool json = false;
};

// An option that only these suites read.
struct Limited {
  const CLI::Option* option;
  std::vector<std::string_view> suites;
};

constexpr std::uint32_t kMostDense = 100'000;

bool is_suite(const std::string& name) {
  return std::ranges::find(bench_suites(), name, &BenchSuite::name) != bench_suites().end();
}

void refuse_unread(const std::string& suite, const std::vector<Limited>& all) {
  for (const auto& [option, suites] : all) {
    if (option->count() == 0 || std::ranges::find(suites, suite) != suites.end()) continue;
    throw UserError(fmt::format("{} means nothing to {}; it is for {}", option->get_name(), suite,
                                fmt::join(suites, ", ")));
  }
}

void run(const Options& o) {
  // Read first, because an error in it should come before a minute of measuring.
  std::optional<Json> before;
  if (!o.compare.empty()) {
    before = read_result(o.compare);
    require_comparable(*before, {{"suite", o.suite}, {"options", to_json(o)}});
  }
  if (!o.plot.empty()) require_gnuplot();
  Json result = run_bench(o.suite, o);
  if (o.json) {
    if (before) result["compared"] = ratios(*before, result);
    fmt::print("{}\n", result.dump(2));
  } else {
    fmt::print("{}", text_of(result));
    if (before) fmt::print("compared with {}\n{}", o.compare, text_of_ratios(*before, result));
  }
  (void)std::fflush(stdout);
  if (!o.plot.empty()) draw_picture(result, o.plot);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::string suites;
  std::vector<std::string_view> names;
  for (const BenchSuite& suite : bench_suites()) {
    suites += fmt::format("\n{:<8}{}", suite.name, suite.about);
    names.push_back(suite.name);
  }
  app.add_option("SUITE", options->suite, "Which suite:" + suites)
      ->type_name(fmt::format("{{{}}}", fmt::join(names, ",")))
      ->required();
  auto limited = std::make_shared<std::vector<Limited>>();
  const auto only = [limited](CLI::Option* option, std::vector<std::string_view> read_by) {
    limited->push_back({option, std::move(read_by)});
    return option;
  };
  only(app.add_option(
           "--dimension", options->dimensions,
           "Parameters, intercept included; several, but for mixed, soak and durable; sparse: "
           "columns, one number"),
       {"step", "ingest", "query", "mixed", "soak", "growth", "durable", "models", "coming",
        "sparse"})
      ->delimiter(',')
      ->check(CLI::Range(2, 16'777'216));
  only(app.add_option("--models", options->models, "models: behind one server; several"),
       {"models"})
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  only(app.add_option("--rows-per-frame", options->rows_per_frame, "ingest: rows a frame; several"),
       {"ingest"})
      ->delimiter(',')
      ->check(CLI::Range(1, 32'768));
  only(app.add_option(
           "--connections", options->connections,
           "ingest: that send; query, mixed, soak: that ask; several, but for mixed and soak"),
       {"ingest", "query", "mixed", "soak"})
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  only(app.add_option("--nonzeros", options->nonzeros,
                      "Sparse rows of so many; 0: dense, sparse 32"),
       {"ingest", "query", "mixed", "soak", "sparse"})
      ->check(CLI::Range(0, 1000));
  only(app.add_flag("--single-precision", options->single_precision,
                    "ingest: numbers of 4 bytes on the wire instead of 8"),
       {"ingest"});
  only(app.add_option("--shares", options->shares,
                      "query: ingest as a share of saturation, 1: as much as is taken; several"),
       {"query"})
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0));
  only(app.add_option("--chains", options->chains, "Chains of the learner"),
       {"ingest", "query", "mixed", "soak", "growth", "durable", "models"})
      ->check(CLI::Range(1, 1024));
  only(app.add_option("--seconds", options->seconds, "Measured time of a run"),
       {"step", "ingest", "query", "mixed", "growth", "durable", "models", "coming", "sparse"})
      ->check(CLI::Range(0.001, 1000.0));
  only(app.add_option("--minutes", options->minutes, "soak: how long"), {"soak"})
      ->check(CLI::Range(0.01, 100'000.0));
  only(app.add_option(
           "--rate", options->rate,
           "Rows a second; 0: ingest as many as are taken, mixed, soak and the questions of "
           "durable half of that; models 5,000 each, of more than 256 50"),
       {"ingest", "mixed", "soak", "durable", "models"})
      ->check(CLI::NonNegativeNumber);
  only(app.add_option("--query-rate", options->query_rate, "Questions a second"),
       {"query", "mixed", "soak", "durable", "coming"})
      ->check(CLI::Range(1.0, 1e6));
  only(app.add_option("--observations", options->observations, "growth: length of the stream"),
       {"growth"})
      ->check(CLI::Range(1e6, 1e10));
  only(app.add_option("--parts", options->parts, "durable: these of its parts; several"),
       {"durable"})
      ->delimiter(',')
      ->check(CLI::IsMember(durable_parts()));
  only(app.add_option("--window-rows", options->window_rows,
                      "durable: rows of the windows that a server starts with; several"),
       {"durable"})
      ->delimiter(',')
      ->check(CLI::Range(1000, 100'000'000));
  only(app.add_flag("--real-time", options->real_time,
                    "query: locked memory, the query thread pinned, FIFO for it and the one that "
                    "asks, as far as permitted; hostile, coming: FIFO for the one that asks; the "
                    "result says how far"),
       {"query", "hostile", "coming"});
  only(app.add_flag("--unix", options->unix_sockets,
                    "Unix-domain sockets instead of TCP over loopback"),
       {"ingest", "query"});
  app.add_option("--compare", options->compare, "An older result of --json, for ratios");
  only(app.add_option("--plot", options->plot, "query, growth: a picture into this directory"),
       {"query", "growth"});
  app.add_flag("--json", options->json, "One JSON object");
  add_examples(app, {{"windhover bench models --models 2 --dimension 3 --seconds 0.2 --json > "
                      "before.json",
                      "two models behind one server: rates, latencies, memory, as JSON"},
                     {"windhover bench models --models 2 --dimension 3 --seconds 0.2 --compare "
                      "before.json",
                      "the same as a table, and each figure over what it was before"}});
  app.callback([options, limited] {
    if (is_suite(options->suite)) refuse_unread(options->suite, *limited);
    for (const std::uint32_t dimension : options->dimensions) {
      if (options->suite == "sparse" || dimension <= kMostDense) continue;
      throw UserError(fmt::format("--dimension {} is for sparse alone; of {} at most {}", dimension,
                                  options->suite, kMostDense));
    }
    run(*options);
  });
}

}  // namespace windhover
