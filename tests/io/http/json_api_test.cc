#include "windhover/io/http/json_api.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace json_api_test {

using nlohmann::json;
using testing::eventually;
using testing::http_engine;
using testing::http_server;
using testing::HttpPeer;
using testing::HttpResponse;
using testing::kFeatures;
using testing::TestRows;
using testing::TestServer;

const std::string kJson = "Content-Type: application/json\r\n";

struct Served {
  explicit Served(const ServerConfig& config = http_server(),
                  const EngineConfig& engine = http_engine())
      : server(config, engine), peer("127.0.0.1:" + std::to_string(server.server().http_port())) {}

  // With rows learned and no row on its way, so that two answers are of one snapshot.
  void learn(Client& client) {
    ASSERT_EQ(client.connect(server.observe_address()), Status::kOk) << client.error_text();
    ASSERT_EQ(client.observe(TestRows(2000).rows()), Status::kOk) << client.error_text();
    ASSERT_TRUE(eventually([&] {
      return json::parse(peer.get("/v1/status").body)["provenance"]["sequence"] == "2000";
    }));
    server.learn(false);
    // The round under way has ended when polls stay where they are.
    std::uint64_t polls = 0;
    ASSERT_TRUE(eventually([&] {
      const std::uint64_t before = std::exchange(polls, server.engine().polls());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return before == polls && polls == server.engine().polls();
    }));
  }
  HttpResponse post(const std::string& path, const json& body) {
    return peer.ask("POST", path, kJson, body.dump());
  }

  TestServer server;
  HttpPeer peer;
};

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  return word == "NaN" ? std::nan("") : std::stod(word);
}

TEST(JsonApi, PredictionsAreThoseOfTheSocket) {
  Served served;
  Client client;
  served.learn(client);
  const std::vector<double> x = {0.5, 0.25, 0.5, -1, 1, 2};
  const std::vector<double> quantiles = {0.05, 0.95};
  const std::vector<double> thresholds = {0.3};
  PredictRequest request;
  request.rows = 2;
  request.features = x;
  request.quantile_probabilities = quantiles;
  request.thresholds = thresholds;
  std::vector<PredictiveSummary> expected;
  Provenance provenance;
  ASSERT_EQ(client.predict(request, expected, provenance), Status::kOk) << client.error_text();

  const HttpResponse response = served.post("/v1/predict", {{"rows", 2},
                                                            {"features_f64", x},
                                                            {"quantile_probabilities", quantiles},
                                                            {"thresholds", thresholds}});
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["provenance"]["snapshot_id"], std::to_string(provenance.snapshot_id));
  EXPECT_EQ(answer["provenance"]["n_eff"], "2000");
  ASSERT_EQ(answer["predictions"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const json& prediction = answer["predictions"][i];
    EXPECT_EQ(number(prediction["mean"]), expected[i].mean);
    EXPECT_EQ(number(prediction["sd"]), expected[i].sd);
    ASSERT_EQ(prediction["quantiles"].size(), 2U);
    EXPECT_EQ(number(prediction["quantiles"][1]), expected[i].quantiles[1]);
    ASSERT_EQ(prediction["exceedance"].size(), 1U);
    EXPECT_EQ(number(prediction["exceedance"][0]), expected[i].exceedance[0]);
  }
  // Also with the other names that the mapping allows.
  const json camel = {{"rows", 2}, {"featuresF64", x}};
  EXPECT_EQ(served.post("/v1/predict", camel).status, 200);
}

TEST(JsonApi, PosteriorDrawsAndStatusAreThoseOfTheSocket) {
  Served served;
  Client client;
  served.learn(client);
  std::vector<ParameterSummary> parameters;
  std::vector<double> draws;
  Provenance provenance;
  ASSERT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
  ASSERT_EQ(client.draws(draws, provenance), Status::kOk) << client.error_text();

  const json posterior = json::parse(served.peer.get("/v1/posterior").body);
  ASSERT_EQ(posterior["mean"].size(), parameters.size());
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    EXPECT_EQ(number(posterior["mean"][j]), parameters[j].mean);
    EXPECT_EQ(number(posterior["sd"][j]), parameters[j].sd);
  }
  // Page by page, over connections of their own.
  std::vector<double> paged;
  std::string snapshot = "0";
  while (paged.size() < draws.size()) {
    const HttpResponse page =
        HttpPeer("127.0.0.1:" + std::to_string(served.server.server().http_port()))
            .ask("POST", "/v1/draws", kJson,
                 json{{"snapshot_id", snapshot}, {"first", paged.size() / 4}, {"count", 5}}.dump());
    ASSERT_EQ(page.status, 200) << page.body;
    const json answer = json::parse(page.body);
    snapshot = answer["provenance"]["snapshot_id"].get<std::string>();
    for (const json& value : answer["theta"]) paged.push_back(number(value));
  }
  EXPECT_EQ(paged, draws);

  const json status = json::parse(served.peer.get("/v1/status").body);
  EXPECT_EQ(status["head"], "2000");
  EXPECT_EQ(status["observe_sessions"], 1);
  EXPECT_EQ(status["io_counters"].size(), static_cast<std::size_t>(IoCounter::kCount));
  EXPECT_EQ(status["durable"]["durability"], "DURABILITY_MEMORY");

  const json hello = json::parse(served.peer.get("/v1/hello").body);
  EXPECT_EQ(hello["features"], kFeatures);
  EXPECT_EQ(hello["dimension"], kFeatures + 1);
  EXPECT_EQ(hello["model"], "MODEL_KIND_LINEAR");
  EXPECT_EQ(hello["observes"], false);
}

TEST(JsonApi, ARowOfAnotherWidthIsToldHowManyNumbersAreWanted) {
  Served served;
  const auto refusal = [&](const json& question) {
    const HttpResponse response = served.peer.ask("POST", "/v1/predict", kJson, question.dump());
    const json answer = json::parse(response.body);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(answer["reason"], "REASON_WRONG_DIMENSION");
    EXPECT_EQ(answer["number"], "3");
    return answer["error"].get<std::string>();
  };
  EXPECT_EQ(refusal({{"rows", 2}, {"features_f64", {1, 2, 3, 4}}}),
            "each row has 2 numbers, and the model takes 3");
  EXPECT_EQ(refusal({{"rows", 1}, {"features_f32", {1, 2, 3, 4}}}),
            "each row has 4 numbers, and the model takes 3");
  EXPECT_EQ(refusal({{"rows", 2}, {"features_f64", {1, 2, 3}}}),
            "3 numbers came for 2 rows, and the model takes 3 a row");
  EXPECT_EQ(refusal({{"rows", 1}, {"features_f64", {1}}, {"indices", {0}}, {"row_ends", {1}}}),
            "this model takes dense rows, 3 numbers each, without indices");
}

TEST(JsonApi, AValueThatASparseRowLacksIsRefusedAndLeftOutTaken) {
  EngineConfig engine = http_engine();
  engine.model.max_nonzeros = 2;
  Served served(http_server(), engine);
  json row = {{"rows", 1},
              {"row_ends", {2}},
              {"indices", {0, 2}},
              {"features_f64", {1, "NaN"}},
              {"targets_f64", {5}}};
  const json ack = json::parse(served.post("/v1/observe", row).body);
  EXPECT_EQ(ack["refused_row"], json::array({0}));
  EXPECT_EQ(ack["refused_reason"], json::array({Status::kNotFinite}));
  for (const std::string path : {"/v1/observe", "/v1/predict"}) {
    row["features_f64"] = {1, nullptr};
    const HttpResponse response = served.post(path, row);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("a sparse row leaves out what it lacks, with its index"),
              std::string::npos)
        << response.body;
    row.erase("targets_f64");
  }
  row = {{"rows", 1},
         {"row_ends", {1}},
         {"indices", {0}},
         {"features_f64", {1}},
         {"targets_f64", {5}}};
  EXPECT_EQ(json::parse(served.post("/v1/observe", row).body)["accepted"], "1");
}

TEST(JsonApi, WhatIsWrongIsSaid) {
  Served served;
  const auto status = [&](const std::string& body) {
    const HttpResponse response = served.peer.ask("POST", "/v1/predict", kJson, body);
    const json answer = json::parse(response.body);
    EXPECT_FALSE(answer["error"].get<std::string>().empty());
    return std::to_string(response.status) + " " + answer.value("reason", "");
  };
  EXPECT_EQ(status("{"), "400 ");
  EXPECT_EQ(status("[]"), "400 ");
  EXPECT_EQ(status("{\"rows\": \"many\"}"), "400 ");
  EXPECT_EQ(status("{\"row\": 1}"), "400 ");
  EXPECT_EQ(status("{\"rows\": 1, \"features_f64\": [1, 2, \"\\u0000\\\"\"]}"), "400 ");
  EXPECT_EQ(status(std::string(5000, '[')), "400 ");
  EXPECT_EQ(status("{\"rows\": 2, \"features_f64\": [1, 2, 3]}"), "400 REASON_WRONG_DIMENSION");
  EXPECT_EQ(status("{\"rows\": 2, \"features_f64\": [1, 2]}"), "400 REASON_WRONG_DIMENSION");
  EXPECT_EQ(status("{\"rows\": 1, \"features_f64\": [1, 2, \"NaN\"]}"), "400 REASON_NOT_FINITE");
  EXPECT_EQ(status("{\"rows\": 1000, \"features_f64\": []}"), "413 REASON_TOO_LARGE");
  std::string large = "{\"rows\": 1, \"features_f64\": [0";
  for (int i = 0; i < 10'000; ++i) large += ",0";
  EXPECT_EQ(status(large + "]}"), "413 ") << "80 kB in binary";
  const HttpResponse form = served.peer.ask("POST", "/v1/predict", "", "{\"rows\": 1}");
  EXPECT_EQ(form.status, 415);
  EXPECT_EQ(
      served.peer.ask("POST", "/v1/predict", "Content-Type: application/jsonx\r\n", "{}").status,
      415);
  EXPECT_EQ(served.peer.get("/v1/predict").status, 405);
  EXPECT_EQ(served.peer.get("/v1/predict").field("Allow"), "POST");
  EXPECT_EQ(served.post("/v1/draws", {{"snapshot_id", "123456"}}).status, 409);
  EXPECT_EQ(served.post("/v1/checkpoint", json::object()).status, 501) << "no folder";
}

json rows_of(std::size_t rows, std::uint64_t producer = 0, std::uint64_t first = 0) {
  const TestRows from(rows, first);
  return {{"producer", producer},
          {"first_sequence", first},
          {"rows", rows},
          {"features_f64", from.features},
          {"targets_f64", from.targets}};
}

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
  // Of a producer: a row sent again is a duplicate, a gap is refused and says where to go on.
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
  const std::string address = "127.0.0.1:" + std::to_string(served.server.server().http_port());
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
    response = HttpPeer("127.0.0.1:" + std::to_string(served.server.server().http_port()))
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
    ASSERT_TRUE(eventually([&] { return served.server.server().observe_sessions() == 0; }));
  }
}

TEST(JsonApi, CheckpointIsTakenAndTold) {
  ServerConfig config = http_server();
  const std::string folder = testing::temporary_path("http_checkpoint");
  config.durable.folder = folder;
  config.durable.log = false;
  EngineConfig engine = http_engine();
  engine.checkpoints = true;
  Served served(config, engine);
  HttpResponse response = served.post("/v1/checkpoint", json::object());
  ASSERT_EQ(response.status, 200) << response.body;
  const json asked = json::parse(response.body);
  EXPECT_TRUE(eventually([&] {
    const json told =
        json::parse(served.post("/v1/checkpoint", {{"request", asked["request"]}}).body);
    return told["answered"] == true && told["status"] == "REASON_OK";
  }));
  EXPECT_EQ(served.post("/v1/checkpoint", {{"request", "99"}}).status, 400);
}

// Questions in JSON are counted and timed beside the others, and not as theirs.
TEST(JsonApi, QuestionsHaveAHistogramOfTheirOwn) {
  Served served;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(served.peer.get("/v1/posterior").status, 200);
  const std::string text = served.peer.get("/metrics").body;
  EXPECT_NE(text.find("windhover_question_duration_seconds_count{endpoint=\"http\"} 5\n"),
            std::string::npos);
  EXPECT_NE(text.find("windhover_question_duration_seconds_count{endpoint=\"query\"} 0\n"),
            std::string::npos);
  EXPECT_EQ(served.server.counter(IoCounter::kQueries), 5U);
}

TEST(JsonApi, TheSchemaOfAModelIsSentAsTheHostGaveIt) {
  testing::HttpWorld world;
  EXPECT_EQ(world.get("/v1/schema").status, 404);
  EXPECT_EQ(world.get("/v1/schema?model=none").status, 404);
  const std::string text = R"({"target":"y","features":[]})";
  world.model.schema_json = text;
  EXPECT_EQ(world.get("/v1/schema").body, text);
  EXPECT_EQ(world.get("/v1/schema").field("Content-Type"), "application/json");
  EXPECT_EQ(world.get("/v1/schema").field("Cache-Control"), "no-store");
}

}  // namespace json_api_test
}  // namespace windhover
