#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "windhover/samplers/registry.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/registry_table.h"
#include "windhover/tools/program/manual.h"

namespace windhover {

using nlohmann::ordered_json;

ordered_json samplers_json() {
  ordered_json out = ordered_json::array();
  for (const SamplerEntry& e : sampler_registry()) {
    out.push_back({{"name", e.name},
                   {"approximates", e.approximates},
                   {"cost_per_step", e.cost_per_step},
                   {"memory", e.memory},
                   {"source", e.source}});
  }
  return out;
}

ordered_json models_json() {
  ordered_json out = ordered_json::array();
  for (const ModelEntry& e : model_registry()) {
    out.push_back({{"name", e.name},
                   {"likelihood", e.likelihood},
                   {"cost_per_step", e.cost_per_step},
                   {"memory", e.memory},
                   {"source", e.source}});
  }
  return out;
}

std::string table_of(const ordered_json& entries) {
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& [key, value] : entries.front().items()) rows[0].push_back(key);
  for (const auto& entry : entries) {
    auto& row = rows.emplace_back();
    for (const auto& [key, value] : entry.items()) row.push_back(value.get<std::string>());
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

namespace {

void add_listing(CLI::App& app, const char* name, const char* help, ordered_json (*list)(),
                 const char* legend) {
  CLI::App* command = app.add_subcommand(name, help);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON array");
  add_examples(*command, {{fmt::format("windhover {}", name), "a table"},
                          {fmt::format("windhover {} --json", name), "the same for a script"}});
  command->callback([json, list, legend] {
    if (*json) {
      fmt::print("{}\n", list().dump(2));
    } else {
      fmt::print("{}\n{}\n", table_of(list()), legend);
    }
  });
}

}  // namespace

void add_samplers(CLI::App& app) {
  add_listing(
      app, "samplers",
      "List the samplers: what each approximates, at what cost, and where "
      "it comes from",
      samplers_json,
      "S rows of a minibatch, D parameters; cost in multiplications a step and chain, memory "
      "in doubles.");
}

void add_models(CLI::App& app) {
  add_listing(
      app, "models", "List the models: likelihood, cost, and where it comes from", models_json,
      "S rows, F features (sparse: nonzeros), D parameters; cost in multiplications, memory "
      "in doubles.");
}

}  // namespace windhover
