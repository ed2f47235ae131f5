#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/kept/export_rows.h"
#include "windhover/tools/kept/kept_log.h"
#include "windhover/tools/kept/kept_text.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

constexpr std::uint64_t kDrawEvery = 256;  // frames

void verify_log(const std::string& path) {
  KeptFolder folder(path);
  const std::optional<LogIdentity> identity = folder.log_identity();
  if (!identity) throw UserError(path + " holds no log, only checkpoints");
  KeptLog log(folder, *identity, std::nullopt);
  const std::uint64_t first_frame = log.next_frame();
  Progress bar(false);
  LoggedFrame frame;
  std::span<const std::byte> payload;
  std::uint64_t frames = 0;
  std::uint64_t first_row = 0;
  std::uint64_t end = 0;
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t bytes = 0;
  std::set<std::uint64_t> producers;
  while (log.next(frame, payload)) {
    if (frames++ == 0) first_row = end = frame.head;
    if (frame.head != end) {
      throw RunError(fmt::format("{}: frame {} is of row {}, and {} was expected", path,
                                 frame.number, frame.head, end));
    }
    end = frame.head + frame.accepted;
    refused += frame.refused;
    duplicate += frame.duplicate;
    bytes += payload.size();
    if (frame.producer != 0) producers.insert(frame.producer);
    if (frames % kDrawEvery == 0) {
      bar.draw(static_cast<double>(bytes) / static_cast<double>(identity->options.bytes),
               "row " + grouped(end));
    }
  }
  fmt::print("{}: the log is good\n", path);
  fmt::print("{:<12} {}\n", "instance", id_text(identity->instance));
  fmt::print("{:<12} {}, from {} on\n", "frames", grouped(frames), grouped(first_frame));
  fmt::print("{:<12} {}, from {} on; {} were refused, {} sent again\n", "rows",
             grouped(end - first_row), grouped(first_row), grouped(refused), grouped(duplicate));
  fmt::print("{:<12} {}\n", "producers", grouped(producers.size()));
  fmt::print("{:<12} {} of rows, on disk {}\n", "bytes", bytes_text(static_cast<double>(bytes)),
             bytes_text(static_cast<double>(identity->options.bytes)));
}

struct ExportArguments {
  std::string folder;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  ExportOptions options;
};

void run_export(const ExportArguments& arguments) {
  KeptFolder folder(arguments.folder);
  Progress bar(false);
  std::uint64_t frames = 0;
  const double all = static_cast<double>(arguments.options.to.value_or(0));
  (void)export_rows(folder, arguments.options, stdout, [&](std::uint64_t row) {
    if (++frames % kDrawEvery != 0) return;
    bar.draw(all > 0 ? static_cast<double>(row) / all : 0, "row " + grouped(row));
  });
}

}  // namespace

void add_log(CLI::App& app) {
  CLI::App* log = app.add_subcommand("log", "Look into the log of a data folder");
  log->require_subcommand(1);

  CLI::App* verify =
      log->add_subcommand("verify", "Read all of it; exit code 1 where it is damaged");
  auto path = std::make_shared<std::string>();
  verify->add_option("FOLDER", *path, "Data folder, or a backup of one")->required();
  add_examples(*verify, {{"windhover log verify copy", "whether every byte is as it was written"}});
  verify->callback([path] { verify_log(*path); });

  CLI::App* rows = log->add_subcommand("export", "Write its rows as a CSV to standard output");
  auto arguments = std::make_shared<ExportArguments>();
  rows->add_option("FOLDER", arguments->folder, "Data folder, or a backup of one")->required();
  CLI::Option* from = rows->add_option("--from", arguments->from, "The first row; nothing: oldest")
                          ->transform(whole_number());
  CLI::Option* to = rows->add_option("--to", arguments->to, "One past the last row; nothing: all")
                        ->transform(whole_number());
  rows->add_option("--schema", arguments->options.schema, "TOML schema, for the names of columns");
  add_examples(*rows, {{"windhover log export copy --schema S.toml > rows.csv",
                        "the rows that were acknowledged, as CSV"}});
  rows->callback([arguments, from, to] {
    if (from->count() > 0) arguments->options.from = arguments->from;
    if (to->count() > 0) arguments->options.to = arguments->to;
    run_export(*arguments);
  });
}

}  // namespace windhover
