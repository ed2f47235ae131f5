#include "windhover/tools/program/unknown_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "windhover/tools/data/nearest.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

std::string command_text(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());  // as --help has them
  }
  return fmt::format("there is no command \"{}\"{}; there are {}; `{} --help` describes them", word,
                     did_you_mean(word, names), fmt::join(names, ", "), full_name(app));
}

// `word` is "--name", "--name=value" or "-n".
std::string option_text(const CLI::App& app, const std::string& word) {
  const std::string given = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : listed_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  std::string near;
  const std::size_t dashes = given.find_first_not_of('-');
  if (dashes != std::string::npos) {
    for (const std::string& name : nearest_names(given.substr(dashes), names)) {
      near += fmt::format("{}--{}", near.empty() ? "; did you mean " : " or ", name);
    }
  }
  return fmt::format("`{0}` has no option {1}{2}; `{0} --help` lists what it has", full_name(app),
                     given, near);
}

}  // namespace

std::string unknown_word_text(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (!words.empty()) {
    const std::string& word = words.front();
    if (word.starts_with('-')) return option_text(app, word);
    if (!listed_commands(app).empty()) return command_text(app, word);
    return fmt::format("`{0}` does not take \"{1}\" as well; `{0} --help` says what it takes",
                       full_name(app), word);
  }
  for (const CLI::App* command : app.get_subcommands()) {
    std::string text = unknown_word_text(*command);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace windhover
