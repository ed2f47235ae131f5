// `windhover reproduce`, a program of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/run_program.h"
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

void add_options(CLI::App& app, Options& o) {
  o.settings.threads = std::max(1U, std::thread::hardware_concurrency());
  std::string names = "all,list";
  for (const auto& experiment : reproduce::experiments()) {
    names += fmt::format(",{}", experiment.name);
  }
  app.add_option("NAME", o.name, "Of an experiment, \"all\", or \"list\" to see them")
      ->type_name(fmt::format("{{{}}}", names))
      ->required();
  app.add_option(
      "--data", o.data,
      "Directory with the data sets under their original names; not for those that read none");
  app.add_option("--out", o.settings.out, "Directory for pages, plots and numbers")
      ->capture_default_str();
  app.add_flag("--quick", o.settings.quick, "Fewer seeds, steps and settings");
  CLI::Option* resume =
      app.add_flag("--resume", o.settings.resume, "Go on with what an interrupted run finished");
  app.add_flag("--fresh", o.settings.fresh, "Throw it away")->excludes(resume);
  app.add_option("--seed", o.settings.seed)->transform(whole_number())->capture_default_str();
  app.add_option("--threads", o.settings.threads)->check(CLI::Range(1, 256))->capture_default_str();
  app.add_flag("--json", o.json, "With \"list\": as JSON");
  add_examples(app, {{"windhover reproduce list", "the experiments, and which data they need"},
                     {"windhover reproduce double-well --quick --out pages",
                      "pages/double-well.md: its figures beside the paper's, with a plot"}});
  add_manual_options(app, 1, WINDHOVER_VERSION);
  app.callback([&o] { run(o); });
}

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return windhover::run_program("windhover reproduce", [&] {
    CLI::App app("Redoes the experiments of the papers, beside what they print",
                 "windhover reproduce");
    app.set_version_flag("--version", WINDHOVER_VERSION);
    windhover::Options options;
    windhover::add_options(app, options);
    return windhover::run_parsed(app, argc, argv);
  });
}
