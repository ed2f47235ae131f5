// Several models behind one server: told apart by name, and nothing of one reaches another.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::several_models_test {
namespace {

// "price" with 3 columns, "clicks" with 2, "delay" with 3 as well.
class Models : public ServedModels {
 public:
  explicit Models(const ServerConfig& config = small_server(), bool keeps = false)
      : ServedModels({{"price", kept(small_engine_of(3), keeps)},
                      {"clicks", kept(small_engine_of(2, "logistic"), keeps)},
                      {"delay", kept(small_engine_of(3), keeps)}},
                     config) {}

 private:
  static EngineConfig kept(EngineConfig engine, bool keeps) {
    engine.checkpoints = keeps;
    engine.max_followers = keeps ? 1 : 0;
    return engine;
  }
};

TEST(SeveralModels, HelloNamesOneAndWelcomeSaysWhich) {
  Models models;
  Client client;
  ASSERT_EQ(client.connect(models.query_address(), about("clicks")), Status::kOk);
  EXPECT_EQ(client.welcome().model_name(), "clicks");
  EXPECT_EQ(client.welcome().features(), 2U);
  EXPECT_EQ(client.welcome().model(), v1::MODEL_KIND_LOGISTIC);
  EXPECT_EQ(client.welcome().fingerprint(), models.engine(1).fingerprint());
  EXPECT_EQ(client.welcome().instance_id(), models.server().models().instance_id(1));
  ASSERT_EQ(client.connect(models.query_address(), about("")), Status::kOk);
  EXPECT_EQ(client.welcome().model_name(), "price") << "the first";
  EXPECT_NE(client.connect(models.query_address(), about("prices")), Status::kOk);
  EXPECT_EQ(client.refusal(), v1::REASON_UNKNOWN_MODEL);
}

TEST(SeveralModels, RowsReachTheOneThatIsNamed) {
  Models models;
  Client price;
  Client clicks;
  ASSERT_EQ(price.connect(models.observe_address(), about("price", 7)), Status::kOk);
  ASSERT_EQ(clicks.connect(models.observe_address(), about("clicks", 7)), Status::kOk);
  send(price, 3, 500);
  send(clicks, 2, 300);  // producer 7 of another model is another producer
  EXPECT_EQ(models.engine(0).head(), 500U);
  EXPECT_EQ(models.engine(1).head(), 300U);
  EXPECT_EQ(models.engine(2).head(), 0U);
  EXPECT_EQ(price.totals().head, 500U);
  EXPECT_EQ(clicks.totals().head, 300U);
  v1::ProducerStatusResult where;
  ASSERT_EQ(clicks.producer_status(7, where), Status::kOk);
  EXPECT_EQ(where.next(), 300U);
  EXPECT_TRUE(eventually([&] {
    v1::StatusResult status;
    Client asker;
    return ok(asker.connect(models.query_address(), about("clicks"))) && ok(asker.status(status)) &&
           status.provenance().sequence() == 300;
  }));
}

TEST(SeveralModels, HttpAsksAndTellsTheOneThatIsNamed) {
  ServerConfig config = small_server();
  config.http.listen.tcp_address = "127.0.0.1";
  Models models(config);
  const std::string address = "127.0.0.1:" + std::to_string(models.server().http().port);
  HttpPeer peer(address);
  const std::string listed = peer.get("/v1/models").body;
  EXPECT_TRUE(listed.starts_with("{\"models\":3,\"first\":0,\"states\":[{\"name\":\"price\""))
      << listed;
  EXPECT_EQ(peer.get("/v1/status?model=prices").status, 404);
  const auto contains = [&](const std::string& path, const std::string& text) {
    return peer.get(path).body.find(text) != std::string::npos;
  };
  EXPECT_TRUE(contains("/v1/hello", "\"model_name\":\"price\""));
  EXPECT_TRUE(contains("/v1/hello?model=clicks", "\"model_name\":\"clicks\""));
  EXPECT_EQ(peer.get("/v1/events?after=0&model=clicks").status, 200);
  EXPECT_EQ(peer.get("/v1/events?after=0&model=prices").status, 404);
  const auto post = [&](const std::string& path, const std::string& body) {
    return peer.ask("POST", path, "Content-Type: application/json\r\n", body);
  };
  const std::string two = R"({"rows": 1, "features_f64": [0.5, -1], "targets_f64": [1]})";
  const std::string three = R"({"rows": 1, "features_f64": [0.5, -1, 2], "targets_f64": [1]})";
  EXPECT_EQ(post("/v1/observe?model=clicks", two).status, 200);
  EXPECT_EQ(post("/v1/observe?model=delay", three).status, 200);
  EXPECT_EQ(post("/v1/observe?model=delay", three).status, 200);
  EXPECT_EQ(models.engine(0).head(), 0U);
  EXPECT_EQ(models.engine(1).head(), 1U);
  EXPECT_EQ(models.engine(2).head(), 2U);
  EXPECT_EQ(post("/v1/predict?model=clicks", R"({"rows": 1, "features_f64": [1, 2]})").status, 200);
  EXPECT_EQ(post("/v1/predict", R"({"rows": 1, "features_f64": [1, 2]})").status, 400);
  EXPECT_TRUE(contains("/metrics", "windhover_head_rows{model=\"clicks\"} 1\n"));
  EXPECT_TRUE(contains("/metrics", "windhover_head_rows{model=\"delay\"} 2\n"));
  EXPECT_EQ(peer.get("/readyz").status, 200);
}

TEST(SeveralModels, AFurtherHelloSpeaksOfAnotherAndLetsGoOfProducers) {
  Models models;
  RawPeer peer(models.observe_address());
  const auto hello = [&](const char* name) {
    v1::Request request;
    request.mutable_hello()->set_version_max(1);
    request.mutable_hello()->set_model(name);
    v1::Response response;
    return peer.send(request) && peer.receive(response) ? response : v1::Response();
  };
  EXPECT_EQ(hello("price").welcome().model_name(), "price");
  v1::Request observe;
  observe.mutable_observe()->set_producer(5);
  observe.mutable_observe()->set_rows(1);
  for (int j = 0; j < 3; ++j) observe.mutable_observe()->add_features_f64(j);
  observe.mutable_observe()->add_targets_f64(1);
  v1::Response response;
  ASSERT_TRUE(peer.send(observe) && peer.receive(response));
  EXPECT_EQ(response.observe_ack().accepted(), 1U);
  EXPECT_EQ(hello("delay").welcome().model_name(), "delay");
  ASSERT_TRUE(peer.send(observe) && peer.receive(response));
  EXPECT_EQ(response.observe_ack().accepted(), 1U) << "not a duplicate: another model's rows";

  Client other;  // the first model's producer is free
  ClientOptions options = about("price", 5);
  options.first_sequence = 1;
  ASSERT_EQ(other.connect(models.observe_address(), options), Status::kOk);
  send(other, 3, 10);
  EXPECT_EQ(models.engine(0).head(), 11U);
  EXPECT_EQ(models.engine(2).head(), 1U);
}

TEST(SeveralModels, AFullWindowHoldsUpItsOwnSendersOnly) {
  // The learner of one stands still; the others' rows go on.
  ServerConfig config = small_server();
  EngineConfig engine = small_engine_of(3);
  engine.window_slack = 4'096;
  engine.max_frame_rows = 1'024;
  RealClock clock;
  std::vector<MappedBlock> blocks;
  std::vector<Engine*> engines;
  std::vector<PlannedModel> planned;
  std::vector<HostedModel> hosted;
  for (const char* name : {"stalled", "alive"}) {
    blocks.emplace_back(Engine::footprint(engine).value());
    engines.push_back(Engine::create(engine, blocks.back().bytes(), clock).value());
    planned.push_back({name, engine});
    hosted.push_back({name, engines.back()});
  }
  const MappedBlock block(Server::footprint(config, planned).value());
  const auto server = Server::create(config, hosted, block.bytes(), clock).value();
  ASSERT_TRUE(server->open().ok());
  LearnerPool learners;
  ASSERT_EQ(learners.start(std::span(engines).subspan(1), 1, {}, IdleStrategy::kPark), Status::kOk);
  ASSERT_EQ(server->start(), Status::kOk);
  const std::string address = "127.0.0.1:" + std::to_string(server->observe().port);

  std::thread stalled([&] {
    Client client;
    ASSERT_EQ(client.connect(address, about("stalled")), Status::kOk);
    send(client, 3, 10'000);
  });
  EXPECT_TRUE(eventually([&] { return server->counters().get(IoCounter::kWindowFullWaits) > 0; }));
  {
    Client client;
    ASSERT_EQ(client.connect(address, about("alive")), Status::kOk);
    send(client, 3, 50'000);
  }
  EXPECT_EQ(engines[1]->head(), 50'000U);
  EXPECT_LE(engines[0]->head(), 4'096U);
  LearnerPool late;
  ASSERT_EQ(late.start(std::span(engines).first(1), 1, {}, IdleStrategy::kPark), Status::kOk);
  stalled.join();
  EXPECT_EQ(engines[0]->head(), 10'000U);
  server->request_stop();
  server->join();
}

TEST(SeveralModels, EachIsKeptInItsOwnFolderAndComesBack) {
  const std::string folder = temporary_path("several-models-kept");
  ServerConfig config = small_server();
  config.durable.folder = folder;
  config.durable.log_options = {
      .bytes = 8ULL << 20, .segment_bytes = 1ULL << 20, .commit_bytes = 256ULL << 10};
  std::array<std::uint64_t, 2> instances{};
  {
    Models models(config, true);
    instances = {models.server().models().instance_id(0), models.server().models().instance_id(1)};
    Client price;
    Client clicks;
    ASSERT_EQ(price.connect(models.observe_address(), about("price", 7)), Status::kOk);
    EXPECT_EQ(price.welcome().durability(), v1::DURABILITY_LOGGED);
    ASSERT_EQ(clicks.connect(models.observe_address(), about("clicks", 7)), Status::kOk);
    send(price, 3, 500);
    send(clicks, 2, 300);
    price.close();
    clicks.close();
    models.end();
    EXPECT_EQ(models.server().kept().checkpoint_at_rest(0), Status::kOk);
  }
  Models models(config, true);
  EXPECT_EQ(models.server().models().instance_id(0), instances[0]);
  EXPECT_EQ(models.server().models().instance_id(1), instances[1]);
  Client clicks;
  ClientOptions options = about("clicks", 7);
  options.first_sequence = 300;
  ASSERT_EQ(clicks.connect(models.observe_address(), options), Status::kOk);
  send(clicks, 2, 5);
  clicks.close();
  EXPECT_EQ(models.engine(0).head(), 500U);
  EXPECT_EQ(models.engine(1).head(), 305U);
  EXPECT_EQ(models.engine(2).head(), 0U);
}

TEST(SeveralModels, NamesThatCannotStandAreRefused) {
  const EngineConfig engine = small_engine();
  const auto refused = [&](std::vector<const char*> names) {
    std::vector<PlannedModel> planned;
    for (const char* name : names) planned.push_back({name, engine});
    return !Server::footprint(small_server(), planned).ok();
  };
  EXPECT_FALSE(refused({"a", "B.9_-x"}));
  EXPECT_FALSE(refused({""}));
  EXPECT_TRUE(refused({"", "b"}));
  EXPECT_TRUE(refused({"a", "a"}));
  EXPECT_TRUE(refused({".."}));
  EXPECT_TRUE(refused({"a/b"}));
  EXPECT_TRUE(refused({std::string(64, 'x').c_str()}));
  EXPECT_FALSE(refused({std::string(63, 'x').c_str()}));
  EXPECT_TRUE(refused({}));
}

TEST(SeveralModels, TheBlockIsExactToTheByte) {
  const std::array<PlannedModel, 2> planned = {PlannedModel{"a", small_engine_of(3)},
                                               PlannedModel{"b", small_engine_of(40)}};
  RealClock clock;
  std::vector<MappedBlock> blocks;
  std::vector<HostedModel> hosted;
  for (const PlannedModel& model : planned) {
    blocks.emplace_back(Engine::footprint(model.engine).value());
    hosted.push_back(
        {model.name, Engine::create(model.engine, blocks.back().bytes(), clock).value()});
  }
  const std::size_t bytes = Server::footprint(small_server(), planned).value();
  const MappedBlock block(bytes);
  const auto less = Server::create(small_server(), hosted, block.bytes().first(bytes - 1), clock);
  ASSERT_FALSE(less.ok());
  EXPECT_EQ(less.error().status, Status::kArenaTooSmall);
  EXPECT_EQ(less.error().number, static_cast<double>(bytes));
  EXPECT_TRUE(Server::create(small_server(), hosted, block.bytes().first(bytes), clock).ok());
}

}  // namespace
}  // namespace windhover::testing::several_models_test
