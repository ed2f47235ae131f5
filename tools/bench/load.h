// An engine with its learner thread and server in this process, and what the suites that use one
// over loopback share.
#ifndef WINDHOVER_TOOLS_BENCH_LOAD_H_
#define WINDHOVER_TOOLS_BENCH_LOAD_H_

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/io/server_config.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/error.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover {

struct ServedOptions {
  std::uint32_t max_sessions = 64;
  // Locks memory, and gives the query thread a FIFO priority and a processor of its own, as far as
  // the machine permits.
  bool real_time = false;
  bool unix_sockets = false;      // without TCP
  std::string observe_path = {};  // of the observe endpoint's Unix-domain socket, beside TCP
  DurableConfig durable = {};     // its folder outlives the engine
  bool http = false;              // takes kHttpReaders of the engine's readers
};

// The last processor that this process may use; -1 where there is only one.
inline int last_processor() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2) return -1;
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &set)) --last;
  return last;
}

// RunError when it does not start.
inline void start_learner(LearnerThread& learner, Engine& engine) {
  if (!ok(learner.start(engine, {.name = "wh-learner"}, IdleStrategy::kPark))) {
    throw RunError("a thread could not be started");
  }
}

// Starts on construction, stops on destruction. UserError or RunError when something does not
// start.
class ServedEngine {
 public:
  explicit ServedEngine(const EngineConfig& config, const ServedOptions& options = {})
      : server_config_(config_of(options)),
        block_(value_or_throw(Engine::footprint(config))),
        engine_(value_or_throw(Engine::create(config, block_.bytes(), clock_))),
        server_block_(value_or_throw(Server::footprint(server_config_, engine_->config()))),
        server_(value_or_throw(
            Server::create(server_config_, *engine_, server_block_.bytes(), clock_))) {
    prefault(block_.bytes());
    ThreadOptions query = Server::query_thread_options();
    if (options.real_time) {
      memory_locked_ = ok(lock_memory());
      query.fifo_priority = 50;
      query.cpu = last_processor();
    }
    value_or_throw(server_->open());
    start_learner(learner_, *engine_);
    if (!ok(server_->start(Server::observe_thread_options(), query))) {
      throw RunError("a thread could not be started");
    }
  }
  ~ServedEngine() {
    server_->request_stop();
    server_->join();
    learner_.stop();
  }
  ServedEngine(const ServedEngine&) = delete;
  ServedEngine& operator=(const ServedEngine&) = delete;

  Engine& engine() { return *engine_; }
  Server& server() { return *server_; }
  bool memory_locked() const { return memory_locked_; }
  std::string observe_address() const { return address(observe_path_, server_->observe().port); }
  std::string http_address() const { return address({}, server_->http().port); }
  std::string query_address() const { return address(query_path_, server_->query().port); }

 private:
  ServerConfig config_of(const ServedOptions& options) {
    ServerConfig config;
    config.max_sessions = options.max_sessions;
    config.durable = options.durable;
    if (options.http) config.http.listen.tcp_address = "127.0.0.1";
    observe_path_ = options.observe_path;
    config.observe.unix_path = observe_path_;
    if (options.unix_sockets) {
      sockets_.emplace();
      observe_path_ = sockets_->in("observe");
      query_path_ = sockets_->in("query");
      config.observe = {.tcp_address = "", .unix_path = observe_path_};
      config.query = {.tcp_address = "", .unix_path = query_path_};
    }
    return config;
  }
  static std::string address(const std::string& path, std::uint16_t port) {
    return path.empty() ? fmt::format("127.0.0.1:{}", port) : "unix:" + path;
  }

  RealClock clock_;
  std::optional<TemporaryFolder> sockets_;  // the folder of the Unix-domain sockets
  std::string observe_path_;
  std::string query_path_;
  ServerConfig server_config_;
  MappedBlock block_;
  Engine* engine_;
  MappedBlock server_block_;
  std::unique_ptr<Server> server_;
  LearnerThread learner_;
  bool memory_locked_ = false;
};

// The size of the window: 100,000, the default, or above 100 parameters as many rows as make ten
// million numbers, because with more a posterior settles for tens of seconds.
std::uint64_t window_rows(std::uint32_t dimension);

// A linear model of `dimension` parameters over a window of window_rows(). UserError when the
// dimension is below 2.
EngineConfig served_config(const BenchOptions& options, std::uint32_t dimension,
                           std::uint32_t nonzeros = 0);

// `wanted`, but no more rows than fit into a frame of the default size. UserError when not even one
// fits.
std::uint32_t rows_that_fit(std::uint32_t wanted, std::uint32_t dimension, std::uint32_t nonzeros);

// The list, or the default where it is empty.
std::vector<std::uint32_t> list_or(const std::vector<std::uint32_t>& list,
                                   const std::vector<std::uint32_t>& otherwise);

void sleep_for(double seconds);
inline constexpr double kPatience = 600;
// Waits until `done`, looking every millisecond. RunError with `otherwise` after kPatience, in
// seconds.
void wait_until(const std::function<bool()>& done, const char* otherwise);

// Work on a thread of its own, which gets a std::stop_token, until end() or destruction.
template <class Result>
class Beside {
 public:
  template <class Work>
  explicit Beside(Work&& work)
      : result_(std::async(std::launch::async, std::forward<Work>(work), stop_.get_token())) {}
  ~Beside() { stop_.request_stop(); }  // the future then waits for the work

  // Stops the work and returns its result, or throws what it threw. Once.
  Result end() {
    stop_.request_stop();
    return result_.get();
  }

 private:
  std::stop_source stop_;
  std::future<Result> result_;
};

// Notes how far an engine has come; figures() gives what it has taken in and learned since.
class IngestSpan {
 public:
  explicit IngestSpan(ServedEngine& served);

  double rows_per_second() const;
  // rows_per_second, draws_per_observation (R), chains_times_draws (K R), window_full, and the
  // window's size. RunError when the learner has begun a cold start meanwhile.
  Json figures() const;

 private:
  std::uint64_t since(RuntimeCounter counter) const;

  ServedEngine& served_;
  std::array<std::uint64_t, static_cast<std::size_t>(RuntimeCounter::kCount)> before_;
  double start_;
};

// The default load: dense or sparse rows, kLoadRowsPerFrame a frame or as many as fit.
LoadRows load_rows(std::uint32_t dimension, std::uint32_t nonzeros);

// Sends at least 30,000 rows or a window, then nothing until the posterior has settled, which it
// has not during a cold start. With `rest` also waits until the learner has nothing left to do: its
// answers stand for as many steps as a tenth of a second before. Once for an engine. RunError after
// kPatience.
void settle(ServedEngine& served, const LoadRows& rows, bool rest);

// Rows a second that the server takes from 32 connections, "saturation" where a suite speaks of a
// share of it. REQUIRES: the posterior has settled.
double saturating_rate(ServedEngine& served, const LoadRows& rows);
inline constexpr std::uint32_t kLoadConnections = 32;
inline constexpr std::uint32_t kLoadRowsPerFrame = 256;

// The load of one run of `windhover bench ingest`.
struct IngestShape {
  std::uint32_t dimension;
  std::uint32_t nonzeros;
  std::uint32_t rows_per_frame;
  std::uint32_t connections;
  bool single_precision = false;
  bool unix_sockets = false;
};

// The runs of that suite with these options, in order.
std::vector<IngestShape> ingest_shapes(const BenchOptions& options);

// The name of the run.
std::string name_of(const IngestShape& shape);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LOAD_H_
