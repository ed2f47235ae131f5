// Questions to a server, and their answers.
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace {

using testing::eventually;
using testing::kFeatures;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

TEST(Server, QuestionsAreAnsweredOnBothEndpoints) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  ASSERT_EQ(client.observe(TestRows(3000).rows()), Status::kOk);
  for (const std::string& address : {server.observe_address(), server.query_address()}) {
    Client asker;
    ASSERT_EQ(asker.connect(address), Status::kOk);
    const std::vector<double> x = {0.5, 0.25, 0.5, 1, 1, 0};
    const std::vector<double> probabilities = {0.1, 0.9};
    PredictRequest request;
    request.rows = 2;
    request.features = x;
    request.quantile_probabilities = probabilities;
    std::vector<PredictiveSummary> summaries;
    Provenance provenance;
    ASSERT_EQ(asker.predict(request, summaries, provenance), Status::kOk) << asker.error_text();
    ASSERT_EQ(summaries.size(), 2U);
    EXPECT_LT(summaries[0].quantiles[0], summaries[0].quantiles[1]);

    std::vector<ParameterSummary> parameters;
    ASSERT_EQ(asker.posterior(parameters, provenance), Status::kOk);
    EXPECT_EQ(parameters.size(), kFeatures + 1);

    std::vector<double> theta;
    ASSERT_EQ(asker.draws(theta, provenance), Status::kOk) << asker.error_text();
    EXPECT_EQ(theta.size(), 64U * (kFeatures + 1));
    EXPECT_EQ(provenance.draws, 64U);

    v1::StatusResult status;
    ASSERT_EQ(asker.status(status), Status::kOk);
    EXPECT_EQ(status.head(), 3000U);
    EXPECT_EQ(status.io_counters_size(), static_cast<int>(IoCounter::kCount));
    EXPECT_EQ(status.observe_sessions() + status.query_sessions(), 2U);
    EXPECT_GT(status.resident_bytes(), status.footprint_bytes() / 100);
    asker.close();
    ASSERT_TRUE(eventually([&] {
      return server.server().observe().sessions + server.server().query().sessions == 1;
    }));
  }
}

TEST(Server, ClassProbabilitiesOfTheLargestQuestionFitAndAreThoseOfTheEngine) {
  EngineConfig config = small_engine();
  config.model.name = "softmax";
  config.model.classes = kMaxClasses;
  TestServer server(small_server(), config);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  EXPECT_EQ(client.welcome().model(), v1::MODEL_KIND_SOFTMAX);
  EXPECT_EQ(client.welcome().classes(), kMaxClasses);
  EXPECT_EQ(client.welcome().dimension(), (kMaxClasses - 1) * (kFeatures + 1));
  TestRows rows(300);
  for (std::size_t i = 0; i < 300; ++i) rows.targets[i] = static_cast<double>(i % 3);
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk);
  const std::vector<double> x(32 * kFeatures, 0.5);
  const std::vector<double> outcomes(32, 2.0);
  PredictRequest request;
  request.rows = 32;
  request.features = x;
  request.outcomes = outcomes;
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  ASSERT_EQ(client.predict(request, summaries, provenance), Status::kOk) << client.error_text();
  for (const PredictiveSummary& s : summaries) {
    ASSERT_EQ(s.classes, kMaxClasses);
    double total = 0;
    for (std::size_t c = 0; c < s.classes; ++c) {
      total += s.probs[c];
      EXPECT_GT(s.probs_sd[c], 0);
      EXPECT_LT(s.probs_eti_lower[c], s.probs_eti_upper[c]);
    }
    EXPECT_NEAR(total, 1.0, 1e-9);
    EXPECT_LT(s.log_score, 0);
  }
  request.thompson_id = 1;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kUnsupported);
  rows.targets.back() = kMaxClasses;  // one too many
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk);
  EXPECT_EQ(client.totals().refused, 1U);
}

TEST(Server, WrongQuestionIsRefusedAndTheConnectionStays) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  const std::vector<double> x(kFeatures + 1, 1.0);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kWrongDimension);
  EXPECT_EQ(client.error_number(), kFeatures);
  EXPECT_NE(client.error_text().find(std::to_string(kFeatures) + " features"), std::string::npos)
      << client.error_text();
  const std::vector<double> many(33 * kFeatures, 1.0);
  request.rows = 33;
  request.features = many;
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kTooLarge);
  EXPECT_EQ(client.error_number(), 32U);
  request.rows = 32;
  request.features = std::span(many).first(32 * kFeatures);
  EXPECT_EQ(client.predict(request, summaries, provenance), Status::kOk) << client.error_text();
}

TEST(Server, ObservingOnTheQueryEndpointIsUnsupported) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  EXPECT_EQ(client.observe(TestRows(5).rows()), Status::kUnsupported);
  v1::StatusResult status;
  EXPECT_EQ(client.status(status), Status::kOk);
}

TEST(Server, PipelinedQuestionsAreAnsweredInOrder) {
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 2000; ++i) {
    v1::Request request;
    request.mutable_predict()->set_rows(1);
    for (const double value : {1.0, 2.0, 3.0}) request.mutable_predict()->add_features_f64(value);
    ASSERT_EQ(client.send(request), Status::kOk);
    ids.push_back(request.id());
  }
  for (const std::uint64_t id : ids) {
    v1::Response response;
    ASSERT_EQ(client.receive(response), Status::kOk);
    EXPECT_EQ(response.id(), id);
    EXPECT_TRUE(response.has_predict_result());
  }
}

TEST(Server, LargestAnswersFitWhateverIsBehindThem) {
  // Pipelined answers larger than the reply buffer in sum: the session waits for room each time.
  TestServer server;
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  for (int i = 0; i < 100; ++i) {
    v1::Request request;
    v1::Predict* predict = request.mutable_predict();
    predict->set_rows(32);
    for (std::uint32_t j = 0; j < 32 * kFeatures; ++j) predict->add_features_f64(1.0);
    for (int j = 0; j < 16; ++j) predict->add_quantile_probabilities(0.5);
    for (int j = 0; j < 8; ++j) predict->add_thresholds(0.5);
    ASSERT_EQ(client.send(request), Status::kOk);
  }
  for (int i = 0; i < 100; ++i) {
    v1::Response response;
    ASSERT_EQ(client.receive(response), Status::kOk);
    ASSERT_EQ(response.predict_result().predictions_size(), 32);
    EXPECT_EQ(response.predict_result().predictions(31).exceedance_size(), 8);
  }
}

TEST(Server, TwoClientsPagingThroughDrawsBothFinish) {
  TestServer server;
  Client feeder;
  ASSERT_EQ(feeder.connect(server.observe_address()), Status::kOk);
  ASSERT_EQ(feeder.observe(TestRows(3000).rows()), Status::kOk);
  std::vector<std::thread> pagers;
  for (int i = 0; i < 2; ++i) {
    pagers.emplace_back([&] {
      Client client;
      ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
      for (int round = 0; round < 20; ++round) {
        std::uint64_t snapshot = 0;
        for (std::uint32_t first = 0; first < 64; first += 4) {
          v1::Request request;
          request.mutable_draws()->set_snapshot_id(snapshot);
          request.mutable_draws()->set_first(first);
          request.mutable_draws()->set_count(4);
          v1::Response response;
          ASSERT_EQ(client.send(request), Status::kOk);
          ASSERT_EQ(client.receive(response), Status::kOk);
          ASSERT_TRUE(response.has_draws_result()) << response.DebugString();
          snapshot = response.draws_result().provenance().snapshot_id();
        }
      }
    });
  }
  for (std::thread& pager : pagers) pager.join();
}

TEST(Server, OneForRowsOnlyAnswersOnItsQueryEndpoint) {
  ServerConfig config = small_server();
  config.observe_rows_only = true;
  TestServer server(config);
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  Client sender;
  ASSERT_EQ(sender.connect(server.observe_address()), Status::kOk);
  EXPECT_EQ(sender.posterior(parameters, provenance), Status::kUnsupported);
  EXPECT_EQ(sender.observe(TestRows(10).rows()), Status::kOk) << sender.error_text();
  Client asker;
  ASSERT_EQ(asker.connect(server.query_address()), Status::kOk);
  EXPECT_EQ(asker.posterior(parameters, provenance), Status::kOk);
}

}  // namespace
}  // namespace windhover
