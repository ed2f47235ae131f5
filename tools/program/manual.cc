#include "windhover/tools/program/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "windhover/tools/error.h"
#include "windhover/tools/program/companion.h"

namespace windhover {
namespace {

// The footer of a command consists of these parts, each at most once.
constexpr std::string_view kExitCodes = "Exit codes: ";
constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kCommand = "  ";
constexpr std::string_view kAbout = "      ";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The text in roff: without escapes and requests, and with hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// "--schema TEXT", without the words that are listed.
std::string flags_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  if (!takes_value(option)) return text;
  const std::string type = option.get_type_name();  // the allowed words stand behind a colon
  return text + " " + (choices_of(option).empty() ? type.substr(0, type.find(':')) : "VALUE");
}

std::string description_text(const CLI::Option& option) {
  std::string text = option.get_description();
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ". ") + more; };
  std::string words;
  bool told = true;  // the description names every word
  for (const std::string& word : choices_of(option)) {
    words += (words.empty() ? "" : ", ") + word;
    told = told && text.find(word) != std::string::npos;
  }
  if (!told) add("One of: " + words);
  if (takes_value(option) && !option.get_default_str().empty()) {
    add("Without it: " + option.get_default_str());
  }
  // For an argument the synopsis says it.
  if (option.get_required() && option.nonpositional()) add("Required");
  if (!option.get_envname().empty()) add("From the environment: " + option.get_envname());
  return text;
}

std::string synopsis(const CLI::App& command) {
  std::string line = fmt::format(".B {}\n[OPTIONS]", roff(full_name(command)));
  for (const CLI::Option* positional : positionals(command)) {
    const std::string name = positional->get_name(true, false);
    line += positional->get_required() ? " " + name : " [" + name + "]";
  }
  if (!listed_commands(command).empty()) line += " COMMAND";
  return line + "\n";
}

// A paragraph with a tag; line breaks of the description stay.
std::string tagged(char font, const std::string& tag, const std::string& description) {
  std::string text;
  for (const std::string& line : lines_of(description)) {
    text += (text.empty() ? "" : ".br\n") + roff(line) + "\n";
  }
  return fmt::format(".TP\n.{} {}\n{}", font, roff(tag), text);
}

std::string options_text(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : positionals(command)) {
    out += tagged('I', option->get_name(true, false), description_text(*option));
  }
  for (const CLI::Option* option : listed_options(command)) {
    out += tagged('B', flags_text(*option), description_text(*option));
  }
  return out;
}

std::string exit_codes_of(const CLI::App& command) {
  for (const std::string& line : lines_of(command.get_footer())) {
    if (line.starts_with(kExitCodes)) return line.substr(kExitCodes.size());
  }
  return "0: done. 1: something failed. 2: the request itself is wrong.";
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw RunError(fmt::format("{} cannot be written", path.string()));
}

}  // namespace

void add_examples(CLI::App& command, std::initializer_list<Example> examples) {
  std::string text = command.get_footer();
  if (!text.empty()) text += "\n";
  text += kExamples;
  for (const Example& example : examples) {
    text += fmt::format("\n{}{}\n{}{}", kCommand, example.command, kAbout, example.about);
  }
  command.footer(text);
}

std::vector<Example> own_examples(const CLI::App& command) {
  std::vector<Example> examples;
  for (const std::string& line : lines_of(command.get_footer())) {
    if (line.starts_with(kAbout) && !examples.empty()) {
      examples.back().about = line.substr(kAbout.size());
    } else if (line.starts_with(kCommand)) {
      examples.push_back({line.substr(kCommand.size()), ""});
    }
  }
  return examples;
}

std::vector<Example> examples_of(const CLI::App& command) {
  std::vector<Example> examples = own_examples(command);
  for (const CLI::App* below : listed_commands(command)) {
    for (Example& example : examples_of(*below)) examples.push_back(std::move(example));
  }
  return examples;
}

void add_exit_codes(CLI::App& command, std::string_view text) {
  command.footer(fmt::format("{}{}", kExitCodes, text));
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent != nullptr ? full_name(*parent) + " " : "") + command.get_name();
}

std::string page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::vector<const CLI::App*> listed_commands(const CLI::App& command) {
  auto commands =
      command.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); });
  std::ranges::sort(commands, {}, [](const CLI::App* below) { return below->get_name(); });
  return commands;
}

std::vector<const CLI::Option*> listed_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->nonpositional();
  });
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional();
  });
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  std::istringstream in(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(in, word, ',');) choices.push_back(word);
  return choices;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string man_page(const CLI::App& command, int section, std::string_view version) {
  const bool program = command.get_parent() == nullptr;
  std::string out = fmt::format(
      ".TH {} {} \"\" \"windhover {}\" \"Windhover\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
      upper(roff(page_name(command))), section, version, roff(page_name(command)),
      roff(command.get_description()));
  out += ".SH SYNOPSIS\n" + synopsis(command);
  if (const std::string options = options_text(command); !options.empty()) {
    out += ".SH OPTIONS\n" + options;
  }
  std::string see_also;
  if (const auto commands = listed_commands(command); !commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const CLI::App* below : commands) {
      if (program) {
        out += tagged('B', below->get_name(), below->get_description());
        see_also += fmt::format("{}.BR {} ({})", see_also.empty() ? "" : ",\n",
                                roff(page_name(*below)), section);
        continue;
      }
      out += fmt::format(".SS {}\n{}\n.PP\n{}{}", roff(full_name(*below)),
                         roff(below->get_description()), synopsis(*below), options_text(*below));
    }
  }
  out += fmt::format(".SH EXIT STATUS\n{}\n", roff(exit_codes_of(command)));
  // Examples of a program's commands stand on their own pages.
  if (const auto examples = program ? own_examples(command) : examples_of(command);
      !examples.empty()) {
    out += ".SH EXAMPLES\n";
    for (const Example& example : examples) out += tagged('B', example.command, example.about);
  }
  if (!program) see_also = ".BR windhover (1),\n.BR windhoverd (8)";
  if (program && see_also.empty()) see_also = ".BR windhover (1)";
  return out + ".SH SEE ALSO\n" + see_also + "\n";
}

void write_manual(const CLI::App& program, const std::string& folder, int section,
                  std::string_view version) {
  const std::filesystem::path to(folder);
  const std::string man = fmt::format("man{}", section);
  const auto page = [&](const CLI::App& command) {
    write(to / "man" / man / fmt::format("{}.{}", page_name(command), section),
          man_page(command, section, version));
  };
  page(program);
  for (const CLI::App* command : listed_commands(program)) {
    if (!is_companion(*command)) page(*command);  // companions write their own
  }
  const std::string name = page_name(program);
  write(to / "bash-completion" / "completions" / name, bash_completion(program));
  write(to / "zsh" / "vendor-completions" / ("_" + name), zsh_completion(program));
  write(to / "fish" / "vendor_completions.d" / (name + ".fish"), fish_completion(program));
}

void add_manual_options(CLI::App& program, int section, const std::string& version) {
  // The exception ends the parsing before required options are checked.
  program
      .add_option_function<std::string>("--write-manual",
                                        [&program, section, version](const std::string& folder) {
                                          write_manual(program, folder, section, version);
                                          throw CLI::Success();
                                        })
      ->group("");
  const auto print = [&program] {
    const auto line = [](const CLI::App& command, const Example& example) {
      fmt::print("{}\t{}\n", command.get_name(), example.command);
    };
    for (const Example& example : own_examples(program)) line(program, example);
    for (const CLI::App* command : listed_commands(program)) {
      for (const Example& example : examples_of(*command)) line(*command, example);
    }
    throw CLI::Success();
  };
  program.add_flag_callback("--print-examples", print)->group("");
}

}  // namespace windhover
