// Rows in memory that count by their age: the posterior is that of likelihoods with the exponents
// of their ages, by mode, mean, spread and noise, however the rows came.
#include "windhover/tests/runtime/forgetting_fixture.h"

namespace windhover::test::forgetting_test {
namespace {

using weight_test::kModels;
using weight_test::weighted_rows;
using weight_test::with_weight;

constexpr Index kSize = 400;  // N

EngineConfig config_of(const char* model) {
  EngineConfig config = small_config(model, 3, kSize);
  config.model.classes = 3;
  config.model.noise_variance = 0;
  config.window_slack = 4'096;
  config.max_frame_rows = 2'048;
  return config;
}

// Compares mode, mean and sd, to `tolerance` sd.
void expect_like(TestEngine& found_in, TestEngine& expected_in, double tolerance) {
  Provenance found_of;
  Provenance expected_of;
  const auto found = found_in.parameters(&found_of);
  const auto expected = expected_in.parameters(&expected_of);
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR(found[j].mode, expected[j].mode, tolerance * expected[j].sd) << j;
    EXPECT_NEAR(found[j].mean, expected[j].mean, tolerance * expected[j].sd) << j;
    EXPECT_NEAR(found[j].sd, expected[j].sd, tolerance * expected[j].sd) << j;
  }
  EXPECT_NEAR(found_of.noise_variance, expected_of.noise_variance,
              tolerance * expected_of.noise_variance);
  EXPECT_NEAR(found_of.noise_variance_sd, expected_of.noise_variance_sd,
              tolerance * expected_of.noise_variance_sd);
}

// A window of 2 N rows that weigh what the exponents say.
TEST(Forgetting, PosteriorIsThatOfRowsThatWeighTheExponentsOfTheirAges) {
  for (const char* model : kModels) {
    for (const Index rows : {300, 2 * static_cast<int>(kSize)}) {
      SCOPED_TRACE(testing::Message() << model << rows);
      Data data = weighted_rows(model, rows, 11);
      data.weight.resize(0);
      EngineConfig config = config_of(model);
      config.model.offset = model != std::string("softmax") && model != std::string("binomial");
      if (config.model.offset) data.offset = 0.3 * normals(15, rows);
      TestEngine engine(forgetting(config));
      config.window_size = 2 * kSize;
      TestEngine weighted(with_weight(config));
      units_test::fit_all(engine, data);
      units_test::fit_all(weighted, aged_rows(data, 0, rows, kSize));
      expect_like(engine, weighted, 1e-3);
      const double worth = exponents(0, rows, kSize).sum();
      EXPECT_EQ(engine.provenance().n_eff, static_cast<std::uint64_t>(std::lround(worth)));
    }
  }
}

TEST(Forgetting, RowsThatWeighCountTheirWeightTimesTheirAge) {
  for (const char* model : {"linear", "negative-binomial", "heteroscedastic"}) {
    SCOPED_TRACE(model);
    const Data data = weighted_rows(model, 2 * kSize, 21);
    EngineConfig config = with_weight(config_of(model));
    TestEngine engine(forgetting(config));
    config.window_size = 2 * kSize;
    TestEngine weighted(config);
    units_test::fit_all(engine, data);
    units_test::fit_all(weighted, aged_rows(data, 0, data.rows(), kSize));
    expect_like(engine, weighted, 1e-3);
  }
}

// Rows come one at a time, by the dozen, and faster than the sums can follow; others leave.
TEST(Forgetting, PosteriorIsThatOfTheLastRowsHoweverTheyCame) {
  for (const char* model : kModels) {
    for (const Index frame : {1, 37, 600}) {
      SCOPED_TRACE(testing::Message() << model << frame);
      Data data = weighted_rows(model, 5 * kSize + 7, 31);
      data.weight.resize(0);
      EngineConfig config = config_of(model);
      TestEngine engine(forgetting(config));
      config.window_size = 2 * kSize;
      TestEngine weighted(with_weight(config));
      stream(engine, data, frame);
      units_test::fit_all(weighted, aged_rows(data, data.rows() - 2 * kSize, 2 * kSize, kSize));
      expect_like(engine, weighted, model == std::string("linear") ? 1e-6 : 0.02);
      EXPECT_EQ(engine.provenance().sequence, static_cast<std::uint64_t>(data.rows()));
      EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
    }
  }
}

// Rows [first, first + rows) with all columns named.
void feed_sparse(TestEngine& engine, const Data& data, Index first, Index rows) {
  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> ends;
  for (Index i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) columns.push_back(j);
    ends.push_back(static_cast<std::uint32_t>(columns.size()));
  }
  ObservationBatch batch = TestEngine::batch(data, first, rows);
  batch.indices = reinterpret_cast<const std::byte*>(columns.data());
  batch.row_ends = reinterpret_cast<const std::byte*>(ends.data());
  EXPECT_EQ(engine->observe(batch, {}).accepted, static_cast<std::size_t>(rows));
}

TEST(Forgetting, SparseRowsCountByTheirAge) {
  for (const char* model : {"linear", "poisson"}) {
    SCOPED_TRACE(model);
    Data data = weighted_rows(model, 3 * kSize, 41);
    data.weight.resize(0);
    EngineConfig config = config_of(model);
    TestEngine dense(forgetting(config));
    stream(dense, data, 40);
    config.model.max_nonzeros = 3;
    TestEngine sparse(forgetting(config));
    for (Index row = 0; row < data.rows(); row += 40) {
      feed_sparse(sparse, data, row, 40);
      sparse->poll(16);
    }
    sparse.poll_until_idle();
    expect_like(sparse, dense, 0.02);
  }
}

// The conjugate posterior of an exponent a row; thresholds as in PoissonPosterior's test of the
// same.
TEST(Forgetting, SpreadOfTheDrawsIsThePosteriors) {
  for (const ForgettingSpread spread :
       {ForgettingSpread::kSampling, ForgettingSpread::kPosterior}) {
    const Data data = linear_data(1'000, 3, 1.0, 51);
    EngineConfig config = forgetting(small_config("linear", 3, 500));
    config.forgetting_spread = spread;
    config.draws_per_observation = 0;
    TestEngine engine(config);
    const Gaussian drawn = drawn_of(engine, data, 30'000);
    const VectorXd r = ages(0, 1'000, 500);
    // With kPosterior the newest row counts once, and the rest beside it.
    const double kish = r.sum() * r.sum() / r.squaredNorm();
    const double n =
        spread == ForgettingSpread::kSampling ? kish : kish / (1 + kish * size_in_taus() / 1'000);
    const VectorXd w = r * (n / r.sum());
    MatrixXd precision =
        data.design().transpose() * w.asDiagonal() * data.design() / config.model.noise_variance;
    precision.diagonal() += prior_precisions(4, config.model);
    const MatrixXd covariance = precision.inverse();
    const VectorXd mean = covariance * (data.design().transpose() * w.cwiseProduct(data.y)) /
                          config.model.noise_variance;
    for (Index j = 0; j < 4; ++j) {
      const double sd = std::sqrt(covariance(j, j));
      EXPECT_NEAR(drawn.mean[j], mean[j], 0.15 * sd) << j;
      EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.08) << j;
      EXPECT_NEAR(engine.summary().mean[j], mean[j], 1e-6 * sd) << j;
      EXPECT_NEAR(engine.summary().covariance(j, j), sd * sd, 1e-6 * sd * sd) << j;
    }
    EXPECT_NEAR(n, spread == ForgettingSpread::kSampling ? 500 : 255.5, 2.0);
  }
}

}  // namespace
}  // namespace windhover::test::forgetting_test
