// Completion scripts for shells. A value that is not one of a few words is completed as a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "windhover/tools/program/companion.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

// The text in single quotes for a shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Visits the program and all commands below it.
void walk(const CLI::App& command, const std::function<void(const CLI::App&)>& visit) {
  visit(command);
  for (const CLI::App* below : listed_commands(command)) {
    if (!is_companion(*below)) walk(*below, visit);  // companions have scripts of their own
  }
}

std::string function_name(const CLI::App& command) {
  std::string name = "_" + full_name(command);
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

std::string zsh_text(const std::string& text, bool describes) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || (describes && (c == '[' || c == ']')) || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const CLI::Option& option, const std::string& flag) {
  std::string spec = fmt::format("{}{}[{}]", option.get_items_expected_max() > 1 ? "*" : "", flag,
                                 zsh_text(option.get_description(), true));
  if (!takes_value(option)) return shell_quoted(spec);
  const auto choices = choices_of(option);
  spec += choices.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(choices, " "));
  return shell_quoted(spec);
}

// The specifications of the arguments that take one of a few words, by place, and files.
std::string zsh_arguments(const CLI::App& command) {
  std::string specs;
  std::size_t place = 0;
  for (const CLI::Option* argument : positionals(command)) {
    ++place;
    const auto choices = choices_of(*argument);
    if (choices.empty()) continue;
    specs +=
        " \\\n    " + shell_quoted(fmt::format("{}:{}:({})", place, argument->get_name(true, false),
                                               fmt::join(choices, " ")));
  }
  return specs + " \\\n    '*:file:_files'";
}

// The commands of the program that are companions.
std::vector<const CLI::App*> companions_of(const CLI::App& program) {
  auto commands = listed_commands(program);
  std::erase_if(commands, [](const CLI::App* command) { return !is_companion(*command); });
  return commands;
}

// The condition of a line for fish: the words that must be there before it applies.
std::string fish_condition(const CLI::App& command) {
  std::string seen;
  for (const CLI::App* at = &command; at->get_parent() != nullptr; at = at->get_parent()) {
    seen = fmt::format("__fish_seen_subcommand_from {}{}{}", at->get_name(),
                       seen.empty() ? "" : "; and ", seen);
  }
  return seen;
}

std::string fish_commands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : listed_commands(command)) names.push_back(below->get_name());
  if (names.empty()) return "";
  std::string condition = fish_condition(command);
  condition += fmt::format("{}not __fish_seen_subcommand_from {}",
                           condition.empty() ? "" : "; and ", fmt::join(names, " "));
  std::string out;
  for (const CLI::App* below : listed_commands(command)) {
    const CLI::App* root = &command;
    while (root->get_parent() != nullptr) root = root->get_parent();
    out += fmt::format("complete -c {} -f -n {} -a {} -d {}\n", root->get_name(),
                       shell_quoted(condition), below->get_name(),
                       shell_quoted(below->get_description()));
  }
  return out;
}

// How the lines for fish begin: for `windhover bench` also as a command of `windhover`.
std::vector<std::string> fish_heads(const CLI::App& command) {
  const CLI::App* program = &command;
  while (program->get_parent() != nullptr) program = program->get_parent();
  std::string head = "complete -c " + page_name(*program);
  if (&command != program) head += " -n " + shell_quoted(fish_condition(command));
  std::vector<std::string> heads = {head};
  const std::string& name = program->get_name();
  if (const std::size_t space = name.find(' '); space != std::string::npos) {
    heads.push_back(fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'",
                                name.substr(0, space), name.substr(space + 1)));
  }
  return heads;
}

std::string fish_option(const CLI::Option& option) {
  std::string line;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  const auto choices = choices_of(option);
  if (!choices.empty()) {
    line += fmt::format(" -x -a {}", shell_quoted(fmt::format("{}", fmt::join(choices, " "))));
  } else if (takes_value(option)) {
    line += " -r";
  }
  return line + " -d " + shell_quoted(option.get_description()) + "\n";
}

std::string fish_sources(const CLI::App& program) {
  std::string out;
  for (const CLI::App* command : companions_of(program)) {
    const std::string file = fmt::format("(status dirname)/{}.fish", page_name(*command));
    out += fmt::format("test -f {0}; and source {0}\n", file);
  }
  return out;
}

// `windhover bench` is completed by the script of `windhover-bench`, which lies beside this one.
std::string bash_companions(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : companions_of(program)) names.push_back(command->get_name());
  if (names.empty()) return "";
  return fmt::format(
      R"(  if ((COMP_CWORD > 1)) && [[ ${{COMP_WORDS[1]}} =~ ^({})$ ]]; then
    COMPREPLY=()
    source "${{BASH_SOURCE[0]%/*}}/{}-${{COMP_WORDS[1]}}" 2>/dev/null && "{}_${{COMP_WORDS[1]}}"
    return
  fi
)",
      fmt::join(names, "|"), program.get_name(), function_name(program));
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::vector<std::string> paths;
  std::string values;
  std::string words;
  walk(program, [&](const CLI::App& command) {
    const std::string name = full_name(command);
    if (command.get_parent() != nullptr) paths.push_back(fmt::format("\"{}\"", name));
    std::vector<std::string> here;
    for (const CLI::Option* argument : positionals(command)) {
      const auto choices = choices_of(*argument);
      here.insert(here.end(), choices.begin(), choices.end());
    }
    for (const CLI::App* below : listed_commands(command)) here.push_back(below->get_name());
    for (const CLI::Option* option : listed_options(command)) {
      const auto flags = flags_of(*option);
      here.insert(here.end(), flags.begin(), flags.end());
      if (!takes_value(*option)) continue;
      for (const std::string& flag : flags) {
        const auto choices = choices_of(*option);
        values +=
            fmt::format("    \"{} {}\") take {} ;;\n", name, flag,
                        choices.empty() ? "-f" : fmt::format("-W \"{}\"", fmt::join(choices, " ")));
      }
    }
    words += fmt::format("    \"{}\") words=\"{}\" ;;\n", name, fmt::join(here, " "));
  });
  return fmt::format(R"(# Completion of {0} for bash.
{1}() {{
{5}  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} path="{0}" i words=
  take() {{ mapfile -t COMPREPLY < <(compgen "$@" -- "$cur"); }}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${{COMP_WORDS[i]}}" in
    {2}) path="$path ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path $prev" in
{3}    *)
    case "$path" in
{4}    esac
    take -W "$words"
    [[ $cur == -* || ${{#COMPREPLY[@]}} -gt 0 ]] || take -f
    ;;
  esac
  unset -f take
}}
complete -o filenames -F {1} {6}
)",
                     program.get_name(), function_name(program),
                     paths.empty() ? "\"\"" : fmt::format("{}", fmt::join(paths, " | ")), values,
                     words, bash_companions(program), page_name(program));
}

std::string zsh_completion(const CLI::App& program) {
  std::string out = fmt::format("#compdef {}\n# Completion for zsh.\n", page_name(program));
  walk(program, [&](const CLI::App& command) {
    std::string specs;
    for (const CLI::Option* option : listed_options(command)) {
      for (const std::string& flag : flags_of(*option)) {
        specs += " \\\n    " + zsh_option(*option, flag);
      }
    }
    const auto below = listed_commands(command);
    if (below.empty()) {
      out += fmt::format("\n{}() {{\n  _arguments{}{}\n}}\n", function_name(command), specs,
                         zsh_arguments(command));
      return;
    }
    std::string names;
    std::string calls;
    for (const CLI::App* each : below) {
      names += "\n      " +
               shell_quoted(each->get_name() + ":" + zsh_text(each->get_description(), false));
      // A companion's function is called by its file's name, which zsh finds beside this one.
      calls += is_companion(*each)
                   ? fmt::format("\n      {0}) (( $+functions[_{1}] )) && _{1} ;;",
                                 each->get_name(), page_name(*each))
                   : fmt::format("\n      {}) {} ;;", each->get_name(), function_name(*each));
    }
    out += fmt::format(R"(
{}() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{} \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=({})
      _describe command commands ;;
    argument)
      case $line[1] in{}
      esac ;;
  esac
}}
)",
                       function_name(command), specs, names, calls);
  });
  return out + fmt::format("\n{} \"$@\"\n", function_name(program));
}

std::string fish_completion(const CLI::App& program) {
  std::string out = "# Completion of " + page_name(program) + " for fish.\n";
  walk(program, [&](const CLI::App& command) {
    out += fish_commands(command);
    for (const std::string& head : fish_heads(command)) {
      for (const CLI::Option* argument : positionals(command)) {
        const auto choices = choices_of(*argument);
        if (choices.empty()) continue;
        out += fmt::format("{} -f -a '{}'\n", head, fmt::join(choices, " "));
      }
      for (const CLI::Option* option : listed_options(command)) {
        out += head + fish_option(*option);
      }
    }
  });
  return out + fish_sources(program);
}

}  // namespace windhover
