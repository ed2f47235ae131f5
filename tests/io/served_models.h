// Several models behind one server, started and stopped with a test.
#ifndef WINDHOVER_TESTS_IO_SERVED_MODELS_H_
#define WINDHOVER_TESTS_IO_SERVED_MODELS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/runtime/learner_pool.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing {

inline EngineConfig small_engine_of(std::uint32_t features, const char* model = "linear") {
  EngineConfig config = small_engine();
  config.model.features = features;
  config.model.name = model;
  return config;
}

// The real one, until it is stopped: then nothing times out.
class StoppableClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override {
    const std::int64_t stopped_ns = stopped_ns_.load();
    return stopped_ns != 0 ? stopped_ns : real_.now_ns();
  }
  void stop() noexcept { stopped_ns_ = real_.now_ns(); }
  // While it is stopped.
  void pass(std::chrono::nanoseconds time) noexcept { stopped_ns_ += time.count(); }
  void go_on() noexcept { stopped_ns_ = 0; }

 private:
  RealClock real_;
  std::atomic<std::int64_t> stopped_ns_{0};
};

class ServedModels {
 public:
  struct Model {
    const char* name;
    EngineConfig engine;
    const char* follows = "";
  };

  // Without `starts` the server is open, the engines learn, and start() is still to come.
  ServedModels(const std::vector<Model>& models, const ServerConfig& config, bool starts = true)
      : config_(config) {
    std::vector<PlannedModel> planned;
    std::vector<HostedModel> hosted;
    for (const Model& model : models) {
      EngineConfig engine = model.engine;
      engine.max_readers = readers_of(config) + 1;
      engine.max_watchers = watchers_of(config);
      planned.push_back({model.name, engine});
      blocks_.emplace_back(Engine::footprint(engine).value());
      engines_.push_back(Engine::create(engine, blocks_.back().bytes(), clock_).value());
      hosted.push_back({model.name, engines_.back(), model.follows});
    }
    blocks_.emplace_back(Server::footprint(config, planned).value());
    auto server = Server::create(config, hosted, blocks_.back().bytes(), clock_);
    if (!server.ok()) throw std::runtime_error(server.error().sentence);
    server_ = std::move(server).value();
    const Result<bool> opened = server_->open();
    EXPECT_TRUE(opened.ok()) << opened.error().sentence;
    const std::size_t spare = server_->models().places() - server_->models().count();
    EXPECT_EQ(learners_.start(engines_, 1, {}, IdleStrategy::kPark, spare), Status::kOk);
    if (starts) start();
  }
  ~ServedModels() { end(); }
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  void start() { EXPECT_EQ(server_->start(), Status::kOk); }
  void end() {
    clock_.go_on();
    server_->request_stop();
    server_->join();
    learners_.stop();
  }

  // One that comes while the others are served.
  struct Added {
    Added(const EngineConfig& config, std::size_t store_bytes)
        : block(Engine::footprint(config).value()), store(store_bytes) {}
    MappedBlock block;
    MappedBlock store;
    Engine* engine = nullptr;
    std::size_t place = 0;
  };
  // Null, and why not in `error`: it is refused.
  Added* add(const char* name, EngineConfig config, Error* error = nullptr) {
    Added* const added = make_ready(name, config, error);
    if (added != nullptr) server_->models().let_in(added->place);
    return added;
  }
  // The same, but nobody is let in.
  Added* make_ready(const char* name, EngineConfig config, Error* error = nullptr) {
    config.max_readers = readers_of(config_) + 1;
    config.max_watchers = watchers_of(config_);
    auto added = std::make_unique<Added>(config, ServerModels::footprint(config_).value());
    added->engine = Engine::create(config, added->block.bytes(), clock_).value();
    const auto place = server_->models().add({name, added->engine}, added->store.bytes());
    if (!place.ok()) {
      EXPECT_NE(error, nullptr) << place.error().sentence;
      if (error != nullptr) *error = place.error();
      return nullptr;
    }
    added->place = place.value();
    EXPECT_EQ(learners_.add(*added->engine), Status::kOk);
    return added_.emplace_back(std::move(added)).get();
  }
  // One that is ready and has not been let in.
  void give_up(Added* added) {
    learners_.remove(*added->engine);
    server_->models().forget(added->place);
    std::erase_if(added_, [&](const auto& one) { return one.get() == added; });
  }
  // The rows that it had; its memory is gone then.
  std::uint64_t remove(Added* added) {
    server_->models().let_go_of(added->place);
    learners_.remove(*added->engine);
    if (config_.durable.enabled()) {
      EXPECT_EQ(server_->kept().checkpoint_at_rest(added->place), Status::kOk);
    }
    server_->models().forget(added->place);
    const std::uint64_t rows = added->engine->head();
    std::erase_if(added_, [&](const auto& one) { return one.get() == added; });
    return rows;
  }

  std::string observe_address() const {
    return "127.0.0.1:" + std::to_string(server_->observe().port);
  }
  std::string query_address() const { return "127.0.0.1:" + std::to_string(server_->query().port); }
  Engine& engine(std::size_t i) { return *engines_[i]; }
  Server& server() { return *server_; }
  StoppableClock& clock() { return clock_; }  // for engines and server

 private:
  const ServerConfig config_;  // its views are not looked at
  StoppableClock clock_;
  std::vector<MappedBlock> blocks_;
  std::vector<Engine*> engines_;
  std::vector<std::unique_ptr<Added>> added_;
  std::unique_ptr<Server> server_;
  LearnerPool learners_;
};

inline ClientOptions about(const char* model, std::uint64_t producer = 0) {
  ClientOptions options;
  options.model = model;
  options.producer = producer;
  return options;
}

// Sends rows of this many columns, with targets that are labels as well.
inline void send(Client& client, std::uint32_t columns, std::size_t rows) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) x.push_back(static_cast<double>((i + j) % 7) - 3);
    y.push_back(static_cast<double>(i % 2));
  }
  ASSERT_EQ(client.send_observe({x, y, {}, {}}), Status::kOk);
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk);
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_SERVED_MODELS_H_
