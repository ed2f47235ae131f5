#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/tools/commands.h"
#include "windhover/tools/schema.h"

namespace windhover {
namespace {

struct Options {
  std::string path;
  std::string schema;
  bool names = false;
};

void run(const Options& o) {
  Schema schema = Schema::from_file(o.schema);
  if (!o.path.empty()) schema = schema.collected_from(o.path);
  if (o.names) {
    fmt::print("{}", schema.description());
    fmt::print("features {}, at most {} nonzeros, fingerprint {:016x}\n", schema.features(),
               schema.max_nonzeros(), schema.fingerprint());
  } else {
    fmt::print("{}", schema.to_toml());
  }
}

}  // namespace

void add_schema(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "schema", "Complete a draft schema from a file: categories, shifts and scales");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->path, "CSV, plain or .gz; nothing: only read the schema");
  command->add_option("--schema", options->schema, "TOML schema, possibly a draft")->required();
  command->add_flag("--names", options->names, "List the features instead");
  command->callback([options] { run(*options); });
}

}  // namespace windhover
