#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/io/server.h"
#include "windhover/platform/arena.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/daemon_config.h"

namespace windhover {
namespace {

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

void print(const char* part, Regions regions, std::size_t total) {
  fmt::print("{}\n", part);
  for (const Arena::Region& region : regions) {
    fmt::print("  {:<26} {:>14}  {:>10}\n", region.name, region.bytes,
               bytes_text(static_cast<double>(region.bytes)));
  }
  fmt::print("  {:<26} {:>14}  {:>10}\n", "together", total,
             bytes_text(static_cast<double>(total)));
}

void run_plan(const PlanOptions& o) {
  DaemonConfig config;
  config.read_file(o.path);
  config.check();
  Arena engine_arena = Arena::measuring();
  Arena server_arena = Arena::measuring();
  const std::size_t engine = value_or_refuse(Engine::plan(config.engine(), engine_arena));
  const std::size_t server =
      value_or_refuse(Server::plan(config.server(), config.engine(), server_arena));
  if (o.json) {
    const nlohmann::ordered_json out = {{"engine", to_json(engine_arena.regions())},
                                        {"engine_bytes", engine},
                                        {"server", to_json(server_arena.regions())},
                                        {"server_bytes", server},
                                        {"block_bytes", config.block_bytes()}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  print("engine", engine_arena.regions(), engine);
  print("server", server_arena.regions(), server);
  fmt::print("block                        {:>14}  {:>10}\n", config.block_bytes(),
             bytes_text(static_cast<double>(config.block_bytes())));
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("plan", "Show the memory block of a configuration, region by region");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("CONFIG", options->path, "TOML configuration of windhoverd")->required();
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options] { run_plan(*options); });
}

}  // namespace windhover
