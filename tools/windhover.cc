// The command line. Exit codes: 0 done, 1 something failed, 2 the request itself is wrong.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "windhover/tools/commands.h"
#include "windhover/tools/error.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Windhover: a calibrated posterior over a stream", "windhover");
  app.require_subcommand(1);
  app.set_version_flag("--version", WINDHOVER_VERSION);
  windhover::add_send(app);
  windhover::add_predict(app);
  windhover::add_posterior(app);
  windhover::add_status(app);
  windhover::add_plan(app);
  windhover::add_fit(app);
  windhover::add_schema(app);
  windhover::add_samplers(app);
  windhover::add_models(app);
  windhover::add_bench(app);
  windhover::add_reproduce(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const windhover::UserError& error) {
    std::fprintf(stderr, "windhover: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "windhover: %s\n", error.what());
    return 1;
  }
}
