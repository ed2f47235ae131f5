#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/kept/copy_history.h"
#include "windhover/tools/kept/kept_text.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct FolderPair {
  std::string from;
  std::string to;
  std::uint64_t to_row = 0;
  bool without_log = false;
  std::optional<std::uint64_t> log_bytes;  // none: unchanged
  std::optional<std::uint64_t> segment_bytes;
};

void add_folders(CLI::App& command, FolderPair& folders) {
  command.add_option("FOLDER", folders.from, "Data folder, or a backup of one")->required();
  command.add_option("DEST", folders.to, "The folder that is made")->required();
}

void print_report(const CopyReport& report, const std::string& to) {
  for (const std::string& remark : report.remarks) fmt::print(stderr, "{}\n", remark);
  fmt::print("{}: {} rows: checkpoint {} at row {}", to, grouped(report.rows), report.checkpoint,
             grouped(report.checkpoint_head));
  if (report.has_log) fmt::print(" and {} frames of the log", grouped(report.frames));
  fmt::print("; instance {}\n", id_text(report.instance));
}

CopyReport copy_folder(const FolderPair& folders, const CopyOptions& options) {
  Progress bar(false);
  KeptFolder from(folders.from);
  return copy_history(from, folders.to, options,
                      [&](double part, const std::string& text) { bar.draw(part, text); });
}

void run_backup(const FolderPair& folders) { print_report(copy_folder(folders, {}), folders.to); }

void run_restore(const FolderPair& folders, std::optional<std::uint64_t> to_row) {
  const CopyReport report = copy_folder(folders, {.to_row = to_row,
                                                  .new_instance = true,
                                                  .without_log = folders.without_log,
                                                  .log_bytes = folders.log_bytes,
                                                  .segment_bytes = folders.segment_bytes});
  print_report(report, folders.to);
  for (const auto& [producer, next] : report.producers) {
    fmt::print("producer {} goes on with its row {}\n", producer, next);
  }
}

}  // namespace

void add_backup(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "backup",
      "Copy a data folder, also beside a daemon at work: newest checkpoint, log after it");
  auto folders = std::make_shared<FolderPair>();
  add_folders(*command, *folders);
  add_examples(
      *command,
      {{"windhover backup data copy", "a copy of what a server keeps, while it is at work"},
       {"windhover backup data \"$(date +%F)\"", "one a day, in a folder of its own"}});
  command->callback([folders] { run_backup(*folders); });
}

void add_restore(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "restore", "Make a data folder from another one or a backup, as it was at a row");
  auto folders = std::make_shared<FolderPair>();
  add_folders(*command, *folders);
  CLI::Option* to_row = command
                            ->add_option("--to-row", folders->to_row,
                                         "How many rows it ends with; without it, all there are")
                            ->transform(whole_number());
  CLI::Option* without_log = command->add_flag(
      "--without-log", folders->without_log,
      "The newest checkpoint alone, without the rows after it: where the log cannot be read");
  command
      ->add_option("--log-bytes", folders->log_bytes,
                   "Size of its log (data.log_bytes); without it, the same")
      ->transform(whole_number())
      ->excludes(without_log);
  command
      ->add_option("--segment-bytes", folders->segment_bytes,
                   "Size of the log's segments (data.segment_bytes); without it, the same")
      ->transform(whole_number())
      ->excludes(without_log);
  add_examples(
      *command,
      {{"windhover restore copy again", "a data folder for windhoverd, from a backup"},
       {"windhover restore copy earlier --to-row 150", "as it was after the first 150 rows"},
       {"windhover restore data larger --log-bytes 1073741824",
        "all there is, with a log of 1 GiB; windhoverd then needs the same data.log_bytes"}});
  command->callback([folders, to_row] {
    run_restore(*folders, to_row->count() > 0 ? std::optional(folders->to_row) : std::nullopt);
  });
}

}  // namespace windhover
