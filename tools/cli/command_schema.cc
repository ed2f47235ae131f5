#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/samplers/registry.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/reading_options.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/schema_json.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/choose_model.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct SchemaOptions {
  std::string path;
  std::string schema;
  InspectOptions reading;
  bool names = false;
  bool json = false;
};

void run_schema(const SchemaOptions& o) {
  if (o.schema.empty() && (o.path.empty() || o.reading.target.empty())) {
    throw UserError(
        o.path.empty()
            ? "give a FILE with --target COLUMN, a FILE with a draft, or --schema FILE alone"
            : fmt::format("which column is to be predicted? Say --target COLUMN, or give a draft "
                          "with --schema; the columns of {} are {}",
                          o.path, fmt::join(columns_of(o.path, o.reading), ", ")));
  }
  std::string found;
  const Schema schema = [&] {
    if (!o.schema.empty()) {
      const Schema draft = Schema::from_file(o.schema);
      return o.path.empty() ? draft : draft.collected_from(o.path);
    }
    const Inspection inspection = inspect_and_choose(o.path, o.reading);
    found = describe_file(to_json(inspection), "# ");
    return inspection.schema;
  }();
  if (o.names) {
    fmt::print("{}", schema.description());
    fmt::print("features {}, at most {} nonzeros, fingerprint {:016x}\n", schema.features(),
               schema.max_nonzeros(), schema.fingerprint());
  } else if (o.json) {
    fmt::print("{}", to_json_text(schema));
  } else {
    fmt::print("{}{}{}", found, found.empty() ? "" : "\n", schema.to_toml());
  }
}

}  // namespace

void add_schema(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("schema", "Write a schema for a file, or complete a draft from it");
  auto options = std::make_shared<SchemaOptions>();
  SchemaOptions& o = *options;
  command->add_option("FILE", o.path, "CSV, plain or .gz; nothing: only read the schema");
  auto* draft = command->add_option("--schema", o.schema, "TOML schema, possibly a draft");
  command->add_option("--target", o.reading.target, "Column, by name or number from 1")
      ->excludes(draft);
  add_reading_options(*command, o.reading);
  std::vector<std::string> models;
  for (const ModelEntry& entry : model_registry()) models.emplace_back(entry.name);
  command
      ->add_option("--model", o.reading.model,
                   "Which the target is to be right for; kept in the schema where the target asks "
                   "for another. Nothing: of numbers what has predicted the file's rows best")
      ->check(CLI::IsMember(models));
  auto* names = command->add_flag("--names", o.names, "List the features instead");
  command->add_flag("--json", o.json, "The same as JSON, as a server's GET /v1/schema has it")
      ->excludes(names);
  add_examples(*command, {{"windhover schema house.csv --target price > S.toml",
                           "what the columns are, and how they become numbers"},
                          {"windhover schema house.csv --target price --names",
                           "the features that come of them"}});
  command->callback([options] { run_schema(*options); });
}

}  // namespace windhover
