#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "windhover/io/durable/error_text.h"
#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_folder.h"
#include "windhover/tools/kept/kept_text.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

constexpr std::chrono::milliseconds kBetweenQuestions{100};
constexpr std::size_t kProducersShown = 20;

struct FolderOptions {
  std::string folder;
  std::uint64_t number = 0;  // 0: the newest
  bool json = false;
};

std::string size_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

// --- take

v1::TakeCheckpointResult ask_for(Client& client, std::uint64_t number) {
  v1::Request request;
  request.mutable_take_checkpoint()->set_request(number);
  v1::Response response;
  check_reply(client, client.send(request), "asking for a checkpoint");
  check_reply(client, client.receive(response), "asking for a checkpoint");
  if (response.has_take_checkpoint_result()) return response.take_checkpoint_result();
  if (response.refusal().reason() == v1::REASON_UNSUPPORTED) {
    throw RunError("the server keeps no folder (data.folder), so there is no checkpoint to take");
  }
  if (response.refusal().reason() == v1::REASON_NOT_PERMITTED) {
    throw RunError("the server refuses: taking a checkpoint needs the role admin");
  }
  throw RunError("the server was started anew and knows nothing of the checkpoint asked for");
}

void run_take(const ServerOptions& server) {
  Client client;
  connect_or_throw(client, server);
  v1::TakeCheckpointResult result = ask_for(client, 0);
  v1::StatusResult status;
  {
    Progress bar(false);
    while (!result.answered()) {
      check_reply(client, client.status(status), "asking for the status");
      const std::uint64_t coming = status.durable().recovering_through();
      const auto there = static_cast<double>(status.provenance().sequence());
      bar.draw(coming > 0 ? there / static_cast<double>(coming) : 0,
               coming > 0 ? "rows come back first" : "the checkpoint is being taken");
      std::this_thread::sleep_for(kBetweenQuestions);
      result = ask_for(client, result.request());
    }
  }
  check_reply(client, client.status(status), "asking for the status");
  const v1::Durable& durable = status.durable();
  if (result.status() != v1::REASON_OK) {
    throw RunError("no checkpoint: " + failure_text(result.status(), durable.checkpoint_errno()));
  }
  fmt::print("checkpoint at row {}, in {}\n", grouped(durable.checkpoint_head()),
             duration_text(static_cast<double>(durable.checkpoint_lasted_ns())));
}

// --- list, verify

ordered_json facts_json(std::uint64_t number, const CheckpointFacts& facts) {
  return {{"number", number},
          {"head", facts.head},
          {"frames", facts.frames},
          {"time_ns", facts.time_ns},
          {"body_bytes", facts.body_bytes},
          {"instance_id", id_text(facts.instance)},
          {"fingerprint", id_text(facts.fingerprint)}};
}

std::vector<std::uint64_t> numbers_or_refuse(KeptFolder& folder) {
  std::vector<std::uint64_t> numbers = folder.checkpoints();
  if (numbers.empty()) throw UserError(folder.path() + " holds no checkpoint, only a log");
  return numbers;
}

void run_list(const FolderOptions& o) {
  KeptFolder folder(o.folder);
  ordered_json all = ordered_json::array();
  if (!o.json) {
    fmt::print("{:>8} {:>16} {:>14}  {:<19} {:>10}\n", "number", "rows", "frames", "taken (UTC)",
               "size");
  }
  for (const std::uint64_t number : numbers_or_refuse(folder)) {
    const Result<CheckpointFacts> facts = folder.peek(number);
    if (facts.status() == Status::kUnavailable) continue;  // a newer one has taken its place
    if (o.json) {
      all.push_back(facts.ok()
                        ? facts_json(number, facts.value())
                        : ordered_json{{"number", number}, {"error", error_text(facts.error())}});
    } else if (facts.ok()) {
      const CheckpointFacts& f = facts.value();
      fmt::print("{:>8} {:>16} {:>14}  {:<19} {:>10}\n", number, grouped(f.head), grouped(f.frames),
                 time_text(f.time_ns), size_text(f.body_bytes));
    } else {
      fmt::print("{:>8} {}\n", number, error_text(facts.error()));
    }
  }
  if (o.json) fmt::print("{}\n", all.dump(2));
}

// Why it is bad; empty: every byte of it is good.
std::string fault_of(KeptFolder& folder, std::uint64_t number) {
  Result<CheckpointReader> reader = folder.open(number);
  if (!reader.ok()) return error_text(reader.error());
  try {
    (void)read_contents(reader.value());
  } catch (const RunError& error) {
    return error.what();
  }
  return {};
}

void verify_all(const FolderOptions& o) {
  KeptFolder folder(o.folder);
  std::size_t bad = 0;
  const std::vector<std::uint64_t> numbers = numbers_or_refuse(folder);
  for (const std::uint64_t number : numbers) {
    const std::string fault = fault_of(folder, number);
    if (!fault.empty()) ++bad;
    fmt::print("{}: {}\n", KeptFolder::checkpoint_name(number), fault.empty() ? "good" : fault);
  }
  if (bad > 0) {
    throw RunError(fmt::format("{} of {} checkpoints cannot be used", bad, numbers.size()));
  }
}

// --- show

ordered_json contents_json(const CheckpointContents& contents) {
  ordered_json out;
  const checkpoint::Header& header = contents.header;
  out["engine"] = {{"format_version", header.version},
                   {"fingerprint", id_text(header.fingerprint)},
                   {"first_row", header.first},
                   {"head", header.head},
                   {"learned", header.lease}};
  for (const auto& field : contents.configuration) out["configuration"][field.name] = field.value;
  out["sections"] = ordered_json::array();
  for (const auto& s : contents.sections) {
    out["sections"].push_back({{"name", s.name},
                               {"version", s.version},
                               {"count", s.count},
                               {"bytes", s.bytes},
                               {"rows", s.rows}});
  }
  out["producers"] = ordered_json::array();
  for (const auto& [producer, next] : contents.producers) {
    out["producers"].push_back({{"producer", producer}, {"next", next}});
  }
  return out;
}

void print_contents(const CheckpointContents& contents) {
  const checkpoint::Header& header = contents.header;
  fmt::print("{:<14} format {}; rows {} to {} lie in it, {} had been learned\n", "engine",
             header.version, grouped(header.first), grouped(header.head), grouped(header.lease));
  fmt::print("\n{:<40} {:>8} {:>8} {:>12}\n", "section", "version", "pieces", "size");
  for (const auto& s : contents.sections) {
    fmt::print("{:<40} {:>8} {:>8} {:>12}\n", s.name, s.version, s.count, size_text(s.bytes));
  }
  fmt::print("\n");
  for (const auto& field : contents.configuration) {
    fmt::print("{:<40} {}\n", field.name, field.value);
  }
  fmt::print("\n{} producers\n", grouped(contents.producers.size()));
  std::size_t shown = 0;
  for (const auto& [producer, next] : contents.producers) {
    if (shown++ == kProducersShown) {
      fmt::print("  and {} more: --json lists all\n",
                 grouped(contents.producers.size() - kProducersShown));
      break;
    }
    fmt::print("  producer {} goes on with its row {}\n", producer, next);
  }
}

void run_show(const FolderOptions& o) {
  KeptFolder folder(o.folder);
  const std::uint64_t number = o.number != 0 ? o.number : numbers_or_refuse(folder).back();
  const std::string name = KeptFolder::checkpoint_name(number);
  Result<CheckpointReader> reader = folder.open(number);
  if (reader.status() == Status::kUnavailable) {
    throw UserError(fmt::format("{} has no checkpoint {}; `windhover checkpoint list` has them",
                                o.folder, number));
  }
  if (!reader.ok()) throw RunError(folder.sentence(name, reader.error()));
  const CheckpointFacts facts = reader.value().facts();
  const CheckpointContents contents = read_contents(reader.value());
  if (o.json) {
    ordered_json out = facts_json(number, facts);
    out.update(contents_json(contents));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{}\n", name);
  fmt::print("{:<14} {}\n", "rows", grouped(facts.head));
  fmt::print("{:<14} {} of the log are in it\n", "frames", grouped(facts.frames));
  fmt::print("{:<14} {} UTC\n", "taken", time_text(facts.time_ns));
  fmt::print("{:<14} {}\n", "size", size_text(facts.body_bytes));
  fmt::print("{:<14} {}\n", "instance", id_text(facts.instance));
  fmt::print("{:<14} {}\n", "fingerprint", id_text(facts.fingerprint));
  print_contents(contents);
}

CLI::App* add_folder_command(CLI::App& group, const char* name, const char* help, bool json,
                             void (*run)(const FolderOptions&),
                             const std::shared_ptr<FolderOptions>& options) {
  CLI::App* command = group.add_subcommand(name, help);
  command->add_option("FOLDER", options->folder, "Data folder, or a backup of one")->required();
  if (json) command->add_flag("--json", options->json, "As JSON");
  command->callback([options, run] { run(*options); });
  return command;
}

}  // namespace

void add_checkpoint(CLI::App& app) {
  CLI::App* group =
      app.add_subcommand("checkpoint", "Take a checkpoint, or look into those of a folder");
  group->require_subcommand(1);
  CLI::App* take = group->add_subcommand("take", "Have a server take one now, and wait for it");
  auto server = std::make_shared<ServerOptions>();
  add_server_options(*take, *server);
  add_examples(*take, {{"windhover checkpoint take --to 127.0.0.1:7172",
                        "so that a restart now has little to learn again"}});
  take->callback([server] { run_take(*server); });

  add_folder_command(*group, "list", "The checkpoints of a data folder", true, &run_list,
                     std::make_shared<FolderOptions>());
  add_folder_command(*group, "verify", "Read every byte of each; exit code 1 where one is bad",
                     false, &verify_all, std::make_shared<FolderOptions>());
  add_examples(*group->get_subcommand("list"),
               {{"windhover checkpoint list data", "which there are, and whether they are good"}});
  auto options = std::make_shared<FolderOptions>();
  add_folder_command(*group, "show", "What one holds: producers, configuration, sections", true,
                     &run_show, options)
      ->add_option("NUMBER", options->number, "As `list` has it; nothing: the newest")
      ->transform(whole_number());
}

}  // namespace windhover
