// What the main() of every program ends in.
#ifndef WINDHOVER_TOOLS_PROGRAM_RUN_PROGRAM_H_
#define WINDHOVER_TOOLS_PROGRAM_RUN_PROGRAM_H_

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "windhover/tools/error.h"
#include "windhover/tools/program/say.h"
#include "windhover/tools/program/unknown_word.h"

namespace windhover {

// Calls `run` and returns its exit code. An exception becomes a line on standard error and the exit
// code 2 when the request is wrong (UserError), 1 when something failed; EndWith only gives the
// exit code.
template <class Run>
int run_program(const char* name, Run&& run) {
  try {
    return run();
  } catch (const EndWith& end) {
    return end.code;
  } catch (const UserError& error) {
    say(name, error.what());
    return 2;
  } catch (const std::exception& error) {
    say(name, error.what());
    return 1;
  }
}

// Parses the arguments and calls what they ask for. 0, or 2 when they are wrong, after saying so.
// UserError for a word that names nothing, even where another is missing too.
inline int run_parsed(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const std::string unknown = unknown_word_text(app);
      if (!unknown.empty()) throw UserError(unknown);
    }
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_RUN_PROGRAM_H_
