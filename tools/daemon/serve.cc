// The runtime as a server, and the example of how to embed it: one block with the engines and a
// server in it, learner threads, socket threads, and the main thread that watches them.
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
#include <thread>
#include <vector>

#include "windhover/io/descriptors.h"
#include "windhover/io/server.h"
#include "windhover/io/tls/tls_memory.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/prefault.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/daemon/added_models.h"
#include "windhover/tools/daemon/answer_choice.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/daemon_models.h"
#include "windhover/tools/daemon/learners.h"
#include "windhover/tools/daemon/notifier.h"
#include "windhover/tools/daemon/order_refusal.h"
#include "windhover/tools/daemon/start_report.h"
#include "windhover/tools/daemon/watcher.h"
#include "windhover/tools/daemon/web_manual.h"
#include "windhover/tools/error.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

void warn_about(DaemonLog& log, const char* thread, std::uint32_t warnings) {
  if ((warnings & kThreadNotPinned) != 0) {
    warn(log, fmt::format("the {} thread could not be pinned", thread));
  }
  if ((warnings & kThreadNotPrioritised) != 0) {
    warn(log, fmt::format("the {} thread could not get its real-time priority", thread));
  }
}

// Called before any thread starts, so that every thread inherits the mask and only the watcher gets
// the signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGHUP, SIG_DFL);  // an ignored signal may not be delivered
  return signals;
}

// Writes to standard output without the heap. A line that cannot be written is lost.
void write_line(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) at += static_cast<std::size_t>(written);
  }
}

// Says what the system says about a socket or folder that could not be opened, and what to do.
// UserError where starting again is of no use: the configuration does not fit the folder.
[[noreturn]] void refuse_to_open(const Error& error) {
  const int why = errno_of(error);
  std::string text = error.sentence;
  if (why != 0) text += fmt::format(": {}", std::strerror(why));
  if (why == EADDRINUSE) {
    const bool path = text.find("unix_path") != std::string::npos;
    text += path ? "; stop the process that has it, remove the file where none has, or give another"
                 : "; stop the process that has it, or give another (port 0: any free one)";
  }
  if (error.status == Status::kInvalidConfig) throw UserError(text);
  throw RunError(text);
}

// Writes a last checkpoint, so that the next start has nothing to learn again. The log is enough
// without it.
void keep_at_end(Server& server, std::size_t model, DaemonLog& log) {
  const Status status = server.kept().checkpoint_at_rest(model);
  if (ok(status)) return;
  warn(log, fmt::format("no checkpoint of {} was written at the end ({}); the next start goes on "
                        "from the one before",
                        server.models().name(model),
                        words_of(status, server.kept().checkpoints(model).error_number.load())));
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

// With too few descriptors connections wait, and checkpoints fail.
void warn_of_few_descriptors(const DaemonModels& models, DaemonLog& log) {
  const std::size_t most = most_descriptors(models.common().server(), models.all().size());
  if (most <= descriptor_limit()) return;
  warn(log, fmt::format("connections and logs may need {} open files, and the process may have {}: "
                        "raise the limit (ulimit -n, LimitNOFILE)",
                        most, descriptor_limit()));
}

struct Block {
  explicit Block(const DaemonModels& models) : memory(models.block_bytes()), left(memory.bytes()) {
    if (!memory.valid()) {
      throw RunError(fmt::format("no memory for a block of {}",
                                 bytes_text(static_cast<double>(models.block_bytes()))));
    }
    const ProcessOptions& process = models.common().process();
    if (process.prefault) prefault(memory.bytes(), std::thread::hardware_concurrency());
    locked = !process.lock_memory || ok(lock_memory());
  }
  std::span<std::byte> take(std::size_t bytes) {
    const std::span<std::byte> taken = left.first(bytes);
    left = left.subspan(Arena::aligned(bytes));
    return taken;
  }
  MappedBlock memory;
  std::span<std::byte> left;
  bool locked = false;
};

// Called before any OpenSSL code runs, which then never calls the heap.
void take_memory_for_tls(const ServerConfig& config, const ProcessOptions& process) {
  const std::size_t bytes = tls_memory_bytes(config);
  if (bytes == 0 || ok(install_tls_memory(bytes, process.prefault))) return;
  throw RunError(
      fmt::format("no memory of {} for OpenSSL", bytes_text(static_cast<double>(bytes))));
}

std::vector<Engine*> create_engines(const DaemonModels& models, Block& block, Clock& clock) {
  std::vector<Engine*> engines;
  for (const DaemonModels::Model& model : models.all()) {
    engines.push_back(value_or_refuse(
        Engine::create(model.config->engine(), block.take(model.config->engine_bytes()), clock)));
  }
  return engines;
}

std::unique_ptr<Server> create_server(const DaemonModels& models, std::span<Engine* const> engines,
                                      Block& block, Clock& clock) {
  const std::vector<PlannedModel> planned = models.planned();
  std::vector<HostedModel> hosted;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    hosted.push_back({planned[i].name, engines[i], models.all()[i].follows,
                      models.all()[i].config->schema_json()});
  }
  ServerConfig config = models.common().server();
  config.http.manual = web_manual();
  std::unique_ptr<Server> server =
      value_or_refuse(Server::create(config, hosted, block.take(models.server_bytes()), clock));
  if (const Result<bool> opened = server->open(); !opened.ok()) refuse_to_open(opened.error());
  return server;
}

// Answers come from the models that an operator chose before the last stop. Names that the
// configuration no longer has are skipped.
void restore_answers(const DaemonModels& models, Server& server) {
  const DurableConfig durable = models.common().server().durable;
  if (!durable.enabled() || !models.several()) return;
  for (std::size_t i = 0; i < server.models().count(); ++i) {
    const std::string folder = fmt::format("{}/{}", durable.folder, server.models().name(i));
    const std::string by = AnswerChoice::kept_in(folder);
    for (std::size_t j = 0; j < server.models().count(); ++j) {
      if (server.models().name(j) == by) (void)server.models().set_answered_by(i, j);
    }
  }
}

void start_learners(const DaemonModels& models, std::span<Engine* const> engines,
                    const Server& server, Learners& learners, DaemonLog& log) {
  const std::uint32_t threads = models.common().engine().learner_threads;
  const std::size_t spare = server.models().places() - server.models().count();
  if (!ok(learners.start(engines, threads, models.common().process(), spare))) {
    throw RunError("the learner thread could not be started");
  }
  warn_about(log, "learner", learners.warnings());
}

void start_server(Server& server, const ProcessOptions& options, DaemonLog& log) {
  if (!ok(server.start(options.observe, options.query))) {
    throw RunError("the socket threads could not be started");
  }
  warn_about(log, "observe", server.observe().thread_warnings);
  warn_about(log, "query", server.query().thread_warnings);
}

}  // namespace

void ignore_other_signals() {
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE,
                           SIGPWR, SIGSTKFLT, SIGXFSZ}) {
    std::signal(signal, SIG_IGN);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) std::signal(signal, SIG_IGN);
}

void serve(const DaemonModels& models, const std::string& file) {
  const std::vector<std::string> put_right = AddedModels::check_names(models);
  const sigset_t signals = block_signals();
  const ProcessOptions& process = models.common().process();
  const ServerConfig config = models.common().server();
  Notifier notifier;
  DaemonLog log(process.log);
  log_start(log, models, file, WINDHOVER_VERSION);
  for (const std::string& text : put_right) warn(log, text);
  take_memory_for_tls(config, process);
  raise_descriptor_limit();
  warn_of_few_descriptors(models, log);
  Block block(models);
  if (!block.locked) {
    warn(log,
         "the memory could not be locked; raise the limit (ulimit -l) or run with CAP_IPC_LOCK");
  }
  RealClock clock;
  const std::vector<Engine*> engines = create_engines(models, block, clock);
  const std::unique_ptr<Server> server = create_server(models, engines, block, clock);
  for (std::size_t i = 0; i < engines.size(); ++i) warn(log, server->kept().remarks(i));
  if (server->asks_who() && !config.tls.enabled()) {
    warn(log, "tokens travel in the clear over TCP: server.tls.certificate is not set");
  }
  restore_answers(models, *server);
  Learners learners;
  start_learners(models, engines, *server, learners, log);
  Watcher watcher(
      {engines, *server, learners, models.several() ? std::string(config.durable.folder) : ""},
      process.watchdog, log, notifier);

  AddedModels added(models, *server, learners, watcher, log, clock);
  added.restore();
  start_server(*server, process, log);
  if (!ok(added.start())) throw RunError("the thread that adds models could not be started");

  const std::string ready = ready_line(models, config, *server);
  log_ready(log, config, *server);
  notifier.ready();
  // Read before the line is out: whoever reads it may send rows at once.
  const std::optional<std::uint64_t> heap_at_ready = heap_calls();
  write_line(ready);
  const Watcher::End end = watcher.run(signals);
  const std::optional<std::uint64_t> heap_at_stop = heap_calls();
  if (end == Watcher::End::kStalled) end_without(watcher.stalled(), log);

  added.stop();
  server->request_stop();
  server->join();
  learners.stop();
  std::uint64_t rows = 0;
  for (const AddedModels::Model& model : added.all()) {
    if (config.durable.enabled()) keep_at_end(*server, model.place, log);
    rows += model.engine->head();
  }
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (config.durable.enabled() && models.all()[i].follows.empty()) keep_at_end(*server, i, log);
    if (models.all()[i].follows.empty()) rows += engines[i]->head();
  }
  watcher.finish();
  log.drain();
  const std::string heap =
      heap_at_ready ? fmt::format("{}", *heap_at_stop - *heap_at_ready) : std::string("null");
  write_line(fmt::format("stopped observations={} heap_calls={} peak_resident={} bytes\n", rows,
                         heap, peak_resident_bytes()));
}

}  // namespace windhover
