// A refusal in JSON says which field of the body is to blame.
#include "windhover/io/http/json_fault.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"

namespace windhover::json_fault_test {
namespace {

using nlohmann::json;
using testing::http_engine;
using testing::http_server;
using testing::HttpPeer;
using testing::HttpResponse;
using testing::TestServer;

struct Served {
  explicit Served(const EngineConfig& engine = http_engine())
      : server(http_server(), engine),
        peer("127.0.0.1:" + std::to_string(server.server().http().port)) {}

  json post(const char* path, const json& body) {
    const HttpResponse response =
        peer.ask("POST", path, "Content-Type: application/json\r\n", body.dump());
    return json::parse(response.body);
  }
  // "field: sentence" of a refusal.
  std::string fault(const char* path, const json& body) {
    const json answer = post(path, body);
    return answer.value("field", "") + ": " + answer.value("error", "");
  }
  // The same of every row that was refused.
  std::vector<std::string> row_faults(const json& rows) {
    const json ack = post("/v1/observe", rows);
    EXPECT_EQ(ack["refused_row"].size(), ack["refused_field"].size()) << ack;
    EXPECT_EQ(ack["refused_row"].size(), ack["refused_error"].size()) << ack;
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < ack["refused_field"].size(); ++i) {
      faults.push_back(ack["refused_field"][i].get<std::string>() + ": " +
                       ack["refused_error"][i].get<std::string>());
    }
    return faults;
  }

  TestServer server;
  HttpPeer peer;
};

using Faults = std::vector<std::string>;

// A good question of two rows with one change.
json question(const json& change) {
  json q = {{"rows", 2}, {"features_f64", {1, 2, 3, 4, 5, 6}}};
  q.update(change);
  return q;
}

TEST(JsonFault, OfAQuestionIsTheFieldThatIsToBlame) {
  Served served;
  const auto fault = [&](const json& change) {
    return served.fault("/v1/predict", question(change));
  };
  EXPECT_EQ(fault({{"features_f64", {1, 2, 3, 4, "NaN", 6}}}),
            "/features_f64/4: row 1, column 1 is NaN, which is no finite number");
  EXPECT_EQ(fault({{"features_f64", {1, 2, 3, 4, 5, 1e200}}}),
            "/features_f64/5: row 1, column 2 is 1e+200, which is too large");
  EXPECT_EQ(fault({{"interval_probability", 1.5}}),
            "/interval_probability: interval_probability is between 0 and 1: 1.5");
  EXPECT_EQ(fault({{"quantile_probabilities", {0.5, 2}}}),
            "/quantile_probabilities/1: quantile_probabilities are between 0 and 1: 2");
  EXPECT_EQ(fault({{"thresholds", {0, "-Infinity"}}}),
            "/thresholds/1: thresholds 1 is -Infinity, which is no finite number");
  EXPECT_EQ(fault({{"outcomes", {1, "NaN"}}}),
            "/outcomes/1: outcomes 1 is NaN, which is no finite number");
  EXPECT_EQ(fault({{"offsets", {1, 2}}}),
            "/offsets: the model's rows have no offset: model.offset is false");
  EXPECT_EQ(fault({{"trials", {1, 2}}}),
            "/trials: the model's rows have no trials: it is not binomial");
  EXPECT_EQ(fault({{"rows", 0}, {"features_f64", json::array()}}),
            "/rows: rows is 0: a question has at least one");
  EXPECT_EQ(fault({{"keys", {std::string(65, 'a'), "b"}}}).substr(0, 6), "/keys:");
  EXPECT_EQ(served.fault("/v1/draws", {{"first", 5000}}).substr(0, 24), "/first: first is 5000: t");
  EXPECT_EQ(served.fault("/v1/draws", {{"snapshot_id", "77"}}),
            ": the snapshot that was paged through is gone: begin again without snapshot_id");
}

TEST(JsonFault, OfArraysThatContradictEachOtherIsTheOneThatIsTooLongOrShort) {
  Served served;
  EXPECT_EQ(served.fault("/v1/predict", question({{"outcomes", {1}}})),
            "/outcomes: 1 outcomes came for 2 rows: one a row, or none");
  EXPECT_EQ(served.fault("/v1/predict", question({{"rows", 4}})),
            "/features_f64: 6 numbers came for 4 rows, and the model takes 3 a row");
  json rows = question({{"targets_f64", {1}}});
  EXPECT_EQ(served.fault("/v1/observe", rows),
            "/targets_f64: 1 targets came for 2 rows: one a row");
  rows["targets_f64"] = {1, 2};
  rows["weights"] = {1, 2, 3};
  EXPECT_EQ(served.fault("/v1/observe", rows),
            "/weights: 3 weights came for 2 rows: one a row, or none");
  rows.erase("weights");
  rows["features_f64"] = {1, 2, 3};
  EXPECT_EQ(served.fault("/v1/observe", rows),
            "/features_f64: 3 numbers came for 2 rows, which are not as many in each");
  rows["features_f32"] = {1, 2};
  EXPECT_EQ(served.fault("/v1/observe", rows).substr(0, 14), "/features_f32:");
}

TEST(JsonFault, OfARefusedRowIsItsColumnOrItsTarget) {
  Served served;
  json rows = question({{"targets_f64", {1, "NaN"}}});
  EXPECT_EQ(served.row_faults(rows),
            Faults{"/targets_f64/1: row 1, target is NaN, which is no finite number"});
  rows["targets_f64"] = {1, 2};
  rows["features_f64"] = {1, 1e36, 3, 4, 5, "Infinity"};
  EXPECT_EQ(served.row_faults(rows),
            (Faults{"/features_f64/1: row 0, column 1 is 1e+36, which is too large",
                    "/features_f64/5: row 1, column 2 is Infinity, which is no finite number"}));
  rows["features_f64"] = {1, 2, 3, 4};
  EXPECT_EQ(served.row_faults(rows),
            Faults{"/features_f64: a row has another number of columns than the model"});
  rows["features_f64"] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(served.row_faults(rows), Faults());
  rows["weights"] = {1, 1};
  EXPECT_EQ(served.row_faults(rows),
            Faults{"/weights: the model counts every row once: model.weight is false"});
  rows.erase("weights");
  rows["producer"] = 7;
  rows["first_sequence"] = 5;
  EXPECT_EQ(served.fault("/v1/observe", rows).substr(0, 10), "/producer:");
}

TEST(JsonFault, KnowsWhichTargetsAModelTakes) {
  EngineConfig engine = http_engine();
  engine.model.name = "poisson";
  Served served(engine);
  EXPECT_EQ(served.row_faults(question({{"targets_f64", {2.5, 3}}})),
            Faults{"/targets_f64/0: row 0, target 2.5: a target is not one that the model knows"});
  EXPECT_EQ(served.fault("/v1/predict", question({{"outcomes", {3, -1}}})),
            "/outcomes/1: row 1, outcomes -1: a target is not one that the model knows");
}

// NaN is taken where the schema says so: what is to blame is another.
TEST(JsonFault, LeavesOutWhatMayBeMissing) {
  EngineConfig engine = http_engine();
  const std::vector<MissingFeature> missing = {{.fill = 0.0}, {}, {}};
  engine.missing_features = missing;
  Served served(engine);
  const json values = {"NaN", 2, "NaN", "NaN", 5, 6};
  EXPECT_EQ(served.row_faults({{"rows", 2}, {"features_f64", values}, {"targets_f64", {1, 2}}}),
            Faults{"/features_f64/2: row 0, column 2 is NaN, which is no finite number"});
  EXPECT_EQ(served.fault("/v1/predict", {{"rows", 2}, {"features_f64", values}}).substr(0, 15),
            "/features_f64/2");
}

TEST(JsonFault, OfASparseRowIsTheIndex) {
  EngineConfig engine = http_engine();
  engine.model.max_nonzeros = 2;
  Served served(engine);
  const auto rows = [](const json& indices, const json& ends) {
    return json{{"rows", 2},
                {"features_f64", {1, 2, 3}},
                {"indices", indices},
                {"row_ends", ends},
                {"targets_f64", {1, 2}}};
  };
  EXPECT_EQ(served.row_faults(rows({0, 1, 7}, {2, 3})),
            Faults{"/indices/2: row 1, column 7: a column is not below the number of columns, 3, "
                   "from 0 on"});
  EXPECT_EQ(served.row_faults(rows({1, 0, 2}, {2, 3})).at(0).substr(0, 29),
            "/indices/1: row 0, column 0: ");
  EXPECT_EQ(served.row_faults(rows({0, 1, 2}, {3, 3})),
            Faults{"/row_ends/0: row 0, 3 values: the model takes 2"});
  json q = rows({0, 1, 7}, {2, 3});
  q.erase("targets_f64");
  EXPECT_EQ(served.fault("/v1/predict", q).substr(0, 28), "/indices/2: row 1, column 7:");
  q["features_f64"] = {1, 2, "NaN"};
  q["indices"] = {0, 1, 2};
  EXPECT_EQ(served.fault("/v1/predict", q).substr(0, 32), "/features_f64/2: row 1, column 2");
}

}  // namespace
}  // namespace windhover::json_fault_test
