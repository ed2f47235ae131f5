#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::status_test {
namespace {

TEST(Status, IsWarmingUpUntilSamplingAndOkAfterwards) {
  const Data data = linear_data(1000, 4, 1.0, 71);
  EngineConfig config = small_config("linear", 4, 1000);
  config.draws_per_observation = 0;
  TestEngine engine(config);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kWarmingUp);
  engine.feed(data);
  bool early = false;
  for (int i = 0; i < 100'000 && engine->learner().view().phase != Learner::Phase::kSampling; ++i) {
    engine->poll(1);
    engine->poll(0);
    early |= engine.provenance().status != PosteriorStatus::kWarmingUp &&
             engine->learner().view().phase != Learner::Phase::kSampling;
  }
  EXPECT_FALSE(early);
  engine.poll_rounds(20'000);
  engine->poll(0);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk);
}

TEST(Status, IsOkOnGoodDataOverManySeeds) {
  int not_ok = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const char* model : {"linear", "logistic"}) {
      EngineConfig config = small_config(model, 4, 1000);
      config.seed = seed;
      config.draws_per_observation = 0;
      TestEngine engine(config);
      engine.feed(config.model.name == "linear" ? linear_data(1000, 4, 1.0, 100 + seed)
                                                : logistic_data(1000, 4, 0.0, 100 + seed));
      EXPECT_TRUE(engine.poll_until_sampling());
      engine.poll_rounds(20'000);
      engine->poll(0);
      const Provenance p = engine.provenance();
      not_ok += p.status != PosteriorStatus::kOk;
      EXPECT_GT(p.ou_ratio, 1 / 1.3);  // the worst direction, too narrow or too wide
      EXPECT_LT(p.ou_ratio, 1.3);
      EXPECT_LT(p.r_hat, 1.05);
      EXPECT_GT(p.ess_bulk, 100);
    }
  }
  EXPECT_EQ(not_ok, 0);
}

TEST(Status, StaysOkWhileAStationaryStreamRollsOn) {
  const Data data = linear_data(20'000, 4, 1.0, 72);
  EngineConfig config = small_config("linear", 4, 1000);
  TestEngine engine(config);
  int answers = 0;
  int degraded = 0;
  for (Index row = 0; row < data.rows(); row += 20) {
    engine.feed(data, row, row + 20);
    engine.poll_until_idle();
    if (row < 6000) continue;  // the first windows after a cold start may still lag
    const Provenance p = engine.provenance();
    ++answers;
    degraded += p.status != PosteriorStatus::kOk;
    EXPECT_NEAR(p.draws_per_observation, 4.0, 1.0);
  }
  EXPECT_LE(degraded, answers / 20);
}

TEST(Status, IsDegradedWhenThePaceCannotBeHeld) {
  const Data data = linear_data(6000, 4, 1.0, 73);
  EngineConfig config = small_config("linear", 4, 1000);
  config.draws_per_observation = 1e6;
  TestEngine engine(config);
  engine.feed(data, 0, 1000);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(5000);
  engine->poll(0);
  const Provenance before = engine.provenance();
  EXPECT_EQ(before.status, PosteriorStatus::kOk)
      << "ou_ratio " << before.ou_ratio << ", ess " << before.ess_bulk << ", R "
      << before.draws_per_observation;
  // One round of 64 rows for 200 new ones: R = 0.32.
  for (Index row = 1000; row < 6000; row += 200) {
    engine.feed(data, row, row + 200);
    engine->poll(1);
    engine->poll(0);
  }
  const Provenance p = engine.provenance();
  EXPECT_NEAR(p.draws_per_observation, 0.32, 0.05);
  EXPECT_EQ(p.status, PosteriorStatus::kDegraded);
  EXPECT_EQ(p.reason, StatusReason::kReplayRatio);
}

// Ten passes of replay follow a cold start, whether the first answers were asked for early or late.
// A learner that rests after every frame has reached its target, also while less than a minibatch
// is due.
TEST(Status, ReplayRatioOfOneIsHeldExactly) {
  for (const Index frame : {1, 7, 25, 100}) {
    const Data data = linear_data(4000, 4, 1.0, 74);
    EngineConfig config = small_config("linear", 4, 1000);
    config.draws_per_observation = 1;
    TestEngine engine(config);
    int short_of = 0;
    for (Index row = 0; row + frame <= data.rows(); row += frame) {
      engine.feed(data, row, row + frame);
      engine.poll_until_idle();
      const Provenance p = engine.provenance();
      if (engine->learner().view().phase != Learner::Phase::kSampling) continue;
      EXPECT_GT(p.draws_per_observation, 1 - 1e-9) << frame << " rows a frame, row " << row;
      short_of += p.reason == StatusReason::kReplayRatio ? 1 : 0;
    }
    EXPECT_EQ(short_of, 0) << frame;
  }
}

// Where the learner starts over the snapshot before stands, but not as one to be believed.
TEST(Status, IsWarmingUpWhileTheLearnerStartsOver) {
  Data data = logistic_data(3000, 2, 0.0, 75);
  for (Index i = 1500; i < data.rows(); ++i) data.x.row(i) *= 1000;
  EngineConfig config = small_config("logistic", 2, 1000);
  TestEngine engine(config);
  engine.feed(data, 0, 1500);
  engine.poll_until_idle();
  ASSERT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  bool started_over = false;
  for (Index row = 1500; row < data.rows() && !started_over; row += 100) {
    engine.feed(data, row, row + 100);
    for (int round = 0; round < 2000 && !started_over; ++round) {
      if (engine->poll(1) == 0) break;
      started_over = engine->learner().view().phase == Learner::Phase::kWarmingUp;
    }
  }
  ASSERT_TRUE(started_over);
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.status, PosteriorStatus::kWarmingUp) << to_string(p.reason);
  EXPECT_GT(p.n_eff, 900U) << "the numbers are those of before";
}

// A row so large that nothing else can be told from rounding, and what it leaves when it goes: the
// sampler is not to blame. A learner that has time for it sums the window anew.
int answers_too_large(const char* model, int rounds) {
  int too_large = 0;
  Data data = linear_data(6500, 3, 1.0, 5);
  if (model[0] == 'p') data.y = data.y.array().abs().floor();
  data.x(3000, 1) = 1e10;
  EngineConfig config = small_config(model, 3, 2000);
  config.model.noise_variance = 0;
  ManualClock clock;
  TestEngine engine(config, &clock);
  for (Index row = 0; row < data.rows(); row += 20) {
    engine.feed(data, row, row + 20);
    clock.advance_ns(1'000'000);
    engine->poll(rounds);
    const Provenance p = engine.provenance();
    if (row < 3000) continue;
    EXPECT_FALSE(std::isinf(p.law_ratio)) << model << ", row " << row;
    too_large += p.reason == StatusReason::kNotDefinite ? 1 : 0;
  }
  return too_large;
}

TEST(Status, NamesNumbersTooLargeAndNotTheSampler) {
  int too_large = 0;
  for (const int rounds : {4, 8, 16, 40}) {
    for (const char* model : {"linear", "poisson"}) too_large += answers_too_large(model, rounds);
  }
  EXPECT_GT(too_large, 0);
}

TEST(Status, PaceDoesNotDependOnHowEarlyTheFirstSnapshotIs) {
  const Data data = linear_data(1000, 4, 1.0, 75);
  TestEngine engine(small_config("linear", 4, 1000));
  engine.feed(data);
  while (engine->poll(1) > 0) engine->poll(0);  // a snapshot a round
  const Provenance p = engine.provenance();
  EXPECT_GT(p.steps, 8 * 9 * 1000u / 64);
  EXPECT_GE(p.draws_per_observation, 4.0);
}

// Features on scales 5 apart: one rate for all is far from the posterior, and every draw follows
// its own law to the letter.
TEST(Status, SaysThatASamplerDoesNotTargetThePosterior) {
  Data data = linear_data(2000, 4, 1.0, 76);
  data.x.col(1) = data.x.col(0) + 0.2 * data.x.col(1);
  const auto provenance = [&](const char* sampler) {
    EngineConfig config = small_config("linear", 4, 2000);
    config.draws_per_observation = 0;
    config.sampler.name = sampler;
    TestEngine engine(config);
    engine.feed(data);
    EXPECT_TRUE(engine.poll_until_sampling());
    engine.poll_rounds(20'000);
    engine->poll(0);
    return engine.provenance();
  };
  const Provenance one_rate = provenance("sgd");
  EXPECT_EQ(one_rate.reason, StatusReason::kSamplersLaw);
  EXPECT_EQ(one_rate.status, PosteriorStatus::kDegraded);
  EXPECT_TRUE(one_rate.law_ratio > 1.5 || one_rate.law_ratio < 1 / 1.5) << one_rate.law_ratio;
  const double wide = 1 + std::sqrt(5 / one_rate.ess_bulk);
  EXPECT_LT(one_rate.ou_ratio, 1.3 * wide * wide) << one_rate.ess_bulk;
  for (const char* sampler : {"calibrated", "sgfs-f", "momentum", "sandwich"}) {
    const Provenance p = provenance(sampler);
    EXPECT_EQ(p.reason, StatusReason::kNone) << sampler << ": " << to_string(p.reason);
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << sampler;
    EXPECT_NEAR(p.law_ratio, 1.0, 0.2) << sampler;
  }
}

TEST(Status, WorksOutTheMisspecificationIndex) {
  // Noise that grows with a feature: Tr(A^-1 C) / D well above 1; sd_robust wider where it matters.
  Data data = linear_data(4000, 3, 0.0, 74);
  const VectorXd e = normals(740, 4000);
  for (Index i = 0; i < 4000; ++i) {
    data.y[i] += e[i] * std::sqrt(0.25 + 0.75 * data.x(i, 2) * data.x(i, 2));
  }
  EngineConfig config = small_config("linear", 3, 4000);
  config.draws_per_observation = 0;
  config.sampler.minibatch_size = 200;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(4000);
  engine->poll(0);
  EXPECT_GT(engine.provenance().misspecification_index, 1.15);
  const auto parameters = engine.parameters();
  // The sandwich computed by hand: A = E x x^T, C = E x x^T s^2(x).
  const MatrixXd design = data.design();
  const MatrixXd a = design.transpose() * design / 4000.0;
  const Gaussian exact = linear_posterior(design, data.y, 1.0, config.model);
  const VectorXd residual = data.y - design * exact.mean;
  const MatrixXd scores = design.array().colwise() * residual.array();
  const MatrixXd c = scores.transpose() * scores / 4000.0;
  const MatrixXd sandwich = a.inverse() * c * a.inverse() / 4000.0;
  VectorXd independent(4);
  engine->learner().view().estimator().checks().sandwich_sd(independent.data());
  for (Index j = 0; j < 4; ++j) {
    EXPECT_NEAR(independent[j] / std::sqrt(sandwich(j, j)), 1.0, 0.03);
    // 500 batches at three lags: a relative error of sqrt(3 / (2 500)) = 5.5 %.
    EXPECT_NEAR(parameters[static_cast<std::size_t>(j)].sd_robust / std::sqrt(sandwich(j, j)), 1.0,
                0.2);
  }
}

// What 60 windows of a stream are called once each has been filled and worked through.
std::array<int, 4> statuses(double correlation, double step) {
  std::array<int, 4> count{};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Data data = linear_data(1000, 4, 0.0, 7600 + seed);
    data.y += autoregressive_noise(1000, correlation, 7700 + seed);
    for (Index i = 900; i < 1000; ++i) data.y[i] += step * data.x(i, 0);
    EngineConfig config = small_config("linear", 4, 1000);
    config.model.noise_variance = 0;
    config.seed = seed;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    ++count[static_cast<std::size_t>(p.status)];
    const double limit = normal_quantile(1 - 1e-5 / (2 * 5));
    EXPECT_EQ(p.drift_score > limit, p.status == PosteriorStatus::kDrifting);
    if (p.score_autocorrelation > 1.2) {
      EXPECT_NE(p.status, PosteriorStatus::kOk);
    }
  }
  return count;
}

int count_of(const std::array<int, 4>& count, PosteriorStatus status) {
  return count[static_cast<std::size_t>(status)];
}

TEST(Status, IsOkForIndependentRows) {
  EXPECT_EQ(count_of(statuses(0.0, 0.0), PosteriorStatus::kOk), 60);
}

TEST(Status, IsDegradedForDependentRows) {
  EXPECT_EQ(count_of(statuses(0.5, 0.0), PosteriorStatus::kDegraded), 60);
}

// A coefficient that moved by two noise sd. The newest rows then also vary more about a mode that
// is still that of the others, so this is not as far out as it looks.
TEST(Status, IsDriftingWhenTheNewestTenthIsDifferent) {
  EXPECT_GE(count_of(statuses(0.0, 2.0), PosteriorStatus::kDrifting), 54);
  EXPECT_GE(count_of(statuses(0.5, 2.0), PosteriorStatus::kDrifting), 54);
}

TEST(Status, IsNoLongerDriftingOnceTheWindowIsAllNew) {
  Data data = linear_data(3000, 4, 1.0, 78);
  for (Index i = 1000; i < 3000; ++i) data.y[i] += 3 * data.x(i, 0);
  for (const Index frame : {20, 100}) {
    TestEngine engine(small_config("linear", 4, 1000));
    bool seen = false;
    for (Index row = 0; row < 3000; row += frame) {
      engine.feed(data, row, row + frame);
      engine.poll_until_idle();
      const bool drifting = engine.provenance().status == PosteriorStatus::kDrifting;
      seen |= drifting;
      if (row + frame <= 1000 || row > 2000) {
        EXPECT_FALSE(drifting) << row;
      }
    }
    EXPECT_TRUE(seen) << frame;
    EXPECT_LT(engine.provenance().drift_score, 4.0);
  }
}

// Batches of 8 rows have influences of mean 0 and sd 4 before, of mean 24 and sd 13 after. A fit of
// two means d sd apart misses by more than k batches with a probability of about exp(-k d^2 / 8):
// 20 batches at d = 24 / 13, 2 in 10^4.
TEST(Status, SaysSinceWhenItDrifts) {
  std::uint64_t known = 0;
  for (const std::uint64_t seed : {78U, 79U, 80U, 81U}) {
    Data data = linear_data(4000, 4, 1.0, seed);
    for (Index i = 2500; i < 4000; ++i) data.y[i] += 3 * data.x(i, 1);
    TestEngine engine(small_config("linear", 4, 2000));
    for (Index row = 0; row < 4000; row += 50) {
      engine.feed(data, row, row + 50);
      engine.poll_until_idle();
      const Provenance p = engine.provenance();
      if (p.drift_onset == 0) continue;
      EXPECT_NEAR(static_cast<double>(p.drift_onset), 2500, 160) << seed << ' ' << row;
      ++known;
    }
  }
  EXPECT_GE(known, 4U * 20);
}

TEST(Status, KnowsNothingOfTheOrderOfFewRows) {
  TestEngine engine(small_config("linear", 2, 300));
  engine.feed(linear_data(300, 2, 1.0, 79));
  engine.poll_until_idle();
  const Provenance p = engine.provenance();
  EXPECT_TRUE(std::isnan(p.drift_score));
  EXPECT_TRUE(std::isnan(p.score_autocorrelation));
  EXPECT_EQ(p.status, PosteriorStatus::kOk);
}

// At a correlation of 0.8 the residuals of 200 neighbours are some 7 sd from what chance makes of
// them, 4.3 are asked for. Nothing is known yet of drift and scores.
TEST(Status, FewDependentRowsAreTold) {
  for (const double correlation : {0.0, 0.8}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Data data = linear_data(200, 2, 0.0, 8'100 + seed);
      data.y += autoregressive_noise(200, correlation, 8'200 + seed);
      EngineConfig config = small_config("linear", 2, 1'000);
      config.model.noise_variance = 0;
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_until_idle();
      const Provenance p = engine.provenance();
      EXPECT_EQ(p.reason, correlation > 0 ? StatusReason::kDependentRows : StatusReason::kNone)
          << seed;
      EXPECT_TRUE(std::isnan(p.score_autocorrelation));
    }
  }
}

}  // namespace
}  // namespace windhover::test::status_test
