// Models that come and go while a server serves others.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "windhover/io/model_orders.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::added_models_test {
namespace {

ServerConfig growing_server() {
  ServerConfig config = small_server();
  config.added.memory_bytes = 64 << 20;
  config.added.max_models = 2;
  config.http.listen.tcp_address = "127.0.0.1";
  return config;
}

EngineConfig kept(EngineConfig engine) {
  engine.checkpoints = true;
  engine.max_followers = 1;
  return engine;
}

// One model, "first", and places for two more.
struct Growing : ServedModels {
  explicit Growing(const ServerConfig& config = growing_server())
      : ServedModels({{"first", kept(small_engine_of(3))}}, config) {}
  std::string http_address() { return "127.0.0.1:" + std::to_string(server().http_port()); }
};

Status predict(Client& client, std::size_t columns, std::size_t rows = 1,
               std::span<const double> quantiles = {}) {
  const std::vector<double> x(rows * columns, 0.25);
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  request.quantile_probabilities = quantiles;
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  return client.predict(request, answers, provenance);
}

TEST(AddedModels, OneThatComesTakesRowsAndAnswersOnEveryEndpoint) {
  Growing models;
  Client sender;
  ASSERT_NE(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  EXPECT_EQ(sender.refusal(), v1::REASON_UNKNOWN_MODEL);
  auto* const second = models.add("second", small_engine_of(2, "logistic"));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(models.server().model_name(second->place), "second");
  ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  EXPECT_EQ(sender.welcome().features(), 2U);
  send(sender, 2, 700);
  EXPECT_EQ(second->engine->head(), 700U);
  Client asker;
  ASSERT_EQ(asker.connect(models.query_address(), about("second")), Status::kOk);
  EXPECT_EQ(predict(asker, 2), Status::kOk);
  std::vector<v1::ModelState> states;
  ASSERT_EQ(asker.models(states), Status::kOk);
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[1].name(), "second");
  EXPECT_EQ(states[1].head(), 700U);
  HttpPeer http(models.http_address());
  const HttpResponse posted =
      http.ask("POST", "/v1/observe?model=second", "Content-Type: application/json\r\n",
               R"({"rows": 1, "features_f64": [1, 2], "targets_f64": [1]})");
  EXPECT_EQ(posted.status, 200) << posted.body;
  EXPECT_EQ(second->engine->head(), 701U);
  EXPECT_NE(http.get("/metrics").body.find("model=\"second\""), std::string::npos);
}

TEST(AddedModels, WhoSpeaksOfOneThatGoesIsToldAndOthersAreNot) {
  Growing models;
  auto* const second = models.add("second", small_engine_of(2));
  ASSERT_NE(second, nullptr);
  Client sender;
  Client asker;
  Client other;
  ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  ASSERT_EQ(asker.connect(models.query_address(), about("second")), Status::kOk);
  ASSERT_EQ(other.connect(models.query_address(), about("first")), Status::kOk);
  HttpPeer http(models.http_address());
  EXPECT_EQ(http.get("/v1/status?model=second").status, 200);
  send(sender, 2, 100);
  EXPECT_EQ(models.remove(second), 100U);
  EXPECT_NE(predict(asker, 2), Status::kOk);
  EXPECT_EQ(asker.refusal(), v1::REASON_UNKNOWN_MODEL);
  EXPECT_EQ(predict(other, 3), Status::kOk) << other.error_text();
  EXPECT_EQ(http.get("/v1/status?model=second").status, 404);
  EXPECT_EQ(http.get("/v1/status?model=first").status, 200);
  EXPECT_NE(asker.connect(models.query_address(), about("second")), Status::kOk);
  EXPECT_EQ(asker.refusal(), v1::REASON_UNKNOWN_MODEL);
}

TEST(AddedModels, APlaceIsFreeAgainForOneOfTheSameNameAndOthers) {
  Growing models;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t columns = 1 + i % 3;
    auto* const second = models.add("second", small_engine_of(columns));
    ASSERT_NE(second, nullptr) << i;
    Client sender;
    ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
    EXPECT_EQ(sender.welcome().head(), 0U) << "nothing of the one before";
    EXPECT_EQ(sender.producer().next(), 0U);
    send(sender, columns, 50);
    EXPECT_EQ(models.remove(second), 50U);
  }
}

TEST(AddedModels, WhatDoesNotFitIsRefusedAndChangesNothing) {
  Growing models;
  Error error;
  EXPECT_EQ(models.add("first", small_engine_of(2), &error), nullptr);
  EXPECT_STREQ(error.sentence, "the server has a model of this name");
  EXPECT_EQ(models.add("a/b", small_engine_of(2), &error), nullptr);
  EXPECT_EQ(models.add("large", small_engine_of(4), &error), nullptr);
  EXPECT_STREQ(error.sentence,
               "the model has more parameters than server.added.max_parameters allows");
  EXPECT_EQ(error.number, 5);
  auto* const second = models.add("second", small_engine_of(2));
  auto* const third = models.add("third", small_engine_of(2));
  ASSERT_NE(second, nullptr);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(models.add("fourth", small_engine_of(2), &error), nullptr);
  EXPECT_STREQ(error.sentence, "all places are taken, server.added.max_models");
  Client asker;
  ASSERT_EQ(asker.connect(models.query_address(), about("first")), Status::kOk);
  std::vector<v1::ModelState> states;
  ASSERT_EQ(asker.models(states), Status::kOk);
  EXPECT_EQ(states.size(), 3U);
}

TEST(AddedModels, ALargerOneFitsWhereTheConfigurationSaysSo) {
  ServerConfig config = growing_server();
  config.added.max_parameters = 60;
  Growing models(config);
  auto* const large = models.add("large", small_engine_of(59));
  ASSERT_NE(large, nullptr);
  Client sender;
  ASSERT_EQ(sender.connect(models.observe_address(), about("large")), Status::kOk);
  send(sender, 59, 20);
  Client asker;
  ASSERT_EQ(asker.connect(models.query_address(), about("large")), Status::kOk);
  EXPECT_EQ(predict(asker, 59), Status::kOk) << asker.error_text();
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  EXPECT_EQ(asker.posterior(parameters, provenance), Status::kOk) << asker.error_text();
  EXPECT_EQ(parameters.size(), 60U);
  std::vector<double> theta;
  EXPECT_EQ(asker.draws(theta, provenance), Status::kOk) << asker.error_text();
  EXPECT_EQ(theta.size(), 60U * provenance.draws);
}

TEST(AddedModels, LongQuestionsAboutOneThatGoesLeaveTheirPlaceToOthers) {
  Growing models;
  auto* const second = models.add("second", small_engine_of(3));
  ASSERT_NE(second, nullptr);
  // With draws a quantile is that of a mixture, so that a question takes its time.
  Client sender;
  ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  send(sender, 3, 2'000);
  EXPECT_TRUE(eventually([&] { return second->engine->waiting_rows() == 0; }));
  v1::Request hello;
  hello.mutable_hello()->set_version_max(1);
  hello.mutable_hello()->set_model("second");
  // As many rows and quantiles as there may be: more than a turn, so it takes the one place.
  std::vector<double> quantiles;
  for (int i = 1; i <= 16; ++i) quantiles.push_back(i / 17.0);
  v1::Request question;
  question.mutable_predict()->set_rows(32);
  for (int i = 0; i < 32 * 3; ++i) question.mutable_predict()->add_features_f64(0.1 * i);
  question.mutable_predict()->mutable_quantile_probabilities()->Add(quantiles.begin(),
                                                                    quantiles.end());
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 3; ++i) {
    std::string bytes = RawPeer::framed(hello);
    // More than the sockets and the server's buffer hold: some are left when they are sent.
    for (int j = 0; j < 2'000; ++j) bytes += RawPeer::framed(question);
    peers.push_back(std::make_unique<RawPeer>(models.query_address()));
    EXPECT_TRUE(peers.back()->send(bytes));
  }
  models.remove(second);
  Client other;
  ASSERT_EQ(other.connect(models.query_address(), about("first")), Status::kOk);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(predict(other, 3, 32, quantiles), Status::kOk) << other.error_text();
    EXPECT_EQ(predict(other, 3), Status::kOk) << other.error_text();
  }
}

// The threads are at work when start() returns, and before that nobody is needed.
TEST(AddedModels, OneMayComeAndGoAsSoonAsItIsStarted) {
  for (int i = 0; i < 10; ++i) {
    Growing models;
    models.remove(models.add("second", small_engine_of(2)));
    auto* const third = models.add("third", small_engine_of(2));
    ASSERT_NE(third, nullptr);
    Client sender;
    ASSERT_EQ(sender.connect(models.observe_address(), about("third", 1)), Status::kOk);
    send(sender, 2, 10);
  }
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(AddedModels, AServerLeavesNoDescriptorBehind) {
  { const Growing once; }  // what the process keeps for ever
  const std::size_t before = open_descriptors();
  { const Growing models; }
  EXPECT_EQ(open_descriptors(), before);
}

// However few descriptors there are: a server that is made can wait for orders.
TEST(AddedModels, WithoutADescriptorForOrdersThereIsNoServer) {
  RealClock clock;
  EngineConfig engine_config = kept(small_engine_of(3));
  const ServerConfig config = growing_server();
  engine_config.max_readers = 8 * readers_of(config);
  const std::vector<PlannedModel> planned = {{"first", engine_config}};
  const MappedBlock engine_block(Engine::footprint(engine_config).value());
  const MappedBlock block(Server::footprint(config, planned).value());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit before = limit;
  std::unique_ptr<Server> server;
  int refused = 0;
  for (limit.rlim_cur = open_descriptors(); server == nullptr && refused < 100; ++limit.rlim_cur) {
    Engine* const engine = Engine::create(engine_config, engine_block.bytes(), clock).value();
    const HostedModel first{"first", engine};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    auto made = Server::create(config, {&first, 1}, block.bytes(), clock);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    if (made.ok()) {
      server = std::move(made).value();
    } else {
      EXPECT_EQ(made.status(), Status::kIoError) << made.error().sentence;
      EXPECT_EQ(errno_of(made.error()), EMFILE);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1);
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->model_orders()->valid());
}

TEST(AddedModels, NamesInTheIdentitiesFileHoldForModelsThatComeLater) {
  ServerConfig config = growing_server();
  const std::string file = write_identities(
      "later", token_line("ada", "observe,query", "second") + token_line("root", "admin"));
  config.identities_file = file;
  config.max_identities = 8;
  Growing models(config);
  ClientOptions ada = about("second");
  ada.token = "ada-token";
  Client client;
  EXPECT_NE(client.connect(models.query_address(), ada), Status::kOk);
  auto* const second = models.add("second", small_engine_of(2));
  ASSERT_NE(second, nullptr);
  ASSERT_EQ(client.connect(models.query_address(), ada), Status::kOk) << client.error_text();
  EXPECT_EQ(predict(client, 2), Status::kOk);
  models.remove(second);
  auto* const third = models.add("third", small_engine_of(2));
  ASSERT_NE(third, nullptr) << "in the same place";
  ada.model = "third";
  EXPECT_NE(client.connect(models.query_address(), ada), Status::kOk);
  EXPECT_EQ(client.refusal(), v1::REASON_NOT_PERMITTED) << "the role was on another name";
}

// Orders go to the thread that carries them out, one at a time, and their outcome is asked after.
TEST(AddedModels, OrdersAreForWhoIsAdminOfAllModels) {
  ServerConfig config = growing_server();
  const std::string file =
      write_identities("orders", token_line("ada", "admin", "first") + token_line("root", "admin"));
  config.identities_file = file;
  config.max_identities = 8;
  Growing models(config);
  ModelOrders& orders = *models.server().model_orders();
  Client ada;
  Client root;
  ClientOptions options = about("first");
  options.token = "ada-token";
  ASSERT_EQ(ada.connect(models.query_address(), options), Status::kOk);
  options.token = "root-token";
  ASSERT_EQ(root.connect(models.observe_address(), options), Status::kOk);
  v1::HostModel order;
  order.set_action(v1::HOST_ACTION_ADD);
  order.set_name("second");
  order.set_configuration("[model]");
  v1::HostModelResult result;
  EXPECT_EQ(ada.host_model(order, result), Status::kNotPermitted);
  EXPECT_EQ(root.host_model(order, result), Status::kUnsupported) << "nobody carries them out";
  orders.begin();
  ModelOrder seen;
  std::thread carries_out([&] {
    while (orders.wait(seen)) {
      ModelOutcome outcome;
      outcome.number = seen.number;
      outcome.needed_bytes = 7;
      if (seen.number > 1) outcome.say(Status::kArenaTooSmall, "too l\xc3\xa4rge");
      orders.finish(outcome);
    }
  });
  EXPECT_EQ(ada.host_model(order, result), Status::kNotPermitted);
  ASSERT_EQ(root.host_model(order, result), Status::kOk) << root.error_text();
  EXPECT_EQ(result.request(), 1U);
  EXPECT_EQ(result.reason(), v1::REASON_OK);
  EXPECT_EQ(result.needed_bytes(), 7U);
  EXPECT_STREQ(seen.name.data(), "second");
  EXPECT_EQ(seen.configuration(), "[model]");
  ASSERT_EQ(root.host_model(order, result), Status::kOk);
  EXPECT_EQ(result.reason(), v1::REASON_ARENA_TOO_SMALL);
  EXPECT_EQ(result.error(), "too l??rge");
  order.set_name("no/name");
  EXPECT_EQ(root.host_model(order, result), Status::kInvalidArgument);
  order.Clear();
  order.set_request(99);
  EXPECT_EQ(root.host_model(order, result), Status::kInvalidArgument) << "there is no such order";
  order.Clear();
  order.set_action(v1::HOST_ACTION_ADD);
  order.set_name("second");
  order.set_configuration(std::string(HostModelQuery::kMostConfiguration + 1, ' '));
  EXPECT_NE(root.host_model(order, result), Status::kOk);
  EXPECT_EQ(root.refusal(), v1::REASON_TOO_LARGE);
  HttpPeer http(models.http_address());
  const std::string fields = "Content-Type: application/json\r\nAuthorization: Bearer ";
  EXPECT_EQ(http.ask("POST", "/v1/host_model", fields + "ada-token\r\n", "{}").status, 403);
  const HttpResponse asked =
      http.ask("POST", "/v1/host_model", fields + "root-token\r\n", R"({"request": "1"})");
  EXPECT_EQ(asked.status, 200);
  EXPECT_NE(asked.body.find("\"finished\":true"), std::string::npos) << asked.body;
  orders.end();
  carries_out.join();
}

TEST(AddedModels, AFolderIsTakenUpByTheNextOneOfThatNameAndConfiguration) {
  ServerConfig config = growing_server();
  const std::string folder = temporary_path("added-models");
  config.durable.folder = folder;
  config.durable.log_options = {
      .bytes = 8 << 20, .segment_bytes = 1 << 20, .commit_bytes = 256 << 10};
  Growing models(config);
  for (std::uint64_t round = 0; round < 3; ++round) {
    auto* const second = models.add("second", kept(small_engine_of(2)));
    ASSERT_NE(second, nullptr);
    Client sender;
    ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1 + round)), Status::kOk);
    EXPECT_EQ(sender.welcome().head(), 200 * round);
    EXPECT_EQ(sender.welcome().durability(), v1::DURABILITY_LOGGED);
    send(sender, 2, 200);
    EXPECT_EQ(models.remove(second), 200 * (round + 1));
  }
  Error error;
  EXPECT_EQ(models.add("second", kept(small_engine_of(3)), &error), nullptr);
  EXPECT_NE(std::string(error.sentence).find("second"), std::string::npos) << error.sentence;
  auto* const third = models.add("third", kept(small_engine_of(3)));
  EXPECT_NE(third, nullptr) << "the place of the one that was refused is free";
}

// Rows and questions go on while another model comes and goes: everything is accounted for.
TEST(AddedModels, OthersAreServedWhileModelsComeAndGo) {
  Growing models;
  std::atomic<bool> done{false};
  std::atomic<int> questions{0};
  std::thread sends([&] {
    Client sender;
    ASSERT_EQ(sender.connect(models.observe_address(), about("first", 9)), Status::kOk);
    while (!done || sender.totals().sent < 2'000) send(sender, 3, 100);
    EXPECT_EQ(sender.totals().accepted, sender.totals().sent);
    EXPECT_EQ(models.engine(0).head(), sender.totals().sent);
  });
  std::thread asks([&] {
    Client asker;
    ASSERT_EQ(asker.connect(models.query_address(), about("first")), Status::kOk);
    while (!done) {
      ASSERT_EQ(predict(asker, 3), Status::kOk) << asker.error_text();
      ++questions;
    }
  });
  std::uint64_t accepted = 0;
  std::uint64_t had = 0;
  for (int i = 0; i < 25; ++i) {
    auto* const second = models.add("second", small_engine_of(2));
    ASSERT_NE(second, nullptr);
    Client sender;
    ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
    send(sender, 2, 100);
    accepted += sender.totals().accepted;
    had += models.remove(second);
  }
  EXPECT_EQ(had, accepted);
  EXPECT_EQ(had, 2'500U);
  EXPECT_TRUE(eventually([&] { return questions > 10; }));
  done = true;
  sends.join();
  asks.join();
  EXPECT_EQ(models.server().counters().get(IoCounter::kHandlerHeapFallbacks), 0U);
}

}  // namespace
}  // namespace windhover::testing::added_models_test
