// Several models behind one server, started and stopped with a test.
#ifndef WINDHOVER_TESTS_IO_SERVED_MODELS_H_
#define WINDHOVER_TESTS_IO_SERVED_MODELS_H_

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

class ServedModels {
 public:
  struct Model {
    const char* name;
    EngineConfig engine;
    const char* follows = "";
  };

  ServedModels(const std::vector<Model>& models, const ServerConfig& config) {
    std::vector<PlannedModel> planned;
    std::vector<HostedModel> hosted;
    for (const Model& model : models) {
      EngineConfig engine = model.engine;
      engine.max_readers = readers_of(config) + 1;
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
    EXPECT_EQ(learners_.start(engines_, 1, {}, IdleStrategy::kPark), Status::kOk);
    EXPECT_EQ(server_->start(), Status::kOk);
  }
  ~ServedModels() { end(); }
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  void end() {
    server_->request_stop();
    server_->join();
    learners_.stop();
  }

  std::string observe_address() const {
    return "127.0.0.1:" + std::to_string(server_->observe_port());
  }
  std::string query_address() const { return "127.0.0.1:" + std::to_string(server_->query_port()); }
  Engine& engine(std::size_t i) { return *engines_[i]; }
  Server& server() { return *server_; }

 private:
  RealClock clock_;
  std::vector<MappedBlock> blocks_;
  std::vector<Engine*> engines_;
  std::unique_ptr<Server> server_;
  LearnerPool learners_;
};

inline ClientOptions about(const char* model, std::uint64_t producer = 0) {
  ClientOptions options;
  options.model = model;
  options.producer = producer;
  return options;
}

// So many rows of this many columns, with targets that are labels as well.
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
