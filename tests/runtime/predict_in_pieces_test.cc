// A question answered in pieces: the same bits as at once, all from one posterior.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::predict_in_pieces_test {
namespace {

struct Answer {
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
};

EngineConfig config_of(const std::string& model) {
  EngineConfig config = small_config(model.c_str(), 3, 400);
  config.max_query_rows = 70;  // more than two blocks of rows
  config.max_readers = 3;
  if (model == "softmax") config.model.classes = 3;
  if (model.starts_with("mlp")) config.model.hidden = 3;
  return config;
}

PredictRequest request_of(const std::string& model, const std::vector<double>& x) {
  static const std::array<double, 3> kProbabilities = {0.05, 0.5, 0.95};
  static const std::array<double, 2> kThresholds = {0, 1};
  PredictRequest request = question(x.size() / 3, x);
  if (model != "softmax" && model != "mlp-softmax") {
    request.quantile_probabilities = kProbabilities;
    request.thresholds = kThresholds;
    if (!model.starts_with("mlp")) request.thompson_id = 7;
  }
  return request;
}

Answer at_once(Reader& reader, const PredictRequest& request) {
  Answer answer{std::vector<PredictiveSummary>(request.rows), {}};
  EXPECT_EQ(reader.predict(request, answer.summaries, answer.provenance), Status::kOk);
  return answer;
}

void expect_same_bits(const Answer& a, const Answer& b, const std::string& what) {
  ASSERT_EQ(a.summaries.size(), b.summaries.size());
  for (std::size_t i = 0; i < a.summaries.size(); ++i) {
    EXPECT_EQ(std::memcmp(&a.summaries[i], &b.summaries[i], offsetof(PredictiveSummary, classes)),
              0)
        << what << " row " << i;
    EXPECT_EQ(a.summaries[i].probs, b.summaries[i].probs) << what << " row " << i;
  }
  EXPECT_EQ(a.provenance.snapshot_id, b.provenance.snapshot_id);
  EXPECT_EQ(a.provenance.sequence, b.provenance.sequence);
}

std::vector<double> inputs(std::size_t rows) {
  std::vector<double> x;
  for (std::size_t i = 0; i < 3 * rows; ++i)
    x.push_back(static_cast<double>((i * 37) % 100) / 50 - 1);
  return x;
}

TEST(PredictInPieces, EveryWayToCutTheRowsGivesTheSameBits) {
  const std::vector<double> x = inputs(70);
  for (const std::string model :
       {"linear", "logistic", "poisson", "negative-binomial", "zero-inflated-poisson",
        "heteroscedastic", "student-t", "log-normal", "softmax", "mlp-linear", "mlp-softmax"}) {
    TestEngine engine(config_of(model));
    const PredictRequest request = request_of(model, x);
    const Answer whole = at_once(engine.reader(), request);
    Reader reader = engine->reader().value();
    for (const std::size_t piece : {1U, 3U, 4U, 32U, 33U, 70U}) {
      Answer pieces{std::vector<PredictiveSummary>(request.rows), {}};
      ASSERT_EQ(reader.begin_predict(request), Status::kOk);
      for (std::size_t row = 0; row < request.rows; row += piece) {
        reader.predict_rows(request, row, std::min(piece, request.rows - row), pieces.summaries);
      }
      reader.end_predict(request, pieces.summaries, pieces.provenance);
      expect_same_bits(whole, pieces, model + " in " + std::to_string(piece));
    }
  }
}

TEST(PredictInPieces, AllComeFromTheSnapshotOfTheFirst) {
  TestEngine engine(config_of("linear"));
  const Data data = linear_data(400, 3, 1.0, 5);
  engine.feed(data, 0, 200);
  engine.poll_until_idle();
  const std::vector<double> x = inputs(40);
  const PredictRequest request = request_of("linear", x);
  const Answer before = at_once(engine.reader(), request);
  Reader reader = engine->reader().value();
  Answer pieces{std::vector<PredictiveSummary>(request.rows), {}};
  ASSERT_EQ(reader.begin_predict(request), Status::kOk);
  reader.predict_rows(request, 0, 20, pieces.summaries);
  engine.feed(data, 200, 400);
  engine.poll_until_idle();
  EXPECT_NE(at_once(engine.reader(), request).provenance.snapshot_id,
            before.provenance.snapshot_id);
  reader.predict_rows(request, 20, 20, pieces.summaries);
  reader.end_predict(request, pieces.summaries, pieces.provenance);
  expect_same_bits(before, pieces, "linear");
}

TEST(PredictInPieces, ReaderAnswersNothingElseUntilTheEndOrWithoutOne) {
  TestEngine engine(config_of("linear"));
  const std::vector<double> x = inputs(2);
  const PredictRequest request = request_of("linear", x);
  Reader& reader = engine.reader();
  std::vector<PredictiveSummary> summaries(2);
  std::vector<ParameterSummary> parameters(4);
  std::vector<double> theta(4);
  Provenance provenance;
  ASSERT_EQ(reader.begin_predict(request), Status::kOk);
  EXPECT_EQ(reader.predict(request, summaries, provenance), Status::kUnavailable);
  EXPECT_EQ(reader.posterior(parameters, provenance), Status::kUnavailable);
  EXPECT_EQ(reader.draws(0, 0, 1, theta, provenance), Status::kUnavailable);
  reader.abandon_predict();
  reader.abandon_predict();
  EXPECT_EQ(reader.predict(request, summaries, provenance), Status::kOk);
  PredictRequest wrong = request;
  wrong.rows = 3;
  EXPECT_EQ(reader.begin_predict(wrong), Status::kWrongDimension);
  EXPECT_EQ(reader.predict(request, summaries, provenance), Status::kOk);
}

}  // namespace
}  // namespace windhover::test::predict_in_pieces_test
