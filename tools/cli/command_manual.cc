#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/manual.h"

namespace windhover {

void add_manual(CLI::App& app, const std::string& version) {
  // For the build and for tests: nobody else looks for it.
  CLI::App* command =
      app.add_subcommand("manual", "Write the manual's pages and completion")->group("");
  auto folder = std::make_shared<std::string>();
  auto examples = std::make_shared<bool>(false);
  command->add_option("FOLDER", *folder, "Where to");
  command->add_flag("--examples", *examples, "Print each command's examples instead");
  command->callback([&app, version, folder, examples] {
    if (!*examples) return write_manual(app, *folder, 1, version);
    for (const CLI::App* each : listed_commands(app)) {
      for (const Example& example : examples_of(*each)) {
        fmt::print("{}\t{}\n", each->get_name(), example.command);
      }
    }
  });
}

}  // namespace windhover
