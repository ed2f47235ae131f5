// The models of a server: which there are, how each stands, and what an operator changes about one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/client/score_text.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct ModelCommand {
  ServerOptions server;
  std::string by;
  bool json = false;
};

nlohmann::ordered_json to_json(const v1::ModelState& state) {
  nlohmann::ordered_json out = {
      {"name", state.name()},           {"features", state.features()},
      {"dimension", state.dimension()}, {"head", state.head()},
      {"follows", state.follows()},     {"answered_by", state.answered_by()},
      {"paused", state.paused()},       {"log_status", reason_name(state.log_status())}};
  out["provenance"] = windhover::to_json(provenance_of(state.provenance()));
  if (state.has_score()) out["score"] = windhover::to_json(state.score());
  return out;
}

// What the columns of numbers do not say: reason, pause, who follows and who answers.
std::string remarks(const v1::ModelState& state, const Provenance& provenance) {
  std::string text;
  if (provenance.reason != StatusReason::kNone) text += to_string(provenance.reason);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (state.log_status() != v1::REASON_OK) add("senders wait: " + reason_name(state.log_status()));
  if (state.paused()) add("paused");
  if (!state.follows().empty()) add("follows " + state.follows());
  if (state.answered_by() != state.name()) add("answered by " + state.answered_by());
  return text;
}

void print(const std::vector<v1::ModelState>& states) {
  std::size_t width = 5;
  for (const v1::ModelState& state : states) width = std::max(width, state.name().size());
  fmt::print("{:<{}} {:>12} {:>12} {:>9} {:>10} {:>9} {:>7}  {:<10} {}\n", "model", width, "rows",
             "in memory", "draws/row", "age", "log score", "90 % in", "status", "");
  for (const v1::ModelState& state : states) {
    const Provenance p = provenance_of(state.provenance());
    const bool scored = state.has_score() && state.score().rows() > 0;
    fmt::print("{:<{}} {:>12} {:>12} {:>9.2f} {:>10} {:>9} {:>7}  {:<10} {}\n", state.name(), width,
               state.head(), p.n_eff, p.draws_per_observation,
               duration_text(static_cast<double>(p.age_ns)),
               scored ? fmt::format("{:.4f}", state.score().log_score()) : "-",
               scored ? fmt::format("{:.1f}", 100 * state.score().coverage_90()) : "-",
               to_string(p.status), remarks(state, p));
  }
}

void run_list(const ModelCommand& o) {
  Client client;
  connect_or_throw(client, o.server);
  std::vector<v1::ModelState> states;
  check_reply(client, client.models(states), "asking for the models");
  if (!o.json) return print(states);
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const v1::ModelState& state : states) out.push_back(to_json(state));
  fmt::print("{}\n", out.dump(2));
}

void change(const ModelCommand& o, const v1::ChangeModel& change) {
  Client client;
  connect_or_throw(client, o.server);
  v1::ModelState state;
  const Status status = client.change_model(change, state);
  if (client.refusal() == v1::REASON_UNKNOWN_MODEL) {
    throw UserError(fmt::format("--by {}: the server has no such model", o.by));
  }
  if (client.refusal() == v1::REASON_INVALID_ARGUMENT) {
    throw UserError(
        fmt::format("--by {}: it does not follow {}", o.by, client.welcome().model_name()));
  }
  check_reply(client, status, "changing the model");
  if (o.json) {
    fmt::print("{}\n", to_json(state).dump(2));
  } else {
    print({state});
  }
}

void run_pause(const ModelCommand& o) {
  v1::ChangeModel pause;
  pause.set_pause(v1::PAUSE_CHANGE_PAUSE);
  change(o, pause);
}
void run_resume(const ModelCommand& o) {
  v1::ChangeModel resume;
  resume.set_pause(v1::PAUSE_CHANGE_GO_ON);
  change(o, resume);
}
void run_answer(const ModelCommand& o) {
  v1::ChangeModel answer;
  answer.set_answered_by(o.by);
  change(o, answer);
}

std::shared_ptr<ModelCommand> add(CLI::App& group, const char* name, const char* help,
                                  void (*run)(const ModelCommand&)) {
  CLI::App* command = group.add_subcommand(name, help);
  auto options = std::make_shared<ModelCommand>();
  add_server_options(*command, options->server);
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, run] { run(*options); });
  return options;
}

}  // namespace

void add_model(CLI::App& app) {
  CLI::App* group = app.add_subcommand("model", "The models of a server, and changes to one");
  group->require_subcommand(1);
  add(*group, "list", "Which there are, and how each stands", &run_list);
  add(*group, "pause", "One learns nothing: answers stay what they are, rows wait", &run_pause);
  add(*group, "resume", "One that is paused goes on", &run_resume);
  add_examples(*group->get_subcommand("list"),
               {{"windhover model list --to 127.0.0.1:7172", "the models, and how each stands"}});
  add_examples(*group->get_subcommand("pause"),
               {{"windhover model pause --to 127.0.0.1:7172 --model default",
                 "while a stream brings what must not be learned"}});
  add_examples(*group->get_subcommand("resume"),
               {{"windhover model resume --to 127.0.0.1:7172 --model default", "it goes on"}});
  const auto answer =
      add(*group, "answer", "Another one's posterior answers for it from now on", &run_answer);
  group->get_subcommand("answer")
      ->add_option("--by", answer->by, "The model itself, or one that follows it")
      ->required();
  add_host_model(*group);
}

}  // namespace windhover
