// Without a window, data as it comes: constant stretches and rows unlike all others do no lasting
// harm, summary and draws of one snapshot agree, and what says ok is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "windhover/tests/runtime/glm_reference.h"
#include "windhover/tests/runtime/single_pass_streams.h"

namespace windhover::test::single_pass_recovery_test {
namespace {

// Targets that do not vary leave next to no noise, beside which every row that comes later is
// impossible. After as many good rows as there were others it is those that count.
TEST(SinglePassRecovery, ConstantTargetsAtTheStartAreForgotten) {
  constexpr Index kStuck = 300;
  for (const char* model : {"linear", "student-t"}) {
    for (const Horizon horizon : kHorizons) {
      for (const double value : {5.0, 0.0}) {
        const std::string what = at(model, horizon);
        Data data = data_of(model, 4 * kStuck, 201);
        data.y.head(kStuck).setConstant(value);
        TestEngine engine(default_config(model, horizon));
        stream(engine, data, 0, kStuck + 50);
        stream(engine, data, kStuck + 50, 2 * kStuck - 50);
        EXPECT_EQ(engine.provenance().status, PosteriorStatus::kDegraded) << what;
        stream(engine, data, 2 * kStuck - 50, data.rows());
        expect_ok(engine, what);
        expect_truth(engine, data, what);
        expect_draws_agree(engine, what);
        const double noise = engine.provenance().noise_variance;
        EXPECT_LT(noise, 1.3) << what;
        EXPECT_GT(noise, 0.4) << what;  // a t of 4 degrees of freedom takes normal noise for less
      }
    }
  }
}

TEST(SinglePassRecovery, ConstantTargetsLaterOnAreRowsAmongOthers) {
  for (const char* model : {"linear", "student-t", "logistic", "poisson", "negative-binomial",
                            "zero-inflated-poisson"}) {
    Data data = data_of(model, 4000, 202);
    data.y.segment(2000, 100).setZero();
    TestEngine engine(default_config(model, Horizon::kFading));
    stream(engine, data, 0, data.rows());
    expect_ok(engine, model);
    expect_truth(engine, data, model);
    expect_draws_agree(engine, model);
  }
}

TEST(SinglePassRecovery, CountsThatBeginWithNoughtsAreLearned) {
  constexpr Index kNoughts = 200;
  for (const char* model : {"poisson", "negative-binomial", "zero-inflated-poisson", "logistic"}) {
    for (const Horizon horizon : kHorizons) {
      const std::string what = at(model, horizon);
      Data data = data_of(model, 10 * kNoughts, 203);
      data.y.head(kNoughts).setZero();
      TestEngine engine(default_config(model, horizon));
      for (Index row = 0; row < data.rows(); row += 50) {
        stream(engine, data, row, row + 50);
        if (engine.provenance().status == PosteriorStatus::kOk) expect_what_ok_says(engine, what);
      }
      EXPECT_NE(engine.provenance().reason, StatusReason::kLostChains) << what;
      // Nothing but noughts are structural ones to it, until counts come: what that leaves is said.
      const bool structural = std::string(model) == "zero-inflated-poisson";
      if (structural && engine.provenance().status != PosteriorStatus::kOk) continue;
      expect_draws_agree(engine, what);
    }
  }
}

// All rows are others from one on: they are set aside, and the answers say that they contradict the
// posterior, until they are more than those that it stands on.
TEST(SinglePassRecovery, OtherRowsTakeOverWhenTheyAreMore) {
  constexpr Index kBefore = 600;
  for (const char* model : {"linear", "student-t"}) {
    for (const Horizon horizon : kHorizons) {
      const std::string what = at(model, horizon);
      Data data = data_of(model, 3 * kBefore, 207);
      data.y.tail(2 * kBefore).array() += 1e9;
      TestEngine engine(default_config(model, horizon));
      stream(engine, data, 0, kBefore);
      expect_ok(engine, what);
      stream(engine, data, kBefore, kBefore + 200);
      EXPECT_EQ(engine.provenance().reason, StatusReason::kMisfit) << what;
      EXPECT_EQ(set_aside(engine), 200u) << what;
      stream(engine, data, kBefore + 200, data.rows());
      EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 2u) << what;
      data.truth[2] += 1e9;
      expect_ok(engine, what);
      expect_truth(engine, data, what);
      expect_draws_agree(engine, what);
    }
  }
}

// The engine that begins anew goes on as one that is restored in the middle of it: see
// state_contract_test.cc for how. Here, that nothing of before is left.
TEST(SinglePassRecovery, BeginningAnewLeavesTheRowsInMemoryAlone) {
  Data data = data_of("linear", 2000, 208);
  data.y.head(400).setConstant(5);
  TestEngine engine(default_config("linear", Horizon::kAll));
  stream(engine, data, 0, data.rows());
  TestEngine fresh(default_config("linear", Horizon::kAll));
  // The count of those set aside passes 400 with row 800; the last 100 rows are begun with.
  const Index first = data.rows() - static_cast<Index>(engine.provenance().n_eff);
  EXPECT_NEAR(static_cast<double>(first), 700, 64);
  stream(fresh, data, first, data.rows());
  const auto found = engine.parameters();
  const auto expected = fresh.parameters();
  for (std::size_t j = 0; j < found.size(); ++j) {
    EXPECT_NEAR(found[j].mean, expected[j].mean, 1e-3 * expected[j].sd);
    EXPECT_NEAR(found[j].sd / expected[j].sd, 1, 1e-3);
  }
}

// The first pass of a cold start is at 0, where squares of 1e18 leave no digit of a noise of 1.
TEST(SinglePassRecovery, TargetsFarFromNoughtKeepTheirNoiseVariance) {
  for (const Horizon horizon : kHorizons) {
    Data data = data_of("linear", 2000, 209);
    data.y.array() += 1e9;
    EngineConfig config = default_config("linear", horizon);
    config.model.prior_precision = config.model.intercept_precision = 1e-24;
    config.standardize = config.standardize_target = Standardize::kOff;
    TestEngine engine(config);
    engine.feed(data, 0, 500);
    engine.poll_until_idle();
    stream(engine, data, 500, data.rows());
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance, 1.0, 4 * p.noise_variance_sd) << to_string(horizon);
  }
}

// The same rows, from `first` on those of class 0 before those of class 1.
Data sorted_by_class(const Data& data, Index first) {
  Data sorted = data;
  Index at = first;
  for (const double y : {0.0, 1.0}) {
    for (Index i = first; i < data.rows(); ++i) {
      if (data.y[i] != y) continue;
      sorted.x.row(at) = data.x.row(i);
      sorted.y[at++] = y;
    }
  }
  return sorted;
}

// Rows stay the parabolas that they were where the mode was when they came. It goes far where one
// class comes after the other, and ends 1.3 to 2.2 sd from where the same rows lead in any order.
TEST(SinglePassRecovery, RowsOfOneClassAfterTheOtherAreNotOkWhereTheModeIsOff) {
  constexpr Index kMixed = 100;
  constexpr double kOff = 1;  // sd, root mean square
  int were_off = 0;
  for (std::uint64_t seed = 220; seed < 232; ++seed) {
    const Data mixed = logistic_data(1200, 4, 0.5, seed);
    const Data sorted = sorted_by_class(mixed, kMixed);
    EngineConfig config = small_config("logistic", 4, 100'000);
    config.horizon = Horizon::kAll;
    const Gaussian exact = logistic_reference(mixed.design(), mixed.y, config.model).laplace();
    const auto distance = [&](TestEngine& engine) {
      const VectorXd way =
          Eigen::Map<const VectorXd>(engine->learner().view().estimator().laplace().mode(), 5) -
          exact.mean;
      return std::sqrt(way.dot(exact.covariance.llt().solve(way)) / 5);
    };
    TestEngine engine(config);
    stream(engine, mixed, 0, mixed.rows());
    EXPECT_EQ(engine.provenance().reason, StatusReason::kNone) << seed;
    EXPECT_LT(distance(engine), kOff / 2) << seed;
    TestEngine other(config);
    stream(other, sorted, 0, sorted.rows());
    const bool off = distance(other) > kOff;
    were_off += off;
    EXPECT_FALSE(off && other.provenance().status == PosteriorStatus::kOk) << seed;
  }
  EXPECT_GE(were_off, 6);
}

// Rows of x = 50 whose class is the one that all before take for impossible: the loss is straight
// where they are and bends elsewhere. Whenever the answer says ok summary and draws agree, and at
// the end the mode is near the exact one, where single steps of Newton's method were 4 off.
TEST(SinglePassRecovery, RowsWhereTheLossIsNoParabolaAreLearned) {
  constexpr Index kGood = 1000;
  constexpr Index kBad = 100;
  Data data = data_of("logistic", kGood + kBad, 210);
  data.truth[0] = 0.8;
  const VectorXd u = uniforms(211, data.rows());
  const VectorXd eta = data.design() * data.truth;
  for (Index i = 0; i < data.rows(); ++i) data.y[i] = u[i] < 1 / (1 + std::exp(-eta[i])) ? 1 : 0;
  for (Index i = kGood; i < data.rows(); ++i) {
    data.x(i, 0) = i % 2 == 0 ? 50 : -50;
    data.y[i] = i % 2 == 0 ? 0 : 1;
  }
  for (const Horizon horizon : kHorizons) {
    EngineConfig config = small_config("logistic", 2, 100'000);
    config.horizon = horizon;
    TestEngine engine(config);
    stream(engine, data, 0, kGood);
    for (Index row = kGood; row < data.rows(); row += 10) {
      stream(engine, data, row, row + 10);
      const auto p = engine.parameters()[0];
      const VectorXd draws = engine.draws().col(0);
      const double sd = std::sqrt((draws.array() - draws.mean()).square().mean());
      EXPECT_LT(std::abs(draws.mean() - p.mean), std::max(sd, p.sd_robust)) << row;
    }
    const GlmReference reference = logistic_reference(data.design(), data.y, config.model);
    const double moved = data.truth[0] - reference.laplace().mean[0];
    EXPECT_LT(std::abs(engine.parameters()[0].mean - reference.laplace().mean[0]), 0.05 * moved);
  }
}

// A burst of a category that has not been seen before: at once, and for good, its draws are those
// of its summary.
TEST(SinglePassRecovery, ABurstOfANewCategoryIsOkAtOnce) {
  for (const char* model : {"linear", "logistic", "poisson"}) {
    const Index first = 1000;
    const Index burst = 150;
    Data data = data_of(model, 4000, 212);
    data.x.col(1).setZero();
    data.x.col(1).segment(first, burst).setOnes();
    data.truth[1] = -0.5;
    const VectorXd eta = data.design() * data.truth;
    const VectorXd u = uniforms(213, data.rows());
    const VectorXd z = normals(214, data.rows());
    for (Index i = 0; i < data.rows(); ++i) {
      data.y[i] = std::string(model) == "linear"     ? eta[i] + z[i]
                  : std::string(model) == "logistic" ? (u[i] < 1 / (1 + std::exp(-eta[i])) ? 1 : 0)
                                                     : count_of(eta[i], u[i]);
    }
    TestEngine engine(default_config(model, Horizon::kAll));
    stream(engine, data, 0, first + burst);
    for (Index row = first + burst; row < data.rows(); row += 250) {
      stream(engine, data, row, std::min(row + 250, data.rows()));
      expect_ok(engine, model);
      expect_truth(engine, data, model);
      expect_draws_agree(engine, model, 1.5);
    }
  }
}

// What made the draws wrong is no verdict on those that are right again: within a memory of that
// they are ok.
TEST(SinglePassRecovery, SpreadIsJudgedByTheDrawsThereAre) {
  Data data = data_of("linear", 20'000, 215);
  TestEngine engine(default_config("linear", Horizon::kFading));
  stream(engine, data, 0, 3000);
  expect_ok(engine, "before");
  const std::span<const double> chains = engine->learner().view().chains;
  std::vector<double> offs(chains.begin(), chains.end());
  const auto parameters = engine.parameters();
  for (std::size_t i = 0; i < offs.size(); ++i) {
    const auto& p = parameters[i % 3];
    offs[i] = 20 * p.sd * (i / 3 % 2 == 0 ? 1 : -1);
    const_cast<double&>(chains[i]) += offs[i];
  }
  stream(engine, data, 3000, 3400);
  EXPECT_EQ(engine.provenance().reason, StatusReason::kSpread);
  // They come back by exp(-2) a memory, to below a tenth of an sd in three.
  stream(engine, data, 3400, 3000 + 4 * kMemory);
  expect_ok(engine, "a memory after");
  expect_draws_agree(engine, "a memory after");
}

}  // namespace
}  // namespace windhover::test::single_pass_recovery_test
