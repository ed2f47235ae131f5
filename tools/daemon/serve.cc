// The runtime as a server, and the example of how to embed it: one block, an engine and a server in
// it, a learner thread, two socket threads, and the main thread that watches them.
#include "windhover/tools/daemon/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "windhover/io/server.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/notifier.h"
#include "windhover/tools/daemon/watcher.h"
#include "windhover/tools/error.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

constexpr const char* kModel = "default";  // what the log calls the only one

// A sentence may be longer than a line of the log: then it is several.
void warn(DaemonLog& log, std::string_view sentence) {
  constexpr std::size_t kMost = 160;
  while (!sentence.empty()) {
    std::size_t size = sentence.size();
    if (size > kMost) size = std::min(sentence.rfind(' ', kMost), kMost);
    log.write(log.line(LogLevel::kWarning, "warning").add("text", sentence.substr(0, size)));
    sentence.remove_prefix(std::min(size + 1, sentence.size()));
  }
}

void warn_about(DaemonLog& log, const char* thread, std::uint32_t warnings) {
  if ((warnings & kThreadNotPinned) != 0) {
    warn(log, fmt::format("the {} thread could not be pinned", thread));
  }
  if ((warnings & kThreadNotPrioritised) != 0) {
    warn(log, fmt::format("the {} thread could not get its real-time priority", thread));
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

// " http=ADDR", or nothing.
std::string http_text(const HttpConfig& http, const Server& server) {
  return http.enabled() ? " http=" + address_text(http.listen, server.http_port()) : "";
}

// Blocked before any thread starts, so that every thread inherits it and only the watcher sees the
// signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGHUP, SIG_DFL);  // one that is ignored need not be handed over
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
void keep_at_end(Server& server, DaemonLog& log) {
  const Status status = server.checkpoint_at_rest();
  if (ok(status)) return;
  const int why = server.checkpoints().error_number.load();
  warn(log,
       fmt::format("no checkpoint was written at the end ({}{}{}); the next start goes on "
                   "from the one before",
                   to_string(status), why != 0 ? ": " : "", why != 0 ? std::strerror(why) : ""));
}

// Rows that the folder holds.
std::uint64_t kept_rows(const DurableConfig& durable, const Server& server) {
  return durable.log ? server.log().durable_head.load() : server.checkpoints().head.load();
}

// " kept=FOLDER durability=logged recovered=N rows", or nothing.
std::string kept_text(const DurableConfig& durable, const Server& server) {
  if (!durable.enabled()) return "";
  return fmt::format(" kept={} durability={} recovered={} rows", durable.folder,
                     durable.log ? "logged" : "memory", kept_rows(durable, server));
}

// What is served and of what size; nothing that must not be read by others.
void log_start(DaemonLog& log, const DaemonConfig& config, const std::string& file) {
  LogLine start = log.line(LogLevel::kInfo, "start");
  start.add("version", WINDHOVER_VERSION).add("pid", ::getpid()).add("config", file);
  log.write(start);
  const EngineConfig engine = with_defaults(config.engine());
  LogLine model = log.line(LogLevel::kInfo, "configuration");
  model.add("model", kModel).add("likelihood", engine.model.name);
  model.add("features", engine.model.features).add("horizon", to_string(engine.horizon));
  model.add("window_size", engine.window_size).add("sampler", engine.sampler.name);
  log.write(model.add("block_bytes", config.block_bytes()));
}

void log_ready(DaemonLog& log, const ServerConfig& config, const Server& server) {
  LogLine line = log.line(LogLevel::kInfo, "ready");
  line.add("observe", address_text(config.observe, server.observe_port()));
  line.add("query", address_text(config.query, server.query_port()));
  if (config.http.enabled()) {
    line.add("http", address_text(config.http.listen, server.http_port()));
  }
  if (config.durable.enabled()) line.add("kept_rows", kept_rows(config.durable, server));
  log.write(line);
}

[[noreturn]] void end_without(std::string_view thread, DaemonLog& log) {
  LogLine line = log.line(LogLevel::kError, "stopping");
  log.write(line.add("stalled", thread).add("exit_code", kStalledExitCode));
  log.drain();
  fmt::print(stderr,
             "windhoverd: the {} thread stands still, and process.watchdog = \"exit\": the process "
             "ends without it\n",
             thread);
  std::fflush(nullptr);
  ::_exit(kStalledExitCode);
}

struct Block {
  explicit Block(const DaemonConfig& config) : memory(config.block_bytes()) {
    if (!memory.valid()) {
      throw RunError(fmt::format("no memory for a block of {}",
                                 bytes_text(static_cast<double>(config.block_bytes()))));
    }
    if (config.process().prefault) prefault(memory.bytes());
    locked = !config.process().lock_memory || ok(lock_memory());
  }
  MappedBlock memory;
  bool locked = false;
};

void start_threads(const ProcessOptions& options, Engine& engine, Server& server,
                   LearnerThread& learner, DaemonLog& log) {
  if (!ok(learner.start(engine, options.learner, options.learner_idle))) {
    throw RunError("the learner thread could not be started");
  }
  warn_about(log, "learner", learner.warnings());
  if (!ok(server.start(options.observe, options.query))) {
    learner.stop();
    throw RunError("the socket threads could not be started");
  }
  warn_about(log, "observe", server.observe_thread_warnings());
  warn_about(log, "query", server.query_thread_warnings());
}

}  // namespace

void ignore_other_signals() {
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
}

void serve(const DaemonConfig& config, const std::string& file) {
  const sigset_t signals = block_signals();
  Notifier notifier;
  DaemonLog log(config.process().log);
  log_start(log, config, file);
  const Block block(config);
  if (!block.locked) {
    warn(log,
         "the memory could not be locked; raise the limit (ulimit -l) or run with CAP_IPC_LOCK");
  }
  RealClock clock;
  const EngineConfig engine_config = config.engine();
  const ServerConfig server_config = config.server();
  const std::span<std::byte> bytes = block.memory.bytes();
  Engine& engine =
      *value_or_refuse(Engine::create(engine_config, bytes.first(config.engine_bytes()), clock));
  const std::unique_ptr<Server> server = value_or_refuse(
      Server::create(server_config, engine, bytes.last(config.server_bytes()), clock));
  if (const Result<bool> opened = server->open(); !opened.ok()) refuse_to_open(opened.error());
  warn(log, server->recovery_remarks());
  LearnerThread learner;
  start_threads(config.process(), engine, *server, learner, log);
  Watcher watcher({engine, *server, learner, kModel}, value_or_refuse(engine.reader()),
                  config.process().watchdog, log, notifier);

  const std::string ready =
      fmt::format("ready observe={} query={}{} block={} bytes{} {}\n",
                  address_text(server_config.observe, server->observe_port()),
                  address_text(server_config.query, server->query_port()),
                  http_text(server_config.http, *server), config.block_bytes(),
                  kept_text(server_config.durable, *server), horizon_text(engine_config));
  log_ready(log, server_config, *server);
  notifier.ready();
  // Counted from before the line is out: who has read it may send rows at once.
  const std::optional<std::uint64_t> heap_at_ready = heap_calls();
  write_line(ready);
  const Watcher::End end = watcher.run(signals);
  const std::optional<std::uint64_t> heap_at_stop = heap_calls();
  if (end == Watcher::End::kStalled) end_without(watcher.stalled(), log);

  server->request_stop();
  server->join();
  learner.stop();
  if (server_config.durable.enabled()) keep_at_end(*server, log);
  watcher.finish();
  log.drain();
  const std::string heap =
      heap_at_ready ? fmt::format("{}", *heap_at_stop - *heap_at_ready) : std::string("null");
  write_line(fmt::format("stopped observations={} heap_calls={} peak_resident={} bytes\n",
                         engine.head(), heap, peak_resident_bytes()));
}

}  // namespace windhover
