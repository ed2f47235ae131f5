// The daemon's command line. Exit codes: 0 stopped by a signal after draining, 1 something failed,
// 2 the configuration is wrong, 3 a thread stood still and process.watchdog said to end then.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/server_files.h"
#include "windhover/platform/clock.h"
#include "windhover/tools/daemon/certificate_report.h"
#include "windhover/tools/daemon/daemon_models.h"
#include "windhover/tools/daemon/serve.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/run_program.h"

namespace windhover {
namespace {

struct CommandLine {
  std::string file;
  std::map<std::string, std::string> flags;  // of the options given
  bool real_time = false;
  bool print_config = false;
  bool check_config = false;
};

// Reads the file, then the flags that override it.
void read(const CommandLine& line, DaemonConfig& config) {
  if (!line.file.empty()) config.read_file(line.file);
  if (line.real_time) config.use_real_time_profile();
  for (const auto& [name, value] : line.flags) config.set(name, value, "--" + name);
}

// Reports certificates that a start accepts and that are good for nobody now, or not for long.
void tell_of_certificates(const ServerConfig& config) {
  const TlsDates dates = certificate_dates(config);
  const std::int64_t now_ns = RealClock().wall_ns();
  if (const std::string what = words_of(dates.own, now_ns); !what.empty()) {
    fmt::print(stderr, "{}: the certificate {}\n", config.tls.certificate, what);
  }
  for (const std::string& what : words_of_authorities(dates, now_ns)) {
    fmt::print(stderr, "{}: an authority of clients' certificates {}\n", config.tls.client_ca,
               what);
  }
}

// Checks for editors and scripts: a refusal begins with FILE:LINE:COLUMN, without the name of the
// program; an error in a certificate, key or identities file begins with that file, and the line.
int check_config(const CommandLine& line) {
  try {
    const DaemonModels models([&](DaemonConfig& config) { read(line, config); });
    std::vector<std::string_view> names;
    for (const DaemonModels::Model& model : models.all()) names.push_back(model.name);
    const std::string wrong = wrong_with_files(models.common().server(), names);
    if (!wrong.empty()) throw UserError(wrong);
    tell_of_certificates(models.common().server());
    fmt::print("ok block={} bytes\n", models.block_bytes());
    return 0;
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

int run(int argc, char** argv) {
  CLI::App app("Serves a live posterior over TCP and Unix-domain sockets", "windhoverd");
  app.set_version_flag("--version", WINDHOVER_VERSION);
  DaemonConfig config;
  CommandLine line;
  app.add_option("CONFIG,--config", line.file, "TOML file; flags override it");
  app.add_flag("--rt", line.real_time,
               "Pin threads, FIFO priorities, lock memory, where permitted");
  app.add_flag("--print-config", line.print_config, "Print the configuration as TOML and end");
  app.add_flag("--check-config", line.check_config,
               "Judge file and flags, say \"ok\" or what is wrong and where, and end");
  for (const DaemonOption& option : config.options()) {
    app.add_option_function<std::string>(
           "--" + option.name,
           [&flags = line.flags, name = option.name](const std::string& value) {
             flags[name] = value;
           },
           option.help)
        ->type_name(option.flag_type());
  }
  add_manual_options(app, 8, WINDHOVER_VERSION);
  add_exit_codes(app,
                 "0: it was stopped by a signal. 1: something failed. 2: the configuration is "
                 "wrong. 3: a thread stood still, and process.watchdog says to end then.");
  add_examples(app, {{"windhoverd --model.schema S.toml --server.observe.tcp_port 7171 "
                      "--server.query.tcp_port 7172",
                      "serves the model that the schema asks for; Ctrl-C ends it"},
                     {"windhoverd windhoverd.toml --check-config",
                      "whether a configuration is right, without starting"}});
  bool parsed = false;
  app.callback([&parsed] { parsed = true; });
  if (const int code = run_parsed(app, argc, argv); !parsed) return code;
  if (line.check_config) return check_config(line);
  if (line.print_config) {
    read(line, config);
    fmt::print("{}", config.to_toml());
    return 0;
  }
  serve(DaemonModels([&](DaemonConfig& of) { read(line, of); }), line.file);
  return 0;
}

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  windhover::ignore_other_signals();
  return windhover::run_program("windhoverd", [&] { return windhover::run(argc, argv); });
}
