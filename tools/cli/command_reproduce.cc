#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/driver.h"

namespace windhover {
namespace {

struct Options {
  std::string name;
  std::string data;
  reproduce::Settings settings{.out = "reproduced"};
  bool json = false;
};

void run(Options& o) {
  const auto experiments = reproduce::experiments();
  if (o.name == "list") {
    const std::string text = o.json ? reproduce::list_json(experiments).dump(2) + "\n"
                                    : reproduce::list_text(experiments);
    fmt::print("{}", text);
    return;
  }
  if (!o.data.empty() && !std::filesystem::is_directory(o.data)) {
    throw UserError(fmt::format("--data {} is not a directory", o.data));
  }
  o.settings.data = o.data;
  Progress progress(false, 60);
  const bool sound = reproduce::run_experiments(
      experiments, o.name, o.settings,
      [&](double share, const std::string& text) { progress.draw(share, text); },
      [](const reproduce::Outcome& outcome) {
        fmt::print("{}: {}{}\n", outcome.name, outcome.failed ? "failed: " : "", outcome.sentence);
        std::fflush(stdout);
      });
  if (!sound) throw RunError("not every experiment came to its end");
}

}  // namespace

void add_reproduce(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Redo the experiments of the papers, beside what they print");
  auto options = std::make_shared<Options>();
  Options& o = *options;
  o.settings.threads = std::max(1U, std::thread::hardware_concurrency());
  command->add_option("NAME", o.name, "Of an experiment, \"all\", or \"list\" to see them")
      ->required();
  command->add_option(
      "--data", o.data,
      "Directory with the data sets under their original names; not for those that read none");
  command->add_option("--out", o.settings.out, "Directory for pages, plots and numbers")
      ->capture_default_str();
  command->add_flag("--quick", o.settings.quick, "Fewer seeds, steps and settings");
  CLI::Option* resume = command->add_flag("--resume", o.settings.resume,
                                          "Go on with what an interrupted run finished");
  command->add_flag("--fresh", o.settings.fresh, "Throw it away")->excludes(resume);
  command->add_option("--seed", o.settings.seed)->transform(whole_number())->capture_default_str();
  command->add_option("--threads", o.settings.threads)
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_flag("--json", o.json, "With \"list\": as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace windhover
