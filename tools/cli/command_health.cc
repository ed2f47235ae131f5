#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct HealthOptions {
  ServerOptions server;
  bool quiet = false;
};

constexpr int kDegraded = 1;
constexpr int kNotReady = 2;

int exit_code_of(PosteriorStatus status) {
  switch (status) {
    case PosteriorStatus::kOk:
      return 0;
    case PosteriorStatus::kDegraded:
    case PosteriorStatus::kDrifting:
      return kDegraded;
    case PosteriorStatus::kWarmingUp:
    case PosteriorStatus::kRecovering:
      return kNotReady;
  }
  return kNotReady;
}

struct Health {
  std::string model;
  Provenance provenance;
  v1::Reason log = v1::REASON_OK;  // otherwise why senders wait
};

// "price: ok", "price: degraded, misfit; senders wait, log_full"
std::string line_of(const Health& of) {
  std::string line = of.model + ": " + to_string(of.provenance.status);
  if (of.provenance.status != PosteriorStatus::kOk) {
    line += fmt::format(", {}", to_string(of.provenance.reason));
  }
  if (of.log != v1::REASON_OK) line += "; senders wait, " + reason_name(of.log);
  return line;
}

// The health of the model that was named, or of all models.
std::vector<Health> ask(const ServerOptions& server) {
  Client client;
  connect_or_throw(client, server);
  std::vector<Health> found;
  if (!server.model.empty()) {
    v1::StatusResult status;
    check_reply(client, client.status(status), "asking for the status");
    found.push_back(
        {server.model, provenance_of(status.provenance()), status.durable().log_status()});
    return found;
  }
  std::vector<v1::ModelState> states;
  check_reply(client, client.models(states), "asking for the models");
  for (const v1::ModelState& state : states) {
    found.push_back({state.name(), provenance_of(state.provenance()), state.log_status()});
  }
  return found;
}

void run_health(const HealthOptions& o) {
  std::vector<Health> models;
  try {
    models = ask(o.server);
  } catch (const RunError& error) {
    if (!o.quiet) fmt::print(stderr, "windhover: {}\n", error.what());
    throw EndWith{kNotReady};
  }
  int worst = models.empty() ? kNotReady : 0;
  for (const Health& of : models) {
    worst = std::max(worst, exit_code_of(of.provenance.status));
    if (of.log != v1::REASON_OK) worst = std::max(worst, kDegraded);
    if (!o.quiet) fmt::print("{}\n", line_of(of));
  }
  if (worst != 0) throw EndWith{worst};
}

}  // namespace

void add_health(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("health", "Say by the exit code how a server's posteriors stand");
  auto options = std::make_shared<HealthOptions>();
  add_server_options(*command, options->server);
  command->add_flag("--quiet", options->quiet, "Print nothing");
  add_exit_codes(*command,
                 "0: every model, or the one of --model, is ok. 1: one is degraded or drifting, "
                 "or senders to it wait for its log. 2: one is warming up or recovering, or the "
                 "server cannot be reached, or the request "
                 "itself is wrong.");
  add_examples(*command, {{"windhover health --to 127.0.0.1:7172", "a line for each model"},
                          {"windhover health --to 127.0.0.1:7172 --quiet || echo \"look at it\"",
                           "for a script or a monitor: the exit code alone"}});
  command->callback([options] { run_health(*options); });
}

}  // namespace windhover
