// Without a window, one row far out: it would say more than all others together, and stay.
#include <gtest/gtest.h>

#include <cmath>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/single_pass_streams.h"

namespace windhover::test::single_pass_far_rows_test {
namespace {

struct FarRow {
  double x;
  double y;  // NaN: as it is
};

// One row that would say more than all others together is set aside, and the others' posterior
// stays.
TEST(SinglePassFarRows, OneRowFarOutIsSetAside) {
  constexpr Index kAt = 700;
  constexpr FarRow kFar[] = {{1e6, NAN}, {-1e6, NAN}, {1e20, NAN}, {NAN, 1e12}};
  for (const char* model : {"linear", "log-normal", "student-t", "heteroscedastic", "logistic",
                            "poisson", "negative-binomial", "zero-inflated-poisson"}) {
    const bool real = is_number(find_model(model)->response);
    for (const Horizon horizon : kHorizons) {
      for (const FarRow& far : kFar) {
        if (!std::isnan(far.y) && std::string(model) == "logistic") continue;
        const std::string what = at(model, horizon) + ", " + std::to_string(far.x);
        Data data = data_of(model, 1500, 204);
        if (!std::isnan(far.x)) data.x(kAt, 0) = far.x;
        if (!std::isnan(far.y)) data.y[kAt] = std::string(model) == "log-normal" ? 1e34 : far.y;
        TestEngine engine(default_config(model, horizon));
        stream(engine, data, 0, data.rows());
        EXPECT_LE(set_aside(engine), real ? 1u : 2u) << what;
        expect_ok(engine, what);
        expect_truth(engine, data, what);
        expect_draws_agree(engine, what);
      }
    }
  }
}

// For classes a far row is told by how open it leaves its odds.
TEST(SinglePassFarRows, OneRowOfClassesFarOutIsSetAside) {
  Data data = data_of("logistic", 1500, 217);
  const VectorXd u = uniforms(218, data.rows());
  for (Index i = 0; i < data.rows(); ++i) data.y[i] += u[i] < 0.3 ? 1 : 0;
  for (const Horizon horizon : kHorizons) {
    EngineConfig config = default_config("softmax", horizon);
    config.model.classes = 3;
    TestEngine clean(config);
    stream(clean, data, 0, data.rows());
    for (const double far : {1e6, -1e6, 1e20}) {
      Data hit = data;
      hit.x(700, 0) = far;
      TestEngine engine(config);
      stream(engine, hit, 0, hit.rows());
      EXPECT_EQ(set_aside(engine), 1u) << far;
      expect_ok(engine, "softmax");
      expect_draws_agree(engine, "softmax");
      const auto found = engine.parameters();
      const auto expected = clean.parameters();
      for (std::size_t j = 0; j < found.size(); ++j) {
        // A row of 1500 more or less: an influence of a few sd / sqrt(1500).
        EXPECT_NEAR(found[j].mean, expected[j].mean, 0.2 * expected[j].sd) << far;
        EXPECT_NEAR(found[j].sd / expected[j].sd, 1, 0.01) << far;
      }
    }
  }
}

// Among the first rows it would be in the units that all others are seen in.
TEST(SinglePassFarRows, ARowFarOutAmongTheFirstIsNotBegunWith) {
  constexpr FarRow kFar[] = {{1e6, NAN}, {NAN, 1e12}};
  for (const char* model : {"linear", "log-normal", "student-t", "heteroscedastic", "logistic",
                            "poisson", "negative-binomial", "zero-inflated-poisson"}) {
    for (const FarRow& far : kFar) {
      if (!std::isnan(far.y) && std::string(model) == "logistic") continue;
      Data data = data_of(model, 1500, 205);
      if (!std::isnan(far.x)) data.x(30, 0) = far.x;
      if (!std::isnan(far.y)) data.y[30] = far.y;
      // The logarithm of a number is never 1000 times as far off as others.
      if (!std::isnan(far.y) && std::string(model) == "log-normal") continue;
      TestEngine engine(default_config(model, Horizon::kAll));
      stream(engine, data, 0, 130);
      EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kWarmingUp) << model;
      stream(engine, data, 130, data.rows());
      EXPECT_EQ(set_aside(engine), 31u) << model;
      EXPECT_EQ(engine.provenance().n_eff, 1469u) << model;
      expect_ok(engine, model);
      expect_truth(engine, data, model);
      expect_draws_agree(engine, model);
    }
  }
}

// Where every tenth row is far out it begins with them all the same.
TEST(SinglePassFarRows, AStreamOfFarRowsIsBegunWith) {
  Data data = data_of("linear", 500, 206);
  for (Index row = 0; row < data.rows(); row += 20) data.x(row, 0) = 1e6;
  TestEngine engine(default_config("linear", Horizon::kAll));
  stream(engine, data, 0, 150);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  stream(engine, data, 150, data.rows());
  EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
}

// Clean streams: nothing is set aside, whatever the model.
TEST(SinglePassFarRows, NoRowOfACleanStreamIsSetAside) {
  for (const char* model : {"linear", "log-normal", "heteroscedastic", "logistic", "poisson",
                            "negative-binomial", "zero-inflated-poisson"}) {
    for (const Horizon horizon : kHorizons) {
      TestEngine engine(default_config(model, horizon));
      const Data data = data_of(model, 5000, 216);
      stream(engine, data, 0, data.rows());
      EXPECT_EQ(set_aside(engine), 0u) << at(model, horizon);
      EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
      expect_ok(engine, at(model, horizon));
    }
  }
}

}  // namespace
}  // namespace windhover::test::single_pass_far_rows_test
