#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::reader_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Status ask(TestEngine& engine, const PredictRequest& request, std::size_t room = 16) {
  std::vector<PredictiveSummary> answers(room);
  Provenance provenance;
  return engine.reader().predict(request, answers, provenance);
}

TEST(Reader, EachMistakeInARequestHasItsStatus) {
  TestEngine engine(small_config("linear", 2, 100));
  const std::vector<double> x(2 * 20, 1.0);
  const std::vector<double> bad = {1, kNan};
  const std::vector<double> many(kMaxQuantiles + 1, 0.5);
  const std::vector<double> one = {1.0};
  const std::vector<double> infinite = {-std::numeric_limits<double>::infinity()};
  PredictRequest good;
  good.rows = 2;
  good.features = std::span(x).first(4);
  EXPECT_EQ(ask(engine, good), Status::kOk);
  const auto with = [&](auto change) {
    PredictRequest request = good;
    change(request);
    return ask(engine, request);
  };
  EXPECT_EQ(with([](PredictRequest& r) { r.rows = 0; }), Status::kInvalidArgument);
  EXPECT_EQ(with([](PredictRequest& r) { r.rows = 3; }), Status::kWrongDimension);
  EXPECT_EQ(with([&](PredictRequest& r) {
              r.rows = 17;
              r.features = std::span(x).first(34);
            }),
            Status::kTooLarge);
  EXPECT_EQ(with([&](PredictRequest& r) {
              r.rows = 1;
              r.features = bad;
            }),
            Status::kNotFinite);
  EXPECT_EQ(with([&](PredictRequest& r) { r.quantile_probabilities = many; }), Status::kTooLarge);
  EXPECT_EQ(with([&](PredictRequest& r) { r.thresholds = many; }), Status::kTooLarge);
  EXPECT_EQ(with([&](PredictRequest& r) { r.quantile_probabilities = one; }),
            Status::kInvalidArgument);
  EXPECT_EQ(with([&](PredictRequest& r) { r.thresholds = infinite; }), Status::kNotFinite);
  EXPECT_EQ(with([&](PredictRequest& r) { r.outcomes = one; }), Status::kInvalidArgument);
  for (const double p : {0.0, 1.0, -1.0, kNan}) {
    EXPECT_EQ(with([p](PredictRequest& r) { r.interval_probability = p; }),
              Status::kInvalidArgument);
  }
  EXPECT_EQ(ask(engine, good, 1), Status::kInvalidArgument);  // no room for the answers
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kPredictions), 2u);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kPredictionsRefused), 14u);
}

TEST(Reader, ClassesAreScoredOnlyForZeroAndOne) {
  TestEngine engine(small_config("logistic", 1, 100));
  const std::array<double, 1> x = {1};
  const std::array<double, 1> y = {0.5};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  request.outcomes = y;
  EXPECT_EQ(ask(engine, request), Status::kTargetOutOfDomain);
}

TEST(Reader, SparseRequestsAreCheckedRowByRow) {
  EngineConfig config = small_config("linear", 10, 100);
  config.model.max_nonzeros = 2;
  TestEngine engine(config);
  std::vector<double> values = {1, 2, 3};
  const auto status = [&](std::vector<std::uint32_t> indices, std::vector<std::uint32_t> ends) {
    PredictRequest request;
    request.rows = 2;
    request.features = values;
    request.indices = indices;
    request.row_ends = ends;
    return ask(engine, request);
  };
  EXPECT_EQ(status({0, 9, 4}, {2, 3}), Status::kOk);
  EXPECT_EQ(status({0, 9, 4}, {1, 3}), Status::kIndicesNotIncreasing);
  EXPECT_EQ(status({0, 10, 4}, {2, 3}), Status::kIndexOutOfRange);
  EXPECT_EQ(status({0, 5, 9}, {0, 3}), Status::kTooManyNonzeros);
  EXPECT_EQ(status({9, 0, 4}, {2, 3}), Status::kIndicesNotIncreasing);
  EXPECT_EQ(status({0, 9, 4}, {4, 3}), Status::kMalformed);
  EXPECT_EQ(status({0, 9, 4}, {2, 2}), Status::kWrongDimension);
  EXPECT_EQ(status({0, 9}, {1, 2}), Status::kWrongDimension);
  EXPECT_EQ(status({0, 9, 4}, {3}), Status::kWrongDimension);
  values[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(status({0, 9, 4}, {2, 3}), Status::kNotFinite);
}

TEST(Reader, SparseAndDenseQueriesAgree) {
  const Data data = linear_data(200, 6, 1.0, 5);
  EngineConfig config = small_config("linear", 6, 200);
  TestEngine dense(config);
  config.model.max_nonzeros = 6;
  TestEngine sparse(config);
  dense.feed(data);
  dense.poll_until_idle();
  const std::vector<std::uint32_t> indices = {0, 1, 2, 3, 4, 5};
  const std::uint32_t end = 6;
  for (Index i = 0; i < data.rows(); ++i) {
    ObservationBatch b = TestEngine::batch(data, i, 1);
    b.indices = reinterpret_cast<const std::byte*>(indices.data());
    b.row_ends = reinterpret_cast<const std::byte*>(&end);
    ASSERT_EQ(sparse->observe(b, {}).accepted, 1u);
  }
  sparse.poll_until_idle();
  const std::vector<double> x = {0, 2, 0, 0, -1, 0};
  const std::vector<double> values = {2, -1};
  const std::vector<std::uint32_t> at = {1, 4};
  const std::vector<std::uint32_t> ends = {2};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  std::array<PredictiveSummary, 2> answers;
  Provenance provenance;
  ASSERT_EQ(dense.reader().predict(request, {&answers[0], 1}, provenance), Status::kOk);
  request.features = values;
  request.indices = at;
  request.row_ends = ends;
  ASSERT_EQ(sparse.reader().predict(request, {&answers[1], 1}, provenance), Status::kOk);
  EXPECT_NEAR(answers[0].mean, answers[1].mean, 1e-9);
  EXPECT_NEAR(answers[0].linpred_sd, answers[1].linpred_sd, 1e-9);
}

TEST(Reader, BeforeTheFirstRowThePriorAnswers) {
  EngineConfig config = small_config("linear", 2, 100);
  config.model.prior_precision = 4;
  config.model.intercept_precision = 0.25;
  config.model.noise_variance = 3;
  TestEngine engine(config);
  const std::array<double, 2> x = {1, 2};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  PredictiveSummary s;
  Provenance p;
  ASSERT_EQ(engine.reader().predict(request, {&s, 1}, p), Status::kOk);
  EXPECT_NEAR(s.mean, 0, 1e-15);
  EXPECT_NEAR(s.var_epistemic, 5.0 / 4 + 4.0, 1e-12);
  EXPECT_NEAR(s.sd, std::sqrt(5.0 / 4 + 4.0 + 3.0), 1e-12);
  EXPECT_EQ(p.status, PosteriorStatus::kWarmingUp);
  EXPECT_EQ(p.snapshot_id, 1u);
  EXPECT_EQ(p.n_seen, 0u);
  EXPECT_EQ(p.n_eff, 0u);
  EXPECT_EQ(p.sequence, 0u);
  EXPECT_EQ(p.noise_variance, 3.0);
  const auto parameters = engine.parameters();
  EXPECT_NEAR(parameters[0].sd, 0.5, 1e-12);
  EXPECT_NEAR(parameters[2].sd, 2.0, 1e-12);
}

TEST(Reader, ProvenanceSaysWhereTheAnswerComesFrom) {
  ManualClock clock(1'000);
  EngineConfig config = small_config("linear", 3, 400);
  config.model.noise_variance = 0;
  TestEngine engine(config, &clock);
  const Data data = linear_data(6000, 3, 2.0, 6);
  for (Index row = 0; row < 6000; row += 20) {
    engine.feed(data, row, row + 20);
    engine.poll_until_idle();
  }
  clock.advance_ns(250);
  const Provenance p = engine.provenance();
  EXPECT_GT(p.snapshot_id, 1u);
  EXPECT_EQ(p.n_seen, 6000u);
  EXPECT_EQ(p.n_eff, 400u);
  EXPECT_EQ(p.sequence, 6000u);
  EXPECT_EQ(p.age_ns, 250);
  EXPECT_EQ(p.steps, engine->counters().get(RuntimeCounter::kSteps));
  EXPECT_EQ(p.draws, 64u);
  EXPECT_GT(p.draws_per_observation, 2.0);
  EXPECT_GT(p.ess_bulk, 10.0);
  EXPECT_GT(p.r_hat, 0.9);
  EXPECT_LT(p.r_hat, 1.2);
  EXPECT_GT(p.ou_ratio, 0.5);
  EXPECT_NEAR(p.misspecification_index, 1.0, 0.2);
  EXPECT_NEAR(p.noise_variance, 4.0, 1.2);
  EXPECT_NEAR(p.noise_variance_sd, p.noise_variance * std::sqrt(2.0 / 400), 1e-9);
  EXPECT_EQ(p.status, PosteriorStatus::kOk);
}

TEST(Reader, QuantilesOfParametersAreGaussian) {
  TestEngine engine(small_config("linear", 2, 100));
  engine.feed(linear_data(100, 2, 1.0, 8));
  engine.poll_until_idle();
  for (const ParameterSummary& s : engine.parameters()) {
    EXPECT_EQ(s.q50, s.mean);
    EXPECT_NEAR(s.q95 - s.mean, normal_quantile(0.95) * s.sd, 1e-12);
    EXPECT_NEAR(s.mean - s.q5, normal_quantile(0.95) * s.sd, 1e-12);
  }
  std::vector<ParameterSummary> too_few(2);
  Provenance p;
  EXPECT_EQ(engine.reader().posterior(too_few, p), Status::kInvalidArgument);
}

TEST(Reader, AsManyReadersAsConfigured) {
  EngineConfig config = small_config("linear", 2, 100);
  config.max_readers = 3;
  TestEngine engine(config);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(engine->reader().ok());
  for (int i = 0; i < 2; ++i) {
    const auto refused = engine->reader();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status(), Status::kUnavailable);
    EXPECT_EQ(refused.error().number, 3.0);
  }
}

TEST(Reader, AWatcherAnswersAllButPredictionsAndTakesLessMemory) {
  EngineConfig config = small_config("linear", 2, 100);
  config.max_readers = 2;
  config.max_watchers = 2;
  TestEngine engine(config);
  const Data data = linear_data(100, 2, 1.0, 9);
  engine.feed(data, 0, 100);
  engine.poll_until_idle();
  Reader watcher = engine->watcher().value();
  std::vector<ParameterSummary> parameters(3);
  Provenance provenance;
  ASSERT_EQ(watcher.posterior(parameters, provenance), Status::kOk);
  EXPECT_EQ(provenance.sequence, 100U);
  std::vector<double> page(3 * 16);
  EXPECT_EQ(watcher.draws(0, 0, 16, page, provenance), Status::kOk);
  const std::array<double, 2> x{};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  std::array<PredictiveSummary, 1> summary;
  EXPECT_EQ(watcher.begin_predict(request), Status::kUnsupported);
  EXPECT_EQ(watcher.predict(request, summary, provenance), Status::kUnsupported);
  EXPECT_TRUE(engine->watcher().ok());
  EXPECT_EQ(engine->reader().value().predict(request, summary, provenance), Status::kOk);
  // When no watcher is left a reader watches, who may predict.
  EXPECT_EQ(engine->watcher().value().predict(request, summary, provenance), Status::kOk);
  EXPECT_EQ(engine->watcher().status(), Status::kUnavailable);
  EXPECT_EQ(engine->reader().status(), Status::kUnavailable);
  EngineConfig readers = config;
  readers.max_readers = 4;
  readers.max_watchers = 0;
  const std::size_t scratch = config.max_query_rows * config.retained_draws * sizeof(double);
  EXPECT_GE(Engine::footprint(readers).value(), Engine::footprint(config).value() + 2 * scratch);
}

TEST(Reader, PagesOfOneSnapshotMakeUpTheWhole) {
  TestEngine engine(small_config("linear", 2, 200));
  const Data data = linear_data(2000, 2, 1.0, 9);
  engine.feed(data, 0, 200);
  engine.poll_until_idle();
  const RowMatrix all = engine.draws();
  Reader reader = engine->reader().value();
  std::vector<double> page(3 * 16);
  Provenance first;
  ASSERT_EQ(reader.draws(0, 0, 16, page, first), Status::kOk);
  // The learner goes on meanwhile; later pages still belong to the first one's snapshot.
  for (Index row = 200; row < 2000; row += 10) {
    engine.feed(data, row, row + 10);
    engine.poll_until_idle();
  }
  EXPECT_GT(engine.provenance().snapshot_id, first.snapshot_id + 100);
  for (std::size_t from = 0; from < 64; from += 16) {
    Provenance p;
    ASSERT_EQ(reader.draws(first.snapshot_id, from, 16, page, p), Status::kOk);
    EXPECT_EQ(p.snapshot_id, first.snapshot_id);
    for (std::size_t m = 0; m < 16; ++m) {
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(page[3 * m + j], all(static_cast<Index>(from + m), static_cast<Index>(j)));
      }
    }
  }
  // While it is held, every answer of this reader is that snapshot's.
  std::vector<ParameterSummary> parameters(3);
  Provenance p;
  ASSERT_EQ(reader.posterior(parameters, p), Status::kOk);
  EXPECT_EQ(p.snapshot_id, first.snapshot_id);
  reader.release();
  ASSERT_EQ(reader.posterior(parameters, p), Status::kOk);
  EXPECT_GT(p.snapshot_id, first.snapshot_id + 100);
  EXPECT_EQ(reader.draws(first.snapshot_id, 0, 16, page, p), Status::kUnavailable);
  EXPECT_EQ(reader.draws(0, 0, 16, page, p), Status::kOk);
  EXPECT_GT(p.snapshot_id, first.snapshot_id + 100);
  EXPECT_EQ(reader.draws(p.snapshot_id + 1, 0, 16, page, p), Status::kUnavailable);
  reader.release();
  reader.release();
}

TEST(Reader, PagesBeyondTheDrawsAreRefused) {
  TestEngine engine(small_config("linear", 2, 200));
  std::vector<double> out(3 * 64);
  Provenance p;
  Reader& reader = engine.reader();
  EXPECT_EQ(reader.draws(0, 64, 0, out, p), Status::kOk);
  EXPECT_EQ(reader.draws(0, 65, 0, out, p), Status::kInvalidArgument);
  EXPECT_EQ(reader.draws(0, 60, 5, out, p), Status::kInvalidArgument);
  EXPECT_EQ(reader.draws(0, 1, std::numeric_limits<std::size_t>::max(), out, p),
            Status::kInvalidArgument);
  EXPECT_EQ(reader.draws(0, 0, 64, std::span(out).first(191), p), Status::kInvalidArgument);
  reader.release();
}

}  // namespace
}  // namespace windhover::test::reader_test
