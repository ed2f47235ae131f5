// Models that come and go while a server serves others.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/growing_models.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::added_models_test {
namespace {

TEST(AddedModels, OneThatComesTakesRowsAndAnswersOnEveryEndpoint) {
  Growing models;
  Client sender;
  ASSERT_NE(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  EXPECT_EQ(sender.refusal(), v1::REASON_UNKNOWN_MODEL);
  auto* const second = models.add("second", small_engine_of(2, "logistic"));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(models.server().models().name(second->place), "second");
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

// As the host counts them, and also of one that is given up before anybody is let in.
TEST(AddedModels, MetricsSayWhatTheyTakeOfTheBudget) {
  Growing models;
  HttpPeer http(models.http_address());
  const auto says = [&](const std::string& name, std::size_t value) {
    const std::string text = http.get("/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name;
    return at != std::string::npos &&
           std::stod(text.substr(at + name.size() + 2)) == static_cast<double>(value);
  };
  const std::string used = "windhover_added_memory_used_bytes";
  const std::size_t store = ServerModels::footprint(growing_server()).value();
  EXPECT_TRUE(says("windhover_added_memory_bytes", growing_server().added.memory_bytes));
  EXPECT_TRUE(says(used, 0));
  auto* const second = models.add("second", small_engine_of(2));
  ASSERT_NE(second, nullptr);
  const std::size_t taken = Arena::aligned(second->block.bytes().size()) + store;
  EXPECT_TRUE(says(used, taken));
  auto* const third = models.make_ready("third", small_engine_of(1));
  ASSERT_NE(third, nullptr);
  EXPECT_TRUE(says(used, taken + Arena::aligned(third->block.bytes().size()) + store));
  models.give_up(third);
  EXPECT_TRUE(says(used, taken));
  models.remove(second);
  EXPECT_TRUE(says(used, 0));
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

// A network's quantiles are dear: each question below keeps the one place for some 15 ms.
TEST(AddedModels, LongQuestionsAboutOneThatGoesLeaveTheirPlaceToOthers) {
  ServerConfig config = growing_server();
  config.added.max_parameters = 40;
  Growing models(config);
  EngineConfig network = small_engine_of(3, "mlp-linear");
  network.model.hidden = 4;
  auto* const second = models.add("second", network);
  ASSERT_NE(second, nullptr);
  v1::Request hello;
  hello.mutable_hello()->set_version_max(1);
  hello.mutable_hello()->set_model("second");
  v1::Request question;
  question.mutable_predict()->set_rows(32);
  for (int i = 0; i < 32 * 3; ++i) question.mutable_predict()->add_features_f64(0.1 * i);
  for (int i = 1; i <= 16; ++i) {
    question.mutable_predict()->add_quantile_probabilities(i / 17.0);
  }
  std::string bytes = RawPeer::framed(hello);
  for (int i = 0; i < 40; ++i) bytes += RawPeer::framed(question);
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(std::make_unique<RawPeer>(models.query_address()));
    ASSERT_TRUE(peers.back()->send(bytes));
  }
  // Once one is answered, the place is somebody's until the last of the 120 is.
  v1::Response response;
  for (const char* what : {"welcome", "answer"}) {
    ASSERT_TRUE(peers[0]->receive(response)) << what;
  }
  ASSERT_TRUE(response.has_predict_result());
  Client other;
  ASSERT_EQ(other.connect(models.query_address(), about("first")), Status::kOk);
  ASSERT_EQ(other.send(question), Status::kOk) << "it waits for the place";
  models.clock().stop();  // so that it gets the place before those who are told are let go
  models.remove(second);
  ASSERT_EQ(other.receive(response), Status::kOk) << other.error_text();
  EXPECT_TRUE(response.has_predict_result());
  models.clock().go_on();
  for (const auto& peer : peers) {
    while (peer->receive(response) && !response.has_refusal()) {
    }
    EXPECT_EQ(response.refusal().reason(), v1::REASON_UNKNOWN_MODEL);
  }
}

// What the host has to write down of a model, it writes while nobody can send rows to it.
TEST(AddedModels, NobodyMayNameOneThatIsReadyUntilItIsLetIn) {
  ServerConfig config = growing_server();
  const std::string folder = temporary_path("ready-models");
  config.durable.folder = folder;
  config.durable.log_options = {
      .bytes = 8 << 20, .segment_bytes = 1 << 20, .commit_bytes = 256 << 10};
  Growing models(config);
  const auto nobody_may = [&] {
    for (const std::string& address : {models.observe_address(), models.query_address()}) {
      Client client;
      EXPECT_NE(client.connect(address, about("second", 1)), Status::kOk) << address;
      EXPECT_EQ(client.refusal(), v1::REASON_UNKNOWN_MODEL);
    }
    HttpPeer http(models.http_address());  // a new one: who says nothing is let go
    EXPECT_EQ(http.get("/v1/status?model=second").status, 404);
    EXPECT_EQ(http.get("/metrics").body.find("model=\"second\""), std::string::npos);
  };
  auto* second = models.make_ready("second", kept(small_engine_of(2)));
  ASSERT_NE(second, nullptr);
  nobody_may();
  models.give_up(second);
  nobody_may();
  second = models.make_ready("second", kept(small_engine_of(2)));
  ASSERT_NE(second, nullptr) << "its place and its folder are free";
  models.server().models().let_in(second->place);
  Client sender;
  ASSERT_EQ(sender.connect(models.observe_address(), about("second", 1)), Status::kOk);
  send(sender, 2, 100);
  EXPECT_EQ(models.remove(second), 100U);
}

// Who connects early waits, and then finds all of them; each has its folder.
TEST(AddedModels, OneMayComeBeforeTheServerIsStarted) {
  ServerConfig config = growing_server();
  const std::string folder = temporary_path("early-models");
  config.durable.folder = folder;
  config.durable.log_options = {
      .bytes = 8 << 20, .segment_bytes = 1 << 20, .commit_bytes = 256 << 10};
  for (std::uint64_t round = 0; round < 2; ++round) {
    Growing models(config, /*starts=*/false);
    auto* const second = models.add("second", kept(small_engine_of(2)));
    ASSERT_NE(second, nullptr);
    models.start();
    for (const char* name : {"first", "second"}) {
      const std::uint32_t columns = name == std::string("first") ? 3 : 2;
      Client sender;
      ASSERT_EQ(sender.connect(models.observe_address(), about(name, 1 + round)), Status::kOk);
      EXPECT_EQ(sender.welcome().head(), 100 * round) << name;
      EXPECT_EQ(sender.welcome().durability(), v1::DURABILITY_LOGGED);
      send(sender, columns, 100);
    }
    EXPECT_EQ(models.remove(second), 100 * (round + 1));
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
