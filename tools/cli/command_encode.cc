#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/manual.h"
#include "windhover/tools/cli/say.h"
#include "windhover/tools/data/encode_file.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

struct EncodeOptions {
  std::string path;
  std::string schema;
  bool questions = false;
  bool allow_skipped = false;
};

void write_lines(std::string_view lines) {
  if (std::fwrite(lines.data(), 1, lines.size(), stdout) != lines.size() ||
      std::fflush(stdout) != 0) {
    throw RunError("the rows cannot be written to standard output");
  }
}

void run_encode(const EncodeOptions& o) {
  EncodeFile file;
  file.path = o.path;
  file.use = o.questions ? RowUse::kQuestion : RowUse::kObservation;
  file.on_lines = write_lines;
  file.on_skipped = [](const std::string& text) { say("skipped", text); };
  const EncodeReport report = encode_file(Schema::from_file(o.schema), file);
  if (o.allow_skipped) return;
  const std::string trouble = report.trouble(o.path == "-" ? "standard input" : o.path);
  if (!trouble.empty()) throw RunError(trouble);
}

}  // namespace

void add_encode(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("encode", "Write a file's rows as the numbers that a model gets");
  auto options = std::make_shared<EncodeOptions>();
  EncodeOptions& o = *options;
  command->add_option("FILE", o.path, "CSV, plain or .gz; -: standard input")->required();
  command->add_option("--schema", o.schema, "TOML schema")->required();
  command->add_flag("--questions", o.questions, "Rows are questions, which have no target");
  command->add_flag("--allow-skipped", o.allow_skipped,
                    "End with 0 though rows have cells that cannot be read");
  add_examples(*command, {{"windhover encode house.csv --schema S.toml",
                           "CSV: the number of each row, its target, and its features"},
                          {"windhover encode - --schema S.toml --questions < questions.csv",
                           "what a question becomes"}});
  command->callback([options] { run_encode(*options); });
}

}  // namespace windhover
