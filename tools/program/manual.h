// The manual of a program, made from its command-line options: pages, and completion for shells.
#ifndef WINDHOVER_TOOLS_PROGRAM_MANUAL_H_
#define WINDHOVER_TOOLS_PROGRAM_MANUAL_H_

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

struct Example {
  std::string command;  // as it is typed; files and addresses are those of README.md
  std::string about;
};

// Adds examples to the end of the command's --help and page; a test runs them
// (tests/tools/man_pages). Every command has at least two; a group has those of its commands.
void add_examples(CLI::App& command, std::initializer_list<Example> examples);
std::vector<Example> own_examples(const CLI::App& command);
// The command's own examples, then those of its subcommands.
std::vector<Example> examples_of(const CLI::App& command);

// Says what the exit codes mean where they are not the usual ones; the page then says this instead.
void add_exit_codes(CLI::App& command, std::string_view text);

// The words that are typed: "windhover model list".
std::string full_name(const CLI::App& command);
// The same as one word: "windhover-model-list".
std::string page_name(const CLI::App& command);
// The commands that --help lists, by name.
std::vector<const CLI::App*> listed_commands(const CLI::App& command);
// The options and flags that --help lists, --help included; without positionals.
std::vector<const CLI::Option*> listed_options(const CLI::App& command);
std::vector<const CLI::Option*> positionals(const CLI::App& command);
// The words that an option takes, where they are few: "{linear,logistic}" in --help.
std::vector<std::string> choices_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);

// A page in roff for a program or one of its commands; that of a group includes its commands.
std::string man_page(const CLI::App& command, int section, std::string_view version);

// Scripts that complete commands, options and their values (completion.cc). Those of `windhover
// bench`, a program of its own, serve `windhover-bench` as well.
std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

// Writes a page for the program and each of its commands, and the completion scripts, into the
// folders below `folder` where systems keep them: man/man1, bash-completion, zsh, fish. RunError
// for what cannot be written.
void write_manual(const CLI::App& program, const std::string& folder, int section,
                  std::string_view version);

// Adds two options that no help lists, for the build and for tests: --write-manual=FOLDER, and
// --print-examples, which prints a line for each: the command's name, a tab, what is typed. Either
// ends the program.
void add_manual_options(CLI::App& program, int section, const std::string& version);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_MANUAL_H_
