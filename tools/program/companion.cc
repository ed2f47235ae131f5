#include "windhover/tools/program/companion.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

struct Companion {
  std::string_view command;
  const char* program;
  const char* about;
};

constexpr std::array kCompanions = {
    Companion{"bench", "windhover-bench", "Measure this build against the limits of this machine"},
    Companion{"reproduce", "windhover-reproduce",
              "Redo the experiments of the papers, beside what they print"}};

}  // namespace

bool is_companion(const CLI::App& command) {
  return std::ranges::find(kCompanions, command.get_name(), &Companion::command) !=
         kCompanions.end();
}

void add_companions(CLI::App& app) {
  for (const Companion& companion : kCompanions) {
    app.add_subcommand(std::string(companion.command), companion.about);
  }
}

void start_companion(int argc, char** argv) {
  if (argc < 2) return;
  const auto* const companion =
      std::ranges::find(kCompanions, std::string_view(argv[1]), &Companion::command);
  if (companion == kCompanions.end()) return;
  std::vector<char*> arguments(argv + 1, argv + argc);
  arguments.push_back(nullptr);
  std::error_code no_link;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", no_link);
  const std::string beside = self.parent_path() / companion->program;
  ::execv(beside.c_str(), arguments.data());
  if (errno == ENOENT) ::execvp(companion->program, arguments.data());
  throw RunError(fmt::format(
      "`windhover {}` is the program {}, which cannot be started: {}. It belongs beside {}; build "
      "it with: cmake --build build --target {}",
      companion->command, companion->program, std::generic_category().message(errno), self.string(),
      companion->program));
}

}  // namespace windhover
