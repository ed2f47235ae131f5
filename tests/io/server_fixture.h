// A real engine behind a real server on loopback sockets, with its three threads.
#ifndef WINDHOVER_TESTS_IO_SERVER_FIXTURE_H_
#define WINDHOVER_TESTS_IO_SERVER_FIXTURE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/client.h"
#include "windhover/io/server.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/engine.h"

namespace windhover::testing {

inline constexpr std::uint32_t kFeatures = 3;

inline EngineConfig small_engine() {
  EngineConfig config;
  config.model.name = "linear";
  config.model.features = kFeatures;
  config.model.noise_variance = 1.0;
  config.window_size = 5'000;
  config.window_slack = 8'192;
  config.max_frame_rows = 4'096;
  config.max_readers = kServerReaders + kServerWatchers + 1;
  config.max_query_rows = 32;
  config.sampler.chains = 2;
  return config;
}

inline ServerConfig small_server() {
  ServerConfig config;
  config.max_sessions = 8;
  config.max_producers = 16;
  return config;
}

// Polls until `done`, at most a minute: others may want the processor.
inline bool eventually(const std::function<bool()>& done) {
  for (int i = 0; i < 60'000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Goes with the real one, and can be put forward: a deadline is over then, and not because the
// machine has stood still.
class ForwardClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override {
    return real_.now_ns() + ahead_ns_.load(std::memory_order_relaxed);
  }
  void put_forward(std::chrono::nanoseconds by) noexcept {
    ahead_ns_.fetch_add(by.count(), std::memory_order_relaxed);
  }

 private:
  RealClock real_;
  std::atomic<std::int64_t> ahead_ns_{0};
};

class TestServer {
 public:
  explicit TestServer(const ServerConfig& config = small_server(),
                      const EngineConfig& engine_config = small_engine(), bool learn = true)
      : engine_block_(Engine::footprint(engine_config).value()),
        server_block_(Server::footprint(config, engine_config).value()),
        engine_(Engine::create(engine_config, engine_block_.bytes(), clock_).value()),
        server_(Server::create(config, *engine_, server_block_.bytes(), clock_).value()) {
    const Result<bool> opened = server_->open();
    EXPECT_TRUE(opened.ok()) << opened.error().sentence << " " << opened.error().number;
    EXPECT_EQ(server_->start(), Status::kOk);
    learn_ = learn;
    learner_ = std::thread([this] {
      IdleStrategy idle;
      while (!done_) idle.idle(learn_ ? engine_->poll(64) : 0);
    });
  }

  ~TestServer() {
    server_->request_stop();
    server_->join();
    done_ = true;
    learner_.join();
    EXPECT_EQ(counter(IoCounter::kHandlerHeapFallbacks), 0U);
    EXPECT_EQ(counter(IoCounter::kRowsReceived), counter(IoCounter::kRowsAccepted) +
                                                     counter(IoCounter::kRowsRefused) +
                                                     counter(IoCounter::kRowsDuplicate));
    EXPECT_EQ(counter(IoCounter::kRowsAccepted), engine_->head());
  }

  std::string observe_address() const {
    return "127.0.0.1:" + std::to_string(server_->observe().port);
  }
  std::string query_address() const { return "127.0.0.1:" + std::to_string(server_->query().port); }
  std::uint64_t counter(IoCounter id) { return server_->counters().get(id); }
  Engine& engine() { return *engine_; }
  Server& server() { return *server_; }
  void learn(bool on) { learn_ = on; }
  ForwardClock& clock() { return clock_; }

 private:
  ForwardClock clock_;
  MappedBlock engine_block_;
  MappedBlock server_block_;
  Engine* engine_;
  std::unique_ptr<Server> server_;
  std::atomic<bool> learn_{true};
  std::atomic<bool> done_{false};
  std::thread learner_;
};

// Rows that differ from one another and can be made bad.
struct TestRows {
  explicit TestRows(std::size_t rows, std::size_t first = 0) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = static_cast<double>((first + i) % 17) / 8.0 - 1.0;
      features.insert(features.end(), {x, x * x, 1.0 - x});
      targets.push_back(0.5 * x + 0.25);
    }
  }
  ObserveRows rows() const { return {features, targets, {}, {}}; }

  std::vector<double> features;
  std::vector<double> targets;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_SERVER_FIXTURE_H_
