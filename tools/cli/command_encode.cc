#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/data/encode_file.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/say.h"

namespace windhover {
namespace {

struct EncodeOptions {
  std::string path;
  std::string schema;
  bool frame = false;
  bool questions = false;
  bool allow_skipped = false;
};

void write_lines(std::string_view lines) {
  if (std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() &&
      std::fflush(stdout) == 0) {
    return;
  }
  if (errno == EPIPE) throw EndWith{0};  // nobody wants the rest
  throw RunError(fmt::format("the rows cannot be written to standard output: {}",
                             std::system_category().message(errno)));
}

// A frame has commas, quotes and a line of names, whatever the schema says of files; how its texts
// write numbers stays.
Schema of_frames(const Schema& schema) {
  SchemaParts parts = schema.parts();
  parts.table = {.by_number = false};
  return Schema(std::move(parts));
}

void run_encode(const EncodeOptions& o) {
  EncodeFile file;
  file.path = o.path;
  file.use = o.questions ? RowUse::kQuestion : RowUse::kObservation;
  file.on_lines = write_lines;
  file.on_skipped = [](const std::string& text) { say("skipped", text); };
  const Schema schema = Schema::from_file(o.schema);
  const EncodeReport report = encode_file(o.frame ? of_frames(schema) : schema, file);
  if (o.frame)
    fmt::print(stderr, "encoded {} of {} rows\n", report.rows - report.skipped, report.rows);
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
  command->add_flag("--frame", o.frame,
                    "It is a program's data frame: with commas, quotes and a line of names, which "
                    "alone name columns, whatever the schema says of files; ends with a count");
  command->add_flag("--questions", o.questions, "Rows are questions, which have no target");
  command->add_flag("--allow-skipped", o.allow_skipped,
                    "End with 0 though rows that a schema with missing = \"skip\" skips have cells "
                    "that cannot be read");
  add_examples(*command, {{"windhover encode house.csv --schema S.toml",
                           "CSV: the number of each row, its target, and its features"},
                          {"windhover encode - --schema S.toml --questions < questions.csv",
                           "what a question becomes"}});
  command->callback([options] { run_encode(*options); });
}

}  // namespace windhover
