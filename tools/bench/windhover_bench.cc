// `windhover bench`, a program of its own.
#include <CLI/CLI.hpp>
#include <csignal>

#include "windhover/tools/bench/suite.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/run_program.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return windhover::run_program("windhover bench", [&] {
    CLI::App app("Measures this build against the limits of this machine", "windhover bench");
    app.set_version_flag("--version", WINDHOVER_VERSION);
    windhover::add_bench(app);
    windhover::add_manual_options(app, 1, WINDHOVER_VERSION);
    return windhover::run_parsed(app, argc, argv);
  });
}
