#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string_view>

#include "windhover/io/producer_table.h"
#include "windhover/io/server.h"
#include "windhover/io/tls/tls_memory.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/window/packed_rows.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/daemon_models.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

constexpr std::uint64_t kBytesAPair = 16;  // a producer and its next row, in a checkpoint

struct PlanOptions {
  std::string path;
  bool json = false;
};

using Regions = std::span<const Arena::Region>;

nlohmann::ordered_json to_json(Regions regions) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Arena::Region& region : regions) out[region.name] = region.bytes;
  return out;
}

void print_line(std::string_view what, std::size_t bytes) {
  fmt::print("{:<28} {:>14}  {:>10}\n", what, bytes, bytes_text(static_cast<double>(bytes)));
}

void print(const char* part, Regions regions, std::size_t total) {
  fmt::print("{}\n", part);
  for (const Arena::Region& region : regions) {
    fmt::print("  {:<26} {:>14}  {:>10}\n", region.name, region.bytes,
               bytes_text(static_cast<double>(region.bytes)));
  }
  fmt::print("  {:<26} {:>14}  {:>10}\n", "together", total,
             bytes_text(static_cast<double>(total)));
}

struct DiskPlan {
  std::uint64_t log = 0;
  std::uint64_t checkpoint = 0;  // at most
  // Two are kept while the next is written.
  std::uint64_t checkpoints() const { return 3 * checkpoint; }
};

DiskPlan disk_of(const DaemonConfig& config, Regions engine_regions) {
  const ServerConfig server = config.server();
  DiskPlan plan;
  if (!server.durable.enabled()) return plan;
  if (server.durable.log) plan.log = server.durable.log_options.bytes;
  const EngineConfig engine = with_defaults(config.engine());
  const PackedRows rows{RowLayout(engine.model)};
  plan.checkpoint =
      rows.largest() * rows_in_memory(engine) +
      kBytesAPair * ProducerTable::most_shown(server.max_producers, owners_of(server));
  for (const Arena::Region& region : engine_regions) {
    if (std::string_view(region.name) == "checkpoint") plan.checkpoint += region.bytes;
  }
  return plan;
}

void print(const DiskPlan& disk) {
  const auto line = [](const char* what, std::uint64_t bytes) {
    fmt::print("  {:<26} {:>14}  {:>10}\n", what, bytes, bytes_text(static_cast<double>(bytes)));
  };
  fmt::print("disk\n");
  line("log", disk.log);
  line("checkpoints, at most", disk.checkpoints());
  line("together", disk.log + disk.checkpoints());
}

nlohmann::ordered_json to_json(const DaemonModels::Model& model) {
  Arena arena = Arena::measuring();
  const std::size_t bytes = value_or_refuse(Engine::plan(model.config->engine(), arena));
  const DiskPlan disk = disk_of(*model.config, arena.regions());
  return {{"name", model.name},
          {"horizon", to_string(model.config->engine().horizon)},
          {"horizon_chosen", model.config->chooses_horizon()},
          {"engine", to_json(arena.regions())},
          {"engine_bytes", bytes},
          {"disk_log_bytes", disk.log},
          {"disk_checkpoints_bytes", disk.checkpoints()}};
}

void print(const DaemonModels& models, Regions server, std::size_t server_bytes) {
  DiskPlan disk;
  for (const DaemonModels::Model& model : models.all()) {
    Arena arena = Arena::measuring();
    const std::size_t bytes = value_or_refuse(Engine::plan(model.config->engine(), arena));
    const DiskPlan of_model = disk_of(*model.config, arena.regions());
    disk.log += of_model.log;
    disk.checkpoint += of_model.checkpoint;
    if (models.several()) {
      print_line(model.name, bytes);
    } else {
      fmt::print("{}\n", horizon_text(*model.config));
      print("engine", arena.regions(), bytes);
    }
  }
  print("server", server, server_bytes);
  print_line("block", models.block_bytes());
  const std::size_t tls = tls_memory_bytes(models.common().server());
  if (tls > 0) print_line("OpenSSL's, beside it", tls);
  if (disk.checkpoint > 0) print(disk);
}

void run_plan(const PlanOptions& o) {
  const DaemonModels models([&](DaemonConfig& config) { config.read_file(o.path); });
  Arena arena = Arena::measuring();
  const std::size_t server =
      value_or_refuse(Server::plan(models.common().server(), models.planned(), arena));
  if (!o.json) return print(models, arena.regions(), server);
  nlohmann::ordered_json out;
  std::uint64_t log = 0;
  std::uint64_t checkpoints = 0;
  for (const DaemonModels::Model& model : models.all()) {
    const nlohmann::ordered_json& one = out["models"].emplace_back(to_json(model));
    log += one.at("disk_log_bytes").get<std::uint64_t>();
    checkpoints += one.at("disk_checkpoints_bytes").get<std::uint64_t>();
  }
  out["server"] = to_json(arena.regions());
  out["server_bytes"] = server;
  out["block_bytes"] = models.block_bytes();
  out["tls_bytes"] = tls_memory_bytes(models.common().server());
  out["disk_log_bytes"] = log;
  out["disk_checkpoints_bytes"] = checkpoints;
  fmt::print("{}\n", out.dump(2));
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plan",
      "Show what a configuration takes: memory, region by region or model by model, and disk");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("CONFIG", options->path, "TOML configuration of windhoverd")->required();
  command->add_flag("--json", options->json, "One JSON object");
  add_examples(*command,
               {{"windhover plan windhoverd.toml", "what that server will take of memory and disk"},
                {"windhover plan windhoverd.toml --json", "the same for a script"}});
  command->callback([options] { run_plan(*options); });
}

}  // namespace windhover
