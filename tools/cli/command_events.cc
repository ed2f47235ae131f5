#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/event_text.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct EventsOptions {
  ServerOptions server;
  bool json = false;
};

void run_events(const EventsOptions& o) {
  Client client;
  connect_or_throw(client, o.server);
  std::vector<Event> events;
  check_reply(client, client.events(events), "asking for the events");
  if (o.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Event& event : events) out.push_back(to_json(event));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  for (const Event& event : events) fmt::print("{}\n", event_line(event));
}

}  // namespace

void add_events(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("events", "List what has happened to a server's model lately");
  auto options = std::make_shared<EventsOptions>();
  add_server_options(*command, options->server);
  command->add_flag("--json", options->json, "One JSON array");
  add_examples(*command,
               {{"windhover events --to 127.0.0.1:7172",
                 "changes of status, drift with its time, restarts: the newest 64, oldest first"},
                {"windhover events --to 127.0.0.1:7172 --json",
                 "the same with all numbers, for a program"}});
  command->callback([options] { run_events(*options); });
}

}  // namespace windhover
