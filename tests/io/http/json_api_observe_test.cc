// Rows over HTTP.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/json_api_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::json_api_test {

TEST(JsonApi, RowsAreTakenOnceAndToldApart) {
  Served served;
  json rows = rows_of(10);
  rows["targets_f64"][4] = "NaN";
  HttpResponse response = served.post("/v1/observe", rows);
  ASSERT_EQ(response.status, 200) << response.body;
  json ack = json::parse(response.body);
  EXPECT_EQ(ack["accepted"], "9");
  EXPECT_EQ(ack["refused"], "1");
  EXPECT_EQ(ack["refused_row"], json::array({4}));
  EXPECT_EQ(ack["head"], "9");
  // With a producer a row sent again is a duplicate, and a gap is refused, with the place to go on
  // from.
  EXPECT_EQ(json::parse(served.post("/v1/observe", rows_of(10, 7)).body)["accepted"], "10");
  ack = json::parse(served.post("/v1/observe", rows_of(12, 7)).body);
  EXPECT_EQ(ack["duplicate"], "10");
  EXPECT_EQ(ack["accepted"], "2");
  response = served.post("/v1/observe", rows_of(5, 7, 20));
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(json::parse(response.body)["reason"], "REASON_SEQUENCE_GAP");
  EXPECT_EQ(json::parse(response.body)["number"], "12");
  const json producer = json::parse(served.peer.get("/v1/producers/7").body);
  EXPECT_EQ(producer["known"], true);
  EXPECT_EQ(producer["next"], "12");
  EXPECT_EQ(json::parse(served.peer.get("/v1/producers/8").body)["known"], false);
  EXPECT_EQ(served.server.engine().head(), 21U);
  EXPECT_EQ(served.server.counter(IoCounter::kRowsReceived), 37U);
}

TEST(JsonApi, RowsAndQuestionsOfABinomialModelHaveTrials) {
  EngineConfig engine = http_engine();
  engine.model.name = "binomial";
  Served served(http_server(), engine);
  EXPECT_EQ(json::parse(served.peer.get("/v1/hello").body)["takes_trials"], true);
  json rows = rows_of(10);
  rows["targets_f64"] = json::array({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  json ack = json::parse(served.post("/v1/observe", rows).body);
  EXPECT_EQ(ack["refused_reason"], json::array({v1::REASON_TRIALS_MISSING}));
  rows["trials"] = json::array({1, 1, 2, 5, 5, 5, 2.5, 7, 7, 1e9});
  ack = json::parse(served.post("/v1/observe", rows).body);
  EXPECT_EQ(ack["accepted"], "8");
  EXPECT_EQ(ack["refused_row"], json::array({6, 8}));
  EXPECT_EQ(ack["refused_reason"],
            json::array({v1::REASON_TRIALS_OUT_OF_RANGE, v1::REASON_TARGET_OUT_OF_DOMAIN}));
  const std::vector<double> x = {0.5, 0.25, 0.5, 0.5, 0.25, 0.5};
  json question = {{"rows", 2}, {"features_f64", x}, {"trials", {1, 500}}};
  HttpResponse response = served.post("/v1/predict", question);
  ASSERT_EQ(response.status, 200) << response.body;
  const json answers = json::parse(response.body)["predictions"];
  EXPECT_NEAR(number(answers[1]["mean"]), 500 * number(answers[0]["mean"]), 1e-9);
  question["trials"] = {1, -1};
  response = served.post("/v1/predict", question);
  EXPECT_EQ(json::parse(response.body)["reason"], "REASON_TRIALS_OUT_OF_RANGE");
}

TEST(JsonApi, WrongRowsAreRefusedBeforeTheyReachTheEndpoint) {
  Served served;
  EXPECT_EQ(served.post("/v1/observe", {{"rows", 2}, {"targets_f64", {1}}}).status, 400);
  EXPECT_EQ(served.peer.ask("POST", "/v1/observe", "", "{}").status, 415);
  EXPECT_EQ(served.post("/v1/observe", rows_of(3000)).status, 413) << "96 kB in binary";
  EXPECT_EQ(served.peer.get("/v1/observe").status, 405);
  for (const char* path : {"x", "0", "-1", "7/8", "99999999999999999999"}) {
    EXPECT_EQ(served.peer.get(std::string("/v1/producers/") + path).status, 400) << path;
  }
  EXPECT_EQ(served.peer.get("/v1/producers/").status, 404);
  EXPECT_EQ(served.server.counter(IoCounter::kMalformedFrames), 0U);
}

// Every row that many peers send at once is counted once.
TEST(JsonApi, ManyPeersSendRowsAtOnce) {
  ServerConfig config = http_server();
  config.observe.tcp_address = {};
  const std::string path = testing::temporary_path("http_observe");
  config.observe.unix_path = path;
  Served served(config);
  const std::string address = "127.0.0.1:" + std::to_string(served.server.server().http().port);
  std::vector<std::thread> senders;
  std::atomic<int> accepted{0};
  for (std::uint64_t producer = 1; producer <= 6; ++producer) {
    senders.emplace_back([&, producer] {
      HttpPeer peer(address);
      for (std::uint64_t i = 0; i < 20; ++i) {
        const HttpResponse response =
            peer.ask("POST", "/v1/observe", kJson, rows_of(5, producer, 5 * i).dump());
        const json ack = json::parse(response.body, nullptr, false);
        if (response.status == 200 && ack.value("accepted", "") == "5") accepted += 5;
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(accepted, 600);
  EXPECT_EQ(served.server.engine().head(), 600U);
}

TEST(JsonApi, RowsThatCannotBeTakenAreSaidSoInTime) {
  ServerConfig config = http_server();
  config.http.request_timeout = std::chrono::milliseconds(2000);
  Served served(config);
  ASSERT_EQ(served.post("/v1/observe", rows_of(10)).status, 200);
  served.server.learn(false);
  // The learner's lease holds the writer back once the slack is full.
  HttpResponse response;
  ASSERT_TRUE(eventually([&] {
    response = HttpPeer("127.0.0.1:" + std::to_string(served.server.server().http().port))
                   .ask("POST", "/v1/observe", kJson, rows_of(1000).dump());
    return response.status != 200;
  }));
  EXPECT_EQ(response.status, 504) << response.body;
  EXPECT_EQ(served.post("/v1/observe", rows_of(1)).status, 503) << "behind the other";
  EXPECT_EQ(served.peer.get("/readyz").status, 200) << "others are answered";
  served.server.learn(true);
  EXPECT_TRUE(eventually([&] { return served.post("/v1/observe", rows_of(1)).status == 200; }));
}

TEST(JsonApi, NewConnectionIsMadeWhenTheOldOneHasEnded) {
  ServerConfig config = http_server();
  config.idle_timeout = std::chrono::milliseconds(100);
  Served served(config);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return served.post("/v1/observe", rows_of(1)).status == 200; }));
    ASSERT_TRUE(eventually([&] { return served.server.server().observe().sessions == 0; }));
  }
}

}  // namespace windhover::json_api_test
