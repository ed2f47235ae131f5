// Horizon::kAdaptive: the posterior stands on as many rows as have predicted best.
#include "windhover/runtime/learning/memory_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "windhover/runtime/chosen_horizon.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_choice_test {
namespace {

constexpr Index kFeatures = 9;  // and the intercept
constexpr Index kFrame = 10;
constexpr Index kLargeFrame = 100;

EngineConfig adaptive_config(std::uint64_t window) {
  EngineConfig config = small_config("linear", kFeatures, window);
  config.horizon = Horizon::kAdaptive;
  config.model.noise_variance = 0;
  config.draws_per_observation = 0.5;
  config.max_query_rows = kLargeFrame;
  return config;
}

// y = x^T theta + N(0, 1), and from row `jump` on another theta, as far from the first one as the
// noise is wide.
Data jumping_data(Index rows, Index jump, std::uint64_t seed) {
  Data data = linear_data(rows, kFeatures, 1.0, seed, 0.0);
  const VectorXd direction = normals(seed + 1, kFeatures).normalized();
  for (Index i = jump; i < rows; ++i) data.y[i] += data.x.row(i).dot(direction);
  return data;
}

struct Followed {
  double held = 0;    // how many 90 % intervals held
  double square = 0;  // of a row's error, on average
  double spread = 0;  // linpred_sd, squared
};

// Rows [first, last), each predicted before it is learned from.
Followed feed_and_score(TestEngine& engine, const Data& data, Index first, Index last,
                        Index frame = kFrame) {
  Followed followed;
  const auto rows = static_cast<double>(last - first);
  for (Index at = first; at < last; at += frame) {
    std::vector<double> features;
    for (Index i = at; i < at + frame; ++i) {
      for (Index j = 0; j < kFeatures; ++j) features.push_back(data.x(i, j));
    }
    PredictRequest request;
    request.rows = static_cast<std::size_t>(frame);
    request.features = features;
    request.outcomes = {data.y.data() + at, request.rows};
    Index row = at;
    for (const PredictiveSummary& answer : engine.answers(request)) {
      const double error = data.y[row++] - answer.linpred_mean;
      followed.square += error * error / rows;
      followed.spread += answer.linpred_sd * answer.linpred_sd / rows;
      followed.held += (answer.pit > 0.05 && answer.pit < 0.95) / rows;
    }
    engine.feed(data, at, at + frame);
    engine.poll_until_idle();
  }
  return followed;
}

// The intercept walks by `step` a row.
Data walking_data(Index rows, double step, double noise) {
  Data data = linear_data(rows, kFeatures, noise, 7, 0.0);
  const VectorXd steps = normals(8, rows);
  double level = 0;
  for (Index i = 0; i < rows; ++i) data.y[i] += level += step * steps[i];
  return data;
}

// The intercept walks by a quarter of the noise a row, which the best filter follows with a
// variance of 0.28, and of 10 rows ahead 0.34 more; slopes stand still. Memories in which all
// coefficients fade alike take 24 rows or more for both: 10 slopes of 24 rows alone cost as much.
TEST(MemoryChoice, ALevelThatWalksIsFollowedAndSlopesAreNotForgotten) {
  constexpr Index kRows = 4'000;
  const Data data = walking_data(kRows, 0.25, 1.0);
  TestEngine engine(adaptive_config(100'000));
  (void)feed_and_score(engine, data, 0, 1'000);
  const Followed followed = feed_and_score(engine, data, 1'000, kRows);
  // The standard error of either, with rows of a frame in common, is some 4 % and 0.009.
  EXPECT_LT(followed.square, 1.9);
  EXPECT_NEAR(followed.held, 0.9, 0.03);
}

// The same, 100 rows at a time: of those the level goes 3.16 further on average.
TEST(MemoryChoice, ALevelThatWalksIsFollowedThroughLargeTakes) {
  constexpr Index kRows = 20'000;
  const Data data = walking_data(kRows, 0.25, 1.0);
  TestEngine engine(adaptive_config(100'000));
  (void)feed_and_score(engine, data, 0, 2'000, kLargeFrame);
  const Followed followed = feed_and_score(engine, data, 2'000, kRows, kLargeFrame);
  std::printf("square %.2f, held %.3f\n", followed.square, followed.held);
  // The best comes to 4.44, of 180 takes with an error of their own each.
  EXPECT_LT(followed.square, 5.5);
  EXPECT_NEAR(followed.held, 0.9, 0.05);
}

// Nothing but a walk, as prices are: the last row says all of it. Its own step has a variance of 1,
// and the fastest filter, which takes a third of what it sees for noise, comes to 1.17.
TEST(MemoryChoice, AWalkWithoutNoiseIsFollowedRowByRow) {
  constexpr Index kRows = 4'000;
  const Data data = walking_data(kRows, 1.0, 0.0);
  TestEngine engine(adaptive_config(100'000));
  (void)feed_and_score(engine, data, 0, 1'000);
  const Followed followed = feed_and_score(engine, data, 1'000, kRows, 1);
  std::printf("square %.2f, held %.3f\n", followed.square, followed.held);
  EXPECT_LT(followed.square, 1.35);
  EXPECT_NEAR(followed.held, 0.9, 0.022);
}

// A column takes a value far from those of before. The filters of the level have not forgotten what
// slopes are: of 3,000 rows 30^2 / 3,000 is open, beside 0.3 of the level and 0.6 of its way in 20
// rows. The posterior that chains stand on is of the last dozens of rows.
TEST(MemoryChoice, WhereTheLevelWalksAnAnswerIsAsWideAsItsFilterSays) {
  constexpr Index kRows = 3'000;
  constexpr Index kFar = 20;
  Data data = walking_data(kRows + kFar, 0.25, 1.0);
  for (Index i = kRows; i < kRows + kFar; ++i) {
    data.x(i, 0) += 30;
    data.y[i] += 30 * data.truth[0];
  }
  TestEngine engine(adaptive_config(100'000));
  (void)feed_and_score(engine, data, 0, kRows, kFar);
  const std::uint64_t stands_on = engine.provenance().n_eff;
  const Followed followed = feed_and_score(engine, data, kRows, kRows + kFar, kFar);
  std::printf("%llu rows, said %.2f, off by %.2f\n", static_cast<unsigned long long>(stands_on),
              followed.spread, followed.square - 1);
  EXPECT_LT(stands_on, 300u) << "nothing to tell them apart by";
  EXPECT_GT(followed.spread, 0.8);
  EXPECT_LT(followed.spread, 2.4);
}

// The evidence takes each memory's own noise variance, learned from nothing where one is given:
// what the long ones had begun with would count against them for as long as they remember.
TEST(MemoryChoice, AGivenNoiseVarianceThatIsWrongShortensNothing) {
  constexpr Index kRows = 40'000;
  const Data data = linear_data(kRows, kFeatures, 1.0, 6, 0.0);
  for (const double given : {0.3, 3.0}) {
    EngineConfig config = adaptive_config(100'000);
    config.model.noise_variance = given;
    TestEngine engine(config);
    for (Index at = 0; at < kRows; at += 1'000) {
      engine.feed(data, at, at + 1'000);
      engine.poll_until_idle();
    }
    EXPECT_EQ(engine.provenance().n_eff, static_cast<std::uint64_t>(kRows)) << given;
    const std::vector<double> x(kFeatures, 0.0);
    PredictRequest request;
    request.rows = 1;
    request.features = x;
    EXPECT_EQ(engine.answers(request)[0].var_aleatoric, given) << "whatever was learned";
  }
}

// A memory of m rows loses D / 2 m nats a row to a longer one, and its evidence starts anew from 0
// some D / 4 m times a row: each time it comes to e nats with a chance of exp(-e). In 10 streams of
// 20,000 rows, with memories of 256 rows and more, that makes 0.1 false choices, each of which
// takes up to three more to mend.
TEST(MemoryChoice, KeepsAllRowsOfAStreamThatStaysAsItIs) {
  constexpr Index kRows = 20'000;
  constexpr std::uint64_t kRuns = 10;
  std::uint64_t resizes = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Data data = linear_data(kRows, kFeatures, 1.0, 100 + run);
    TestEngine engine(adaptive_config(65'536));
    engine.feed(data);
    engine.poll_until_idle();
    resizes += engine->counters().get(RuntimeCounter::kResizes);
  }
  std::printf("%llu choices in %llu streams\n", static_cast<unsigned long long>(resizes),
              static_cast<unsigned long long>(kRuns));
  EXPECT_LE(resizes, 3u);
}

// 20 streams: the standard error of a coverage of 0.9 over 300 rows each is 0.004.
TEST(MemoryChoice, CoverageIsBackFiveHundredRowsAfterAJump) {
  constexpr Index kJump = 10'000;
  constexpr std::uint64_t kRuns = 20;
  double at_once = 0;
  double after = 0;
  double rows = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Data data = jumping_data(kJump + 1000, kJump, 200 + 2 * run);
    TestEngine engine(adaptive_config(100'000));
    engine.feed(data, 0, kJump);
    engine.poll_until_idle();
    at_once += feed_and_score(engine, data, kJump, kJump + 50).held / kRuns;
    (void)feed_and_score(engine, data, kJump + 50, kJump + 500);
    after += feed_and_score(engine, data, kJump + 500, kJump + 800).held / kRuns;
    rows += static_cast<double>(engine.provenance().n_eff) / kRuns;
  }
  std::printf("held at once %.3f, after 500 rows %.3f, of the last %.0f rows\n", at_once, after,
              rows);
  EXPECT_LT(at_once, 0.85) << "nothing to recover from";
  EXPECT_GT(after, 0.87);
  EXPECT_LT(after, 0.93);
}

// What is old is forgotten for good, and what has come since is all kept.
TEST(MemoryChoice, GrowsAgainWhenTheStreamIsStill) {
  constexpr Index kJump = 5000;
  constexpr Index kRows = 45'000;
  const Data data = jumping_data(kRows, kJump, 300);
  TestEngine engine(adaptive_config(65'536));
  engine.feed(data, 0, kJump + 1000);
  engine.poll_until_idle();
  const std::uint64_t soon = engine.provenance().n_eff;
  EXPECT_LT(soon, 1000u);
  engine.feed(data, kJump + 1000, kRows);
  engine.poll_until_idle();
  const std::uint64_t late = engine.provenance().n_eff;
  std::printf("of the last %llu rows, then of %llu\n", static_cast<unsigned long long>(soon),
              static_cast<unsigned long long>(late));
  EXPECT_GE(late, 8 * soon);
  // The posterior is that of a stream that forgets as fast from the beginning.
  std::uint64_t memory = 65'536 / 2;
  const auto worth = [](std::uint64_t rows) {
    const std::uint64_t first = kRows - std::min<std::uint64_t>(kRows, 2 * rows);
    return std::lround(AgeWeights(rows, ForgettingSpread::kSampling).worth(first, kRows));
  };
  while (memory > 1000 && worth(memory) != std::lround(static_cast<double>(late))) memory /= 2;
  ASSERT_GT(memory, 1000u);
  EngineConfig plain = adaptive_config(memory);
  plain.horizon = Horizon::kForgetting;
  TestEngine same(plain);
  same.feed(data);
  same.poll_until_idle();
  const Gaussian found = engine.summary();
  const Gaussian expected = same.summary();
  EXPECT_LT(kl(found, expected), 0.01);
}

// One row that hardly moves the fit is no reason to forget the others; one that spoils it is left
// behind with all that came before.
TEST(MemoryChoice, OneOutlyingRowIsKeptOrLeftBehind) {
  constexpr Index kOutlier = 3000;
  constexpr Index kJump = 12'000;
  for (const double size : {30.0, 1e3, 1e6}) {
    Data data = jumping_data(kJump + 600, kJump, 400);
    data.y[kOutlier] = size;
    TestEngine engine(adaptive_config(65'536));
    engine.feed(data, 0, kJump);
    engine.poll_until_idle();
    const std::uint64_t kept = engine.provenance().n_eff;
    if (size < 100) {
      EXPECT_EQ(kept, static_cast<std::uint64_t>(kJump)) << size;
    } else {
      EXPECT_LT(kept, static_cast<std::uint64_t>(kJump - kOutlier)) << size;
    }
    // Rows come in several takes: in a single one all are predicted by what was before.
    for (Index row = kJump; row < kJump + 600; row += 100) {
      engine.feed(data, row, row + 100);
      engine.poll_until_idle();
    }
    EXPECT_LE(engine.provenance().n_eff, 1024u) << size;
  }
}

// Rows that come in one rush while the chains begin: most are not looked at one by one.
TEST(MemoryChoice, ARushAtTheStartCutsNothing) {
  constexpr Index kRush = 60'000;
  const Data data = linear_data(kRush + 20'000, kFeatures, 1.0, 500);
  EngineConfig config = adaptive_config(65'536);
  config.window_slack = 65'536;
  config.max_frame_rows = 32'768;
  TestEngine engine(config);
  engine.feed(data, 0, 150);
  engine.poll_rounds(30);
  engine.feed(data, 150, kRush);
  engine.poll_until_idle();
  engine.feed(data, kRush, kRush + 20'000);
  engine.poll_until_idle();
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kResizes), 0u);
}

// Predicted without any error, or always the same: there is nothing to choose by.
TEST(MemoryChoice, RowsWithoutNoiseCutNothing) {
  Data data = linear_data(8000, kFeatures, 0.0, 600);
  for (const bool constant : {false, true}) {
    if (constant) data.y.setConstant(5);
    TestEngine engine(adaptive_config(65'536));
    engine.feed(data);
    engine.poll_until_idle();
    EXPECT_EQ(engine.provenance().n_eff, 8000u) << constant;
  }
}

// A network is followed by no centre.
TEST(MemoryChoice, IsRefusedWhereThePosteriorHasSeveralModes) {
  EngineConfig config = adaptive_config(1000);
  config.model.name = "mlp-linear";
  config.model.hidden = 4;
  EXPECT_FALSE(check(config).ok());
}

TEST(ChosenHorizon, IsAdaptiveWhereverItIsAllowed) {
  for (const ModelEntry& model : model_registry()) {
    EngineConfig config;
    config.model.name = model.name;
    config.model.features = 3;
    config.horizon = Horizon::kAll;  // does not matter
    const Horizon chosen = chosen_horizon(config);
    EXPECT_EQ(chosen, model.network ? Horizon::kWindow : Horizon::kAdaptive) << model.name;
    config.horizon = chosen;
    EXPECT_TRUE(check(config).ok()) << model.name;
  }
}

TEST(ChosenHorizon, IsAWindowWithADiagonalStructureThatCannotKeepAPast) {
  EngineConfig config;
  config.model.name = "logistic";
  config.model.features = kMostFullColumns + 1;
  config.model.max_nonzeros = 30;
  EXPECT_EQ(chosen_horizon(config), Horizon::kAdaptive);
  config.horizon = Horizon::kAdaptive;
  EXPECT_EQ(structure_of(config), Structure::kDiagonal);
  config.model.weight = true;
  EXPECT_EQ(chosen_horizon(config), Horizon::kWindow);
  config.model.weight = false;
  config.model.name = "linear";
  EXPECT_EQ(chosen_horizon(config), Horizon::kWindow);
  config.model.features = 100;
  EXPECT_EQ(chosen_horizon(config), Horizon::kAdaptive);
  config.structure = Structure::kDiagonal;
  EXPECT_EQ(chosen_horizon(config), Horizon::kWindow);
  config.structure = Structure::kFull;
  config.model.features = kMostFullColumns + 1;
  EXPECT_EQ(chosen_horizon(config), Horizon::kAdaptive);
}

}  // namespace
}  // namespace windhover::test::memory_choice_test
