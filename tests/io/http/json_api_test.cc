#include "windhover/io/http/json_api.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/json_api_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace json_api_test {

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
  // The mapping allows other names too.
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
        HttpPeer("127.0.0.1:" + std::to_string(served.server.server().http().port))
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
  const testing::HttpResponse none = world.get("/v1/schema?model=none");
  EXPECT_EQ(none.status, 404);
  EXPECT_NE(none.body.find("; /v1/models lists them"), std::string::npos) << none.body;
  const std::string text = R"({"target":"y","features":[]})";
  world.model.schema_json = text;
  EXPECT_EQ(world.get("/v1/schema").body, text);
  EXPECT_EQ(world.get("/v1/schema").field("Content-Type"), "application/json");
  EXPECT_EQ(world.get("/v1/schema").field("Cache-Control"), "no-store");
}

}  // namespace json_api_test
}  // namespace windhover
