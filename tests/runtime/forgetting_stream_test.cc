// Rows that count by their age, over long streams: coverage, spread, status, and what it costs.
#include <cstdio>

#include "windhover/tests/runtime/coverage.h"
#include "windhover/tests/runtime/forgetting_fixture.h"

namespace windhover::test::forgetting_test {
namespace {

// Slopes and intercept of y = x^T theta + N(0, 1) walk by `step` a row, each in each direction.
struct Walk {
  Walk(Index rows, Index features, double step, std::uint64_t seed)
      : data(linear_data(rows, features, 0.0, seed, 0.0)), truth(rows, features + 1) {
    const VectorXd steps = step * normals(seed + 1, rows * (features + 1));
    const MatrixXd design = data.design();
    VectorXd theta = data.truth;
    for (Index i = 0; i < rows; ++i) {
      theta += steps.segment(i * (features + 1), features + 1);
      truth.row(i) = theta;
      data.y[i] = design.row(i).dot(theta);
    }
    data.y += normals(seed + 2, rows);
  }
  Data data;
  RowMatrix truth;
};

// A wandering truth, looked at every N rows, when little of what was seen then is left.
struct Followed {
  Tally covered;
  double squares = 0;  // sum of squared errors
  int looks = 0;
};

Followed follow(const Walk& walk, EngineConfig config) {
  TestEngine engine(config);
  const auto n = static_cast<Index>(config.window_size);
  Followed followed;
  for (Index row = 0; row < walk.data.rows(); row += 20) {
    engine.feed(walk.data, row, row + 20);
    engine.poll_until_idle();
    if (row < 3 * n || (row + 20) % n != 0) continue;
    const auto parameters = engine.parameters();
    double covered = 0;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      const double off = parameters[j].mean - walk.truth(row + 19, static_cast<Index>(j));
      covered += std::abs(off) <= 1.645 * parameters[j].sd;
      followed.squares += off * off;
    }
    followed.covered.add(covered / static_cast<double>(parameters.size()));
    ++followed.looks;
  }
  return followed;
}

TEST(ForgettingStream, IntervalsCoverNinetyPercentOfATruthThatStays) {
  constexpr Index kSize = 400;
  Tally plain;
  Tally robust;
  Tally drawn;
  for (std::uint64_t seed = 20'000; seed < 20'300; ++seed) {
    const Data data = replication_data(seed, Noise::kIndependent, 3 * kSize);
    const Replication said =
        replicate(forgetting(small_config("linear", kCoverageFeatures, kSize)), data, seed);
    VectorXd held = VectorXd::Zero(3);
    for (Index j = 0; j <= kCoverageFeatures; ++j) {
      held[0] += said.plain(j, data.truth[j]);
      held[1] += said.robust(j, data.truth[j]);
      held[2] += said.drawn(j, data.truth[j]);
    }
    held /= static_cast<double>(kCoverageFeatures + 1);
    plain.add(held[0]);
    robust.add(held[1]);
    drawn.add(held[2]);
  }
  std::printf("sd covers %.4f +- %.4f, sd_robust %.4f, draws' sd %.4f\n", plain.coverage().rate,
              plain.coverage().error, robust.coverage().rate, drawn.coverage().rate);
  EXPECT_NEAR(plain.coverage().rate, 0.9, 4 * plain.coverage().error);
  EXPECT_NEAR(robust.coverage().rate, 0.9, 4 * robust.coverage().error);
  // The sd comes from 64 draws and is off by a tenth; they are worth some 20: t in place of z.
  EXPECT_NEAR(drawn.coverage().rate, 0.895, 4 * drawn.coverage().error);
}

// Where the truth wanders by 1 / tau of the noise sd a row, the error of the mean has a variance of
// 1 / tau: as much from wandering as from noise. With N = 200, 197 looks of 4 parameters. The
// spread of the posterior is for that, the sampling spread covers 2 Phi(1.645 / sqrt(2)) - 1 =
// 0.755. A window of N rows lags by N / 3 rows' variance where forgetting lags by 0.26 N: mean
// squares of 2.22 / N against 1.96 / N.
TEST(ForgettingStream, PosteriorSpreadCoversATruthThatWandersAndFollowsItBetterThanAWindow) {
  constexpr std::uint64_t kSize = 200;
  const double step = size_in_taus() / static_cast<double>(kSize);
  const Walk walk(40'000, 3, step, 61);
  EngineConfig config = small_config("linear", 3, kSize);
  config.model.prior_precision = config.model.intercept_precision = 1e-4;
  const Followed window = follow(walk, config);
  config.horizon = Horizon::kForgetting;
  const Followed sampling = follow(walk, config);
  config.forgetting_spread = ForgettingSpread::kPosterior;
  const Followed posterior = follow(walk, config);
  const Coverage narrow = sampling.covered.coverage();
  const Coverage wide = posterior.covered.coverage();
  const double each = 4.0 * sampling.looks / static_cast<double>(kSize);
  std::printf(
      "sampling spread %.3f +- %.3f, posterior %.3f +- %.3f; squares %.3f / N, window %.3f\n",
      narrow.rate, narrow.error, wide.rate, wide.error, sampling.squares / each,
      window.squares / each);
  EXPECT_NEAR(narrow.rate, 0.755, 4 * narrow.error);
  EXPECT_NEAR(wide.rate, 0.9, 4 * wide.error);
  EXPECT_LT(sampling.squares, window.squares);
}

// A stream of 30 N rows with nothing amiss: every answer after the cold start is ok, at what N
// says, and the draws spread as the law says.
TEST(ForgettingStream, AnswersOfASteadyStreamAreOk) {
  for (const char* model : {"linear", "logistic"}) {
    SCOPED_TRACE(model);
    constexpr Index kSize = 1'000;
    const Data data = model == std::string("linear") ? linear_data(30 * kSize, 4, 1.0, 71)
                                                     : logistic_data(30 * kSize, 4, -0.5, 71);
    EngineConfig config = forgetting(small_config(model, 4, kSize));
    config.model.noise_variance = 0;
    TestEngine engine(config);
    int looks = 0;
    int ok = 0;
    double ratio = 0;
    for (Index row = 0; row < data.rows(); row += 100) {
      engine.feed(data, row, row + 100);
      engine.poll_until_idle();
      if (row < 3 * kSize) continue;
      const Provenance p = engine.provenance();
      ++looks;
      ok += p.status == PosteriorStatus::kOk;
      ratio += p.ou_ratio;
      EXPECT_NEAR(static_cast<double>(p.n_eff), 1'000, 1);
      EXPECT_GE(p.draws_per_observation, 4 * 0.99);
    }
    EXPECT_EQ(ok, looks);
    std::printf("%s: observed over predicted spread %.3f\n", model, ratio / looks);
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
  }
}

// The slopes change by three noise sd: it says so, and 2 N rows later nothing is left of before.
// Means of 12 streams of 6 memories each: each has an error of sqrt(2 / N), 0.1, so that 0.05 is 4
// standard deviations. 20 of what N = 200 rows say is lost to the fit.
TEST(ForgettingStream, ANoiseVarianceThatIsLearnedIsTheNoises) {
  constexpr Index kWorth = 200;
  for (const ForgettingSpread spread :
       {ForgettingSpread::kSampling, ForgettingSpread::kPosterior}) {
    double sum = 0, looks = 0;
    for (std::uint64_t seed = 500; seed < 512; ++seed) {
      const Data data = linear_data(8 * kWorth, 19, 1.0, seed, 0.0);
      EngineConfig config = forgetting(small_config("linear", 19, kWorth));
      config.model.noise_variance = 0;
      config.model.prior_precision = config.model.intercept_precision = 1e-3;
      config.forgetting_spread = spread;
      TestEngine engine(config);
      for (Index row = 0; row < data.rows(); row += 40) {
        engine.feed(data, row, row + 40);
        engine.poll_until_idle();
        if (row < 2 * kWorth) continue;
        sum += engine.provenance().noise_variance;
        looks += 1;
      }
    }
    EXPECT_NEAR(sum / looks, 1, 0.05);
  }
}

// Rows that come faster than they are summed fade before others are in: it must be said, and not
// where the learner can follow.
TEST(ForgettingStream, AStreamThatOutrunsTheLearnerIsNotOk) {
  struct Pace {
    Index frame;
    int rounds;
    bool follows;
  };
  for (const ForgettingSpread spread :
       {ForgettingSpread::kSampling, ForgettingSpread::kPosterior}) {
    for (const Pace pace : {Pace{60, 3, true}, Pace{60, 1, false}, Pace{300, 3, false}}) {
      const Data data = linear_data(20'000, 4, 1.0, 8);
      EngineConfig config = forgetting(small_config("linear", 4, 1'000));
      config.forgetting_spread = spread;
      config.draws_per_observation = 0;
      config.window_slack = 8'192;
      config.max_frame_rows = 4'096;
      TestEngine engine(config);
      int looks = 0, ok_looks = 0;
      for (Index row = 0; row < data.rows(); row += pace.frame) {
        const Index rows = std::min(pace.frame, data.rows() - row);
        engine->observe(TestEngine::batch(data, row, rows), {});
        engine->poll(pace.rounds);
        const Provenance p = engine.provenance();
        if (row < 8'000 || p.sequence < 2'000) continue;
        ++looks;
        ok_looks += p.status == PosteriorStatus::kOk;
      }
      EXPECT_GT(looks, 30);
      EXPECT_EQ(ok_looks, pace.follows ? looks : 0) << pace.frame << ' ' << pace.rounds;
    }
  }
}

TEST(ForgettingStream, AJumpIsSaidAndForgotten) {
  constexpr Index kSize = 1'000;
  constexpr Index kJump = 4 * kSize;
  Data data = linear_data(kJump + 3 * kSize, 4, 1.0, 81);
  for (Index i = kJump; i < data.rows(); ++i) data.y[i] += 3 * data.x(i, 1);
  EngineConfig config = forgetting(small_config("linear", 4, kSize));
  config.model.noise_variance = 0;
  TestEngine engine(config);
  bool said = false;
  for (Index row = 0; row < data.rows(); row += 50) {
    engine.feed(data, row, row + 50);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    if (row >= 3 * kSize && row < kJump) {
      EXPECT_EQ(p.status, PosteriorStatus::kOk) << row;
    }
    said |= row >= kJump && p.status == PosteriorStatus::kDrifting;
  }
  EXPECT_TRUE(said);
  Provenance p;
  const auto parameters = engine.parameters(&p);
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << static_cast<int>(p.reason);
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const double truth = data.truth[static_cast<Index>(j)] + (j == 1 ? 3 : 0);
    EXPECT_NEAR(parameters[j].mean, truth, 4.5 * parameters[j].sd) << j;
  }
}

}  // namespace
}  // namespace windhover::test::forgetting_test
