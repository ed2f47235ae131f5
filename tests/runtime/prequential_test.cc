// Predictions scored before their rows are learned from: right where the model is, and telling
// where it is not.
#include "windhover/runtime/scoring/prequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::prequential_test {
namespace {

EngineConfig scored(const char* model, std::uint64_t window = 1'000) {
  EngineConfig config = small_config(model, 3, window);
  config.score_predictions = true;
  return config;
}

PredictionScores scores_of(TestEngine& engine) {
  PredictionScores scores;
  EXPECT_TRUE(engine->scores(scores));
  return scores;
}

// Rows as they come: a few, then time to learn from them.
PredictionScores stream(TestEngine& engine, ManualClock& clock, const Data& data) {
  constexpr Index kRows = 20;
  for (Index first = 0; first < data.rows(); first += kRows) {
    engine.feed(data, first, std::min(first + kRows, data.rows()));
    clock.advance_ns(1'000'000);
    engine.poll_until_idle();
  }
  return scores_of(engine);
}

// Four standard errors of a share of `rows` independent rows.
double error_of(double share, std::uint64_t rows) {
  return 4 * std::sqrt(share * (1 - share) / static_cast<double>(rows));
}

// `classes`: transforms begin in the middle.
void expect_honest(const PredictionScores& scores, bool classes = false) {
  const ScoreMeans& all = scores.means.back();
  for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
    // The parameters are not known exactly, which the predictive distribution knows.
    EXPECT_NEAR(all.coverage[i], kScoredIntervals[i], error_of(kScoredIntervals[i], all.rows))
        << kScoredIntervals[i];
  }
  double sum = 0;
  const std::size_t first = classes ? kPitBins / 2 : 0;
  const double honest = 1.0 / static_cast<double>(kPitBins - first);
  for (std::size_t i = 0; i < kPitBins; ++i) {
    if (i < first) {
      EXPECT_EQ(all.pit[i], 0) << i;
    } else {
      EXPECT_NEAR(all.pit[i], honest, error_of(honest, all.rows)) << i;
    }
    sum += all.pit[i];
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Prequential, EveryRowIsScoredWhereThereIsTime) {
  ManualClock clock(1);
  TestEngine engine(scored("linear"), &clock);
  const PredictionScores scores = stream(engine, clock, linear_data(3'000, 3, 1.0, 5));
  EXPECT_EQ(scores.offered, 3'000U);
  EXPECT_EQ(scores.means[0].rows, 1'000U);
  EXPECT_EQ(scores.means[1].rows, 3'000U);
  EXPECT_EQ(scores.means[2].rows, 3'000U);
  EXPECT_EQ(scores.means[2].memory, 0U);
}

TEST(Prequential, ARightModelHoldsWhatItPromises) {
  ManualClock clock(1);
  TestEngine engine(scored("linear"), &clock);
  const PredictionScores scores = stream(engine, clock, linear_data(10'000, 3, 1.0, 5));
  expect_honest(scores);
  // E log p(y) = -log(2 pi e) / 2 where all is known; its standard deviation is 1 / sqrt(2).
  const double known = -0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
  const ScoreMeans& recent = scores.means[1];
  EXPECT_NEAR(recent.log_score, known, 4 * 0.71 / std::sqrt(5'000.0) + 4.0 / 2'000);
  EXPECT_GT(recent.log_score, recent.reference + 0.1) << "it knows more than who sees no x";
}

TEST(Prequential, DiscreteOutcomesToo) {
  ManualClock clock(1);
  TestEngine labels(scored("logistic"), &clock);
  expect_honest(stream(labels, clock, logistic_data(10'000, 3, 0.3, 6)));
  const Data counts = inverted_data(10'000, 3, 0.3, 7, [](double eta, double u) {
    const double rate = std::exp(eta);
    double p = std::exp(-rate);
    double y = 0;
    for (double sum = p; sum < u && y < 1'000; sum += p) p *= rate / ++y;
    return y;
  });
  TestEngine poisson(scored("poisson"), &clock);
  expect_honest(stream(poisson, clock, counts));
}

// Three classes whose log-odds are linear in x, or, from row `changed` on, drawn by chance.
Data class_data(Index rows, Index changed) {
  Data data = linear_data(rows, 3, 0, 31);
  const VectorXd u = uniforms(32, rows);
  const VectorXd beta = coefficients(6, 33);
  for (Index i = 0; i < rows; ++i) {
    const double one = i < changed ? std::exp(3 * data.x.row(i).dot(beta.head(3))) : 1;
    const double two = i < changed ? std::exp(3 * data.x.row(i).dot(beta.tail(3))) : 1;
    const double at = u[i] * (1 + one + two);
    data.y[i] = at < 1 ? 0 : (at < 1 + one ? 1 : 2);
  }
  return data;
}

TEST(Prequential, SeveralClassesBySets) {
  ManualClock clock(1);
  EngineConfig config = scored("softmax", 4'000);
  config.model.classes = 3;
  TestEngine good(config, &clock);
  expect_honest(stream(good, clock, class_data(6'000, 6'000)), true);
  EXPECT_EQ(good.provenance().reason, StatusReason::kNone) << to_string(good.provenance().reason);
  // Sure of what is no longer so.
  TestEngine wrong(config, &clock);
  stream(wrong, clock, class_data(4'600, 4'000));
  EXPECT_LT(wrong.provenance().coverage_90, 0.87) << "what is near enough";
  EXPECT_NE(wrong.provenance().status, PosteriorStatus::kOk);
}

TEST(Prequential, AnOverconfidentModelIsSeen) {
  ManualClock clock(1);
  TestEngine engine(scored("linear"), &clock);  // whose noise has variance 1
  const ScoreMeans all = stream(engine, clock, linear_data(10'000, 3, 2.0, 5)).means.back();
  // The probability that N(0, 4) gives a value within 1.645 standard deviations of N(0, 1).
  const double expected = std::erf(1.645 / 2 / std::numbers::sqrt2);
  EXPECT_NEAR(all.coverage[2], expected, error_of(expected, all.rows) + 0.002);
}

// Noise of +1 or -1: mean and variance are right, and so is the posterior; no interval is.
TEST(Prequential, AnswersSayWhenIntervalsDoNotHold) {
  ManualClock clock(1);
  EngineConfig config = scored("linear");
  config.model.noise_variance = 0;
  TestEngine engine(config, &clock);
  Data data = linear_data(6'000, 3, 1.0, 5);
  const VectorXd sign = normals(11, data.rows());
  data.y = data.design() * data.truth + sign.cwiseSign();
  stream(engine, clock, data);
  const Provenance provenance = engine.provenance();
  EXPECT_EQ(provenance.status, PosteriorStatus::kDegraded);
  EXPECT_EQ(provenance.reason, StatusReason::kPredictive) << to_string(provenance.reason);
  EXPECT_GT(provenance.coverage_90, 0.99);
  // With noise as the model has it the same rows would be ok.
  TestEngine good(config, &clock);
  stream(good, clock, linear_data(6'000, 3, 1.0, 5));
  EXPECT_EQ(good.provenance().reason, StatusReason::kNone) << to_string(good.provenance().reason);
  EXPECT_NEAR(good.provenance().coverage_90, 0.9, error_of(0.9, 1'000));
}

// Without a window rows are taken in once, where the mode was when they came: of classes that are
// separable it stays behind, with intervals that hold their share. The learner says so itself,
// which names the cause; its scores would have.
TEST(Prequential, ProbabilitiesThatStayBehindAreSeen) {
  ManualClock clock(1);
  EngineConfig config = scored("logistic");
  config.horizon = Horizon::kAll;
  config.model.prior_precision = 0;  // that of who gives none
  config.model.intercept_precision = 0;
  Data data = logistic_data(2'000, 3, 0, 5);
  for (Index i = 0; i < data.rows(); ++i) data.y[i] = data.x(i, 0) > 0 ? 1 : 0;
  TestEngine engine(config, &clock);
  stream(engine, clock, data);
  const StatusReason reason = engine.provenance().reason;
  EXPECT_EQ(reason, StatusReason::kReplayRatio) << to_string(reason);
}

TEST(Prequential, WhoKnowsNothingIsAsGoodAsTheReference) {
  ManualClock clock(1);
  Data data = linear_data(10'000, 3, 1.0, 8);
  data.y = normals(9, data.rows());
  TestEngine engine(scored("linear"), &clock);
  const ScoreMeans all = stream(engine, clock, data).means.back();
  EXPECT_NEAR(all.log_score, all.reference, 0.02);
}

TEST(Prequential, RowsFromBeforeARestartAreNotScoredAgain) {
  ManualClock clock(1);
  TestEngine engine(scored("linear"), &clock);
  engine->progress().set_recovery_target(1'000);
  const PredictionScores scores = stream(engine, clock, linear_data(1'500, 3, 1.0, 5));
  EXPECT_EQ(scores.offered, 500U);
  EXPECT_EQ(scores.means.back().rows, 500U);
}

// Each look at it costs a millisecond.
class SlowClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override { return now_ns_ += 1'000'000; }

 private:
  std::int64_t now_ns_ = 1;
};

TEST(Prequential, TakesATwentiethOfTheTimeAtMost) {
  SlowClock clock;
  TestEngine engine(scored("linear"), &clock);
  const Data data = linear_data(20'000, 3, 1.0, 5);
  engine.feed(data);
  engine.poll_until_idle();
  const PredictionScores scores = scores_of(engine);
  EXPECT_EQ(scores.offered, 20'000U);
  // Eight rows cost a millisecond here, and 5 ms were saved up.
  const double most_ns = 5e6 + Prequential::kShare * static_cast<double>(clock.now_ns());
  EXPECT_LE(static_cast<double>(scores.means.back().rows) / 8 * 1e6, most_ns + 2e6);
  EXPECT_GT(scores.means.back().rows, 40U);
}

// A round without a window takes in some of the rows that are there.
TEST(Prequential, EachRowIsOfferedOnceWithoutAWindow) {
  for (const Horizon horizon : {Horizon::kAll, Horizon::kFading}) {
    ManualClock clock(1);
    EngineConfig config = scored("linear");
    config.horizon = horizon;
    TestEngine engine(config, &clock);
    engine.feed(linear_data(1'000, 3, 1.0, 5), 0, 1'000);
    engine.poll_until_idle();
    EXPECT_EQ(scores_of(engine).offered, 1'000U);
    EXPECT_EQ(scores_of(engine).means.back().rows, 1'000U);
  }
}

TEST(Prequential, OffWhereNobodyAsks) {
  EngineConfig config = scored("linear");
  config.score_predictions = false;
  TestEngine engine(config);
  PredictionScores scores;
  EXPECT_FALSE(engine->scores(scores));
}

}  // namespace
}  // namespace windhover::test::prequential_test
