// An engine, its learner thread and its server in this process, for load tests.
#ifndef WINDHOVER_TOOLS_BENCH_SERVED_ENGINE_H_
#define WINDHOVER_TOOLS_BENCH_SERVED_ENGINE_H_

#include <fmt/format.h>

#include <memory>
#include <string>

#include "windhover/io/server.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/error.h"

namespace windhover {

struct ServedOptions {
  std::uint32_t max_sessions = 64;
  // Locked memory, and the query thread before everybody else, as far as the
  // machine permits it.
  bool real_time = false;
};

// Starts on construction, stops on destruction. Throws when something does not start.
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
    }
    value_or_throw(server_->open());
    // Not by Server::start(), which does not say what was not permitted.
    const auto observes = [](void* server) { static_cast<Server*>(server)->run_observe(); };
    const auto answers = [](void* server) { static_cast<Server*>(server)->run_query(); };
    if (!ok(observe_thread_.start(Server::observe_thread_options(), observes, server_.get())) ||
        !ok(query_thread_.start(query, answers, server_.get())) ||
        !ok(learner_.start(*engine_, {.name = "wh-learner"}, IdleStrategy::Kind::kPark))) {
      stop();
      throw RunError("a thread could not be started");
    }
  }
  ~ServedEngine() { stop(); }
  ServedEngine(const ServedEngine&) = delete;
  ServedEngine& operator=(const ServedEngine&) = delete;

  Engine& engine() { return *engine_; }
  Server& server() { return *server_; }
  bool memory_locked() const { return memory_locked_; }
  // Mask of ThreadWarning.
  std::uint32_t query_thread_warnings() const { return query_thread_.warnings(); }
  std::string observe_address() const {
    return fmt::format("127.0.0.1:{}", server_->observe_port());
  }
  std::string query_address() const { return fmt::format("127.0.0.1:{}", server_->query_port()); }

 private:
  static ServerConfig config_of(const ServedOptions& options) {
    ServerConfig config;
    config.max_sessions = options.max_sessions;
    return config;
  }
  void stop() {
    server_->request_stop();
    observe_thread_.join();
    query_thread_.join();
    learner_.stop();
  }

  RealClock clock_;
  ServerConfig server_config_;
  MappedBlock block_;
  Engine* engine_;
  MappedBlock server_block_;
  std::unique_ptr<Server> server_;
  Thread observe_thread_;
  Thread query_thread_;
  LearnerThread learner_;
  bool memory_locked_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_SERVED_ENGINE_H_
