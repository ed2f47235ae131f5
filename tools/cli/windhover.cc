// The command line. Exit codes: 0 done, 1 something failed, 2 the request is wrong; `windhover
// health` has its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/guide.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/companion.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/run_program.h"

namespace {

int run(int argc, char** argv) {
  windhover::start_companion(argc, argv);
  CLI::App app("Windhover: a calibrated posterior over a stream", "windhover");
  app.set_version_flag("--version", WINDHOVER_VERSION);
  windhover::add_send(app);
  windhover::add_predict(app);
  windhover::add_posterior(app);
  windhover::add_status(app);
  windhover::add_events(app);
  windhover::add_health(app);
  windhover::add_model(app);
  windhover::add_top(app);
  windhover::add_token(app);
  windhover::add_plan(app);
  windhover::add_checkpoint(app);
  windhover::add_log(app);
  windhover::add_backup(app);
  windhover::add_restore(app);
  windhover::add_fit(app);
  windhover::add_evaluate(app);
  windhover::add_schema(app);
  windhover::add_encode(app);
  windhover::add_samplers(app);
  windhover::add_models(app);
  windhover::add_companions(app);
  windhover::add_manual_options(app, 1, WINDHOVER_VERSION);
  windhover::add_examples(app, {{"windhover fit house.csv --target price",
                                 "learns a file, and says how far from the exact posterior it is"},
                                {"windhover predict --to 127.0.0.1:7172 --schema S.toml "
                                 "--set sqm=85 --set district=north",
                                 "asks a server, with a field each"}});
  if (argc < 2) {
    fmt::print("{}", windhover::guide_text());
    return 0;
  }
  return windhover::run_parsed(app, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return windhover::run_program("windhover", [&] { return run(argc, argv); });
}
