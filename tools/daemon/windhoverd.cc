// The runtime as a server, and the example of how to embed it: one block, an engine and a server in
// it, a learner thread, two socket threads. Exit codes: 0 stopped by a signal after draining, 1
// something failed, 2 the configuration is wrong.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "windhover/io/server.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/cli/run_program.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/daemon_config.h"
#include "windhover/tools/error.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

void warn(const std::string& sentence) {
  fmt::print(stderr, "windhoverd: warning: {}\n", sentence);
}

void warn_about(const char* thread, std::uint32_t warnings) {
  if ((warnings & kThreadNotPinned) != 0)
    warn(fmt::format("the {} thread could not be pinned", thread));
  if ((warnings & kThreadNotPrioritised) != 0) {
    warn(fmt::format("the {} thread could not get its real-time priority", thread));
  }
}

// Where one endpoint listens, as a client writes it.
std::string address_text(const ListenConfig& listen, std::uint16_t port) {
  std::string text;
  if (!listen.tcp_address.empty()) {
    const bool v6 = listen.tcp_address.find(':') != std::string_view::npos;
    text = fmt::format("{}{}{}:{}", v6 ? "[" : "", listen.tcp_address, v6 ? "]" : "", port);
  }
  if (!listen.unix_path.empty()) {
    text += fmt::format("{}unix:{}", text.empty() ? "" : ",", listen.unix_path);
  }
  return text;
}

// Signals that would end the process by default, and with it the posterior, though nobody who sends
// one asks for that: a terminal that is closed, a script that has another daemon reload or log.
void ignore_other_signals() {
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
}

// Blocked before any thread starts, so that every thread inherits it and only the wait below sees
// the signals.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// To standard output with one system call and without the heap. Where nobody reads, it is lost.
void write_line(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) at += static_cast<std::size_t>(written);
  }
}

// What the system says about a socket that could not be opened, and what to do.
[[noreturn]] void refuse_to_open(const Error& error) {
  const int why = errno_of(error);
  std::string text = error.sentence;
  if (why != 0) text += fmt::format(": {}", std::strerror(why));
  if (why == EADDRINUSE) {
    text += "; stop the process that has it, or give another (port 0: any free one)";
  }
  throw RunError(text);
}

// The next start has nothing to learn again then. Without it what the log holds is enough.
void keep_at_end(Server& server) {
  const Status status = server.checkpoint_at_rest();
  if (ok(status)) return;
  const int why = server.checkpoints().error_number.load();
  warn(
      fmt::format("no checkpoint was written at the end ({}{}{}); the next start goes on from the "
                  "one before",
                  to_string(status), why != 0 ? ": " : "", why != 0 ? std::strerror(why) : ""));
}

// " kept=FOLDER durability=logged recovered=N rows", or nothing.
std::string kept_text(const DurableConfig& durable, const Server& server) {
  if (!durable.enabled()) return "";
  const std::uint64_t rows =
      durable.log ? server.log().durable_head.load() : server.checkpoints().head.load();
  return fmt::format(" kept={} durability={} recovered={} rows", durable.folder,
                     durable.log ? "logged" : "memory", rows);
}

void serve(const DaemonConfig& config) {
  const sigset_t signals = block_stop_signals();
  const MappedBlock block(config.block_bytes());
  if (!block.valid()) {
    throw RunError(fmt::format("no memory for a block of {}",
                               bytes_text(static_cast<double>(config.block_bytes()))));
  }
  if (config.process().prefault) prefault(block.bytes());
  if (config.process().lock_memory && !ok(lock_memory())) {
    warn("the memory could not be locked; raise the limit (ulimit -l) or run with CAP_IPC_LOCK");
  }
  const std::size_t engine_bytes = config.engine_bytes();
  const std::size_t server_bytes = config.server_bytes();
  RealClock clock;
  const EngineConfig engine_config = config.engine();
  const ServerConfig server_config = config.server();
  Engine& engine =
      *value_or_refuse(Engine::create(engine_config, block.bytes().first(engine_bytes), clock));
  const std::unique_ptr<Server> server = value_or_refuse(
      Server::create(server_config, engine, block.bytes().last(server_bytes), clock));
  if (const Result<bool> opened = server->open(); !opened.ok()) refuse_to_open(opened.error());
  if (const std::string remarks = server->recovery_remarks(); !remarks.empty()) warn(remarks);
  LearnerThread learner;
  if (!ok(learner.start(engine, config.process().learner, config.process().learner_idle))) {
    throw RunError("the learner thread could not be started");
  }
  warn_about("learner", learner.warnings());
  if (!ok(server->start(config.process().observe, config.process().query))) {
    learner.stop();
    throw RunError("the socket threads could not be started");
  }
  warn_about("observe", server->observe_thread_warnings());
  warn_about("query", server->query_thread_warnings());

  const std::string ready =
      fmt::format("ready observe={} query={} block={} bytes{} {}\n",
                  address_text(server_config.observe, server->observe_port()),
                  address_text(server_config.query, server->query_port()), config.block_bytes(),
                  kept_text(server_config.durable, *server), horizon_text(engine_config));
  // Counted from before the line is out: who has read it may send rows at once.
  const std::optional<std::uint64_t> heap_at_ready = heap_calls();
  write_line(ready);
  int signal = 0;
  sigwait(&signals, &signal);
  const std::optional<std::uint64_t> heap_at_stop = heap_calls();

  server->request_stop();
  server->join();
  learner.stop();
  if (server_config.durable.enabled()) keep_at_end(*server);
  const std::string heap =
      heap_at_ready ? fmt::format("{}", *heap_at_stop - *heap_at_ready) : std::string("null");
  write_line(fmt::format("stopped observations={} heap_calls={} peak_resident={} bytes\n",
                         engine.head(), heap, peak_resident_bytes()));
}

struct CommandLine {
  std::string file;
  std::map<std::string, std::string> flags;  // of the options given
  bool real_time = false;
  bool print_config = false;
  bool check_config = false;
};

// The file first, then what overrides it.
void take(const CommandLine& line, DaemonConfig& config) {
  if (!line.file.empty()) config.read_file(line.file);
  if (line.real_time) config.use_real_time_profile();
  for (const auto& [name, value] : line.flags) config.set(name, value, "--" + name);
}

// For editors and scripts: a refusal begins with FILE:LINE:COLUMN, without our name before it.
int check_config(const CommandLine& line, DaemonConfig& config) {
  try {
    take(line, config);
    config.check();
    fmt::print("ok block={} bytes\n", config.block_bytes());
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
        ->type_name(option.form == DaemonOption::Form::kText ? "TEXT" : "VALUE");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (line.check_config) return check_config(line, config);
  take(line, config);
  if (line.print_config) {
    fmt::print("{}", config.to_toml());
    return 0;
  }
  config.check();
  serve(config);
  return 0;
}

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  windhover::ignore_other_signals();
  return windhover::run_program("windhoverd", [&] { return windhover::run(argc, argv); });
}
