// The manual of a program, made from what its command line is told: pages, and completion for
// shells.
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

// They stand at the end of the command's --help and of its page, and a test runs them
// (tests/tools/man_pages). Two a command at least; those of a group's commands count as its own.
void add_examples(CLI::App& command, std::initializer_list<Example> examples);
std::vector<Example> own_examples(const CLI::App& command);
// Its own, then those of its commands.
std::vector<Example> examples_of(const CLI::App& command);

// What the exit codes mean, where they are not the usual ones: the page says it instead of those.
void add_exit_codes(CLI::App& command, std::string_view text);

// The words that are typed for it: "windhover model list".
std::string full_name(const CLI::App& command);
// The same as one word: "windhover-model-list".
std::string page_name(const CLI::App& command);
// Its commands that --help lists, by name.
std::vector<const CLI::App*> listed_commands(const CLI::App& command);
// Its options and flags that --help lists, --help too; positionals are apart.
std::vector<const CLI::Option*> listed_options(const CLI::App& command);
std::vector<const CLI::Option*> positionals(const CLI::App& command);
// The words that it takes, where they are few: "{linear,logistic}" in --help.
std::vector<std::string> choices_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);

// A page in roff, of a program or of one of its commands; a group's has its commands in it.
std::string man_page(const CLI::App& command, int section, std::string_view version);

// Scripts that have the shell complete commands, options and their values (completion.cc). Those of
// `windhover bench`, a program of its own, serve `windhover-bench` as well.
std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

// All of it, in the folders below `folder` that systems keep it in: man/man1, bash-completion, zsh,
// fish. A page each of the program and its commands. RunError for what cannot be written.
void write_manual(const CLI::App& program, const std::string& folder, int section,
                  std::string_view version);

// Two options that no help lists, for the build and for tests: --write-manual=FOLDER, and
// --print-examples, a line each: the command's name, a tab, what is typed. Either ends the program.
void add_manual_options(CLI::App& program, int section, const std::string& version);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_MANUAL_H_
