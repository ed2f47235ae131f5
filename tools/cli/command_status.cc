#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/cli/watch_status.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/client/score_text.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct StatusOptions {
  ServerOptions server;
  bool json = false;
  bool watch = false;
  double every = 1;
  std::uint64_t times = 0;
};

nlohmann::ordered_json latency_json(const v1::HandlerLatency& l) {
  return {{"count", l.count()},
          {"p50_ns", l.p50_ns()},
          {"p99_ns", l.p99_ns()},
          {"p999_ns", l.p999_ns()},
          {"max_ns", l.max_ns()}};
}

void print_latency(const char* name, const v1::HandlerLatency& l) {
  if (l.count() == 0) return;
  const auto text = [](std::int64_t ns) { return duration_text(static_cast<double>(ns)); };
  fmt::print("{:<28} {} questions, p50 {}, p99 {}, p99.9 {}, longest {}\n", name, l.count(),
             text(l.p50_ns()), text(l.p99_ns()), text(l.p999_ns()), text(l.max_ns()));
}

// Engine and server both count rows: what came to this model, and what came to all of them.
void print_counters(const char* whose, const auto& counters) {
  fmt::print("\n{}\n", whose);
  for (const v1::Counter& c : counters) fmt::print("  {:<26} {}\n", c.label(), c.value());
}

// While the server is full, the place it keeps for operators may be taken for a moment.
void connect_in_a_crowd(Client& client, const ServerOptions& server) {
  constexpr int kAttempts = 60;
  for (int i = 0; i < kAttempts; ++i) {
    if (client.connect(server.address, client_options_of(server)) != Status::kUnavailable ||
        client.refusal() != v1::REASON_UNAVAILABLE) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (!client.connected()) connect_or_throw(client, server);
}

void run_status(const StatusOptions& o) {
  if (o.watch) return watch_status(o.server, o.every, o.times);
  Client client;
  connect_in_a_crowd(client, o.server);
  v1::StatusResult s;
  check_reply(client, client.status(s), "asking for the status");
  const Provenance provenance = provenance_of(s.provenance());
  const bool paused = is_paused(client);
  if (o.json) {
    nlohmann::ordered_json out = {{"head", s.head()},
                                  {"uptime_ns", s.uptime_ns()},
                                  {"observe_sessions", s.observe_sessions()},
                                  {"query_sessions", s.query_sessions()},
                                  {"footprint_bytes", s.footprint_bytes()},
                                  {"resident_bytes", s.resident_bytes()},
                                  {"durable", durable_json(s.durable())},
                                  {"paused", paused},
                                  {"provenance", to_json(provenance)},
                                  {"observe_latency", latency_json(s.observe_latency())},
                                  {"query_latency", latency_json(s.query_latency())}};
    for (const v1::PredictionScore& score : s.scores()) {
      out["scores"].push_back(windhover::to_json(score));
    }
    for (const v1::Counter& c : s.runtime_counters()) out["runtime"][c.label()] = c.value();
    for (const v1::Counter& c : s.io_counters()) out["io"][c.label()] = c.value();
    fmt::print("{}\n", out.dump(2));
    return;
  }
  // First, because answers may be good while senders wait.
  const std::string waiting = waiting_text(s.durable());
  if (!waiting.empty()) fmt::print("{}\n", waiting);
  fmt::print("{}\n", describe(provenance));
  if (paused) {
    fmt::print("paused: it learns nothing, and its rows wait, until `windhover model resume`\n");
  }
  fmt::print("\n");
  fmt::print("{:<28} {}\n", "observations accepted", s.head());
  fmt::print("{:<28} {}\n", "up for", duration_text(static_cast<double>(s.uptime_ns())));
  fmt::print("{:<28} {} observe, {} query\n", "connections", s.observe_sessions(),
             s.query_sessions());
  fmt::print("{:<28} {} in its blocks, {} resident\n", "memory",
             bytes_text(static_cast<double>(s.footprint_bytes())),
             bytes_text(static_cast<double>(s.resident_bytes())));
  fmt::print("{:<28} {}\n", "producers known", s.durable().producers_known());
  for (const std::string& line : durable_lines(s.durable(), s.head())) fmt::print("{}\n", line);
  for (const std::string& line : score_lines(s)) fmt::print("{}\n", line);
  print_latency("observe endpoint", s.observe_latency());
  print_latency("query endpoint", s.query_latency());
  print_counters("counters of this model's engine", s.runtime_counters());
  print_counters("counters of the server", s.io_counters());
}

}  // namespace

void add_status(CLI::App& app) {
  CLI::App* command = app.add_subcommand("status", "Show a server's state and counters");
  auto options = std::make_shared<StatusOptions>();
  add_server_options(*command, options->server);
  CLI::Option* json = command->add_flag("--json", options->json, "One JSON object");
  CLI::Option* watch =
      command->add_flag("--watch", options->watch, "A line a second instead, until it is ended")
          ->excludes(json);
  command->add_option("--every", options->every, "With --watch: seconds from one line to the next")
      ->check(CLI::Range(0.1, 3600.0))
      ->needs(watch)
      ->capture_default_str();
  command
      ->add_option("--times", options->times, "With --watch: so many lines; 0: until it is ended")
      ->transform(whole_number())
      ->needs(watch);
  add_examples(*command, {{"windhover status --to 127.0.0.1:7172",
                           "what it has seen, how well it keeps up, what of it is on disk"},
                          {"windhover status --to 127.0.0.1:7172 --watch --every 0.5 --times 3",
                           "a line each half a second, three of them"}});
  command->callback([options] { run_status(*options); });
}

}  // namespace windhover
