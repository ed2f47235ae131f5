// Rows with a weight on their way in: what is refused, followers, checkpoints, scores, late labels.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/runtime/window/row_follower.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/labels_fixture.h"
#include "windhover/tests/runtime/weight_fixture.h"

namespace windhover::test::weight_test {
namespace {

TEST(WeightRows, WhatCannotBeIsRefusedByItself) {
  const std::array<double, 1> x = {0.5};
  const double y = 1;
  const auto observe = [&](TestEngine& engine, const double* weight, RefusedRow* why) {
    ObservationBatch batch;
    batch.rows = 1;
    batch.features = reinterpret_cast<const std::byte*>(x.data());
    batch.feature_values = 1;
    batch.targets = reinterpret_cast<const std::byte*>(&y);
    batch.weights = reinterpret_cast<const std::byte*>(weight);
    return engine->observe(batch, {why, 1});
  };
  TestEngine engine(with_weight(small_config("poisson", 1, 100)));
  RefusedRow why;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), 0.0, -1.0, 1.0001e6, 9e-7,
                             1e300, infinity, -infinity}) {
    EXPECT_EQ(observe(engine, &wrong, &why).refused, 1U) << wrong;
    EXPECT_EQ(why.reason, Status::kWeightOutOfRange) << wrong;
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedWeight), 8U);
  for (const double right : {kLeastWeight, kLargestWeight}) {
    EXPECT_EQ(observe(engine, &right, &why).accepted, 1U);
  }
  EXPECT_EQ(observe(engine, nullptr, &why).accepted, 1U);  // 1
  engine.poll_until_idle();
  EXPECT_EQ(engine->head(), 3U);
  TestEngine none(small_config("poisson", 1, 100));
  EXPECT_EQ(observe(none, &y, &why).status, Status::kWeightNotTaken);
  EXPECT_EQ(none->counters().get(RuntimeCounter::kRowsRefusedWeight), 1U);
  EXPECT_EQ(none->head(), 0U);
}

TEST(WeightRows, OnlyNetworksRefuseIt) {
  for (const ModelEntry& model : model_registry()) {
    const auto checked = check(with_weight(small_config(std::string(model.name).c_str(), 2, 100)));
    EXPECT_EQ(checked.ok(), !model.network) << model.name;
    if (model.network) {
      EXPECT_EQ(std::string(checked.error().sentence),
                "model.weight must be false for networks: they count every row once");
    }
  }
  const EngineConfig config = small_config("linear", 2, 100);
  EXPECT_NE(fingerprint(config.model, 0), fingerprint(with_weight(config).model, 0));
  EngineConfig offset = config;
  offset.model.offset = true;
  EXPECT_NE(fingerprint(offset.model, 0), fingerprint(with_weight(config).model, 0));
}

TEST(WeightRows, PackedRowsAndFollowersHaveIt) {
  for (const std::uint32_t max_nonzeros : {0U, 2U}) {
    for (const bool offset : {false, true}) {
      EngineConfig config = with_weight(small_config("linear", 2, 200));
      config.model.max_nonzeros = max_nonzeros;
      config.model.offset = offset;
      config.max_followers = 1;
      ManualClock clock(1'000'000);
      TestEngine one(config, &clock);
      RowFollower follower = one->follower().value();
      const VectorXd z = normals(51, 500);
      for (Index i = 0; i < 100; ++i) {
        ObservationBatch b;
        const std::uint32_t end = 2;
        const std::array<std::uint32_t, 2> indices = {0, 1};
        const double weight = std::exp(z[5 * i + 4]);
        b.rows = 1;
        b.features = reinterpret_cast<const std::byte*>(z.data() + 5 * i);
        b.feature_values = 2;
        b.targets = reinterpret_cast<const std::byte*>(z.data() + 5 * i + 2);
        if (offset) b.offsets = reinterpret_cast<const std::byte*>(z.data() + 5 * i + 3);
        b.weights = reinterpret_cast<const std::byte*>(&weight);
        if (max_nonzeros > 0) {
          b.indices = reinterpret_cast<const std::byte*>(indices.data());
          b.row_ends = reinterpret_cast<const std::byte*>(&end);
        }
        ASSERT_EQ(one->observe(b, {}).accepted, 1U);
      }
      std::vector<std::byte> bytes(follower.packed_bytes(0, 100));
      ASSERT_EQ(follower.pack(0, 100, bytes), bytes.size());
      TestEngine other(config, &clock, 0xA5);
      ASSERT_EQ(other->observe_packed(bytes, 100).accepted, 100U);
      EXPECT_EQ(difference(save(*one), save(*other)), "");
      // A damaged weight is refused as one that came.
      const double wrong = -1;
      const std::size_t at = max_nonzeros == 0 ? 2 + 1 + offset : 0;
      if (max_nonzeros == 0) std::memcpy(bytes.data() + at * sizeof(double), &wrong, sizeof(wrong));
      TestEngine third(config, &clock, 0xA5);
      EXPECT_EQ(third->observe_packed(bytes, 100).refused, max_nonzeros == 0 ? 1U : 0U);
      EngineConfig following = config;
      following.max_followers = 0;
      following.model.weight = false;
      following.follows = true;
      TestEngine without(following);
      EXPECT_EQ(without->follow(*one), Status::kWrongDimension);
    }
  }
}

TEST(WeightRows, CheckpointHoldsItAndSaysWhereItIsMissing) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll, Horizon::kAdaptive}) {
    EngineConfig config = with_weight(saved_config(2, 400));
    config.horizon = horizon;
    if (!keeps_window(horizon)) config.sampler.chains = config.sampler.minibatch_size = 0;
    Data data = linear_data(600, 2, 1.0, 3);
    data.weight = normals(4, 600).array().exp();
    const Bytes saved = expect_goes_on_alike(config, data, 450);
    EngineConfig without = config;
    without.model.weight = false;
    Refusal none(without);
    EXPECT_EQ(std::string(none.refuse(saved).sentence),
              "the checkpoint has another model.weight; there it is");
  }
}

// Scores are those of rows, each once.
TEST(WeightRows, ScoresCountEveryRowOnce) {
  EngineConfig config = small_config("linear", 3, 1000);
  config.score_predictions = true;
  ManualClock clock(1'000'000);
  TestEngine engine(with_weight(config), &clock);
  const Data data = weighted_rows("linear", 1'000, 97);
  for (Index i = 0; i < 1'000; i += 10) {
    engine.feed(data, i, i + 10);
    clock.advance_ns(1'000'000);
    engine.poll_until_idle();
  }
  PredictionScores scores;
  ASSERT_TRUE(engine->scores(scores));
  const ScoreMeans& all = scores.means.back();
  EXPECT_GT(all.rows, 900U);
  EXPECT_LE(all.rows, 1'000U);
  EXPECT_NEAR(all.coverage[2], 0.9, 4 * std::sqrt(0.09 / 900));  // binomial: 4 standard errors
}

// A question has no weight: what it has become counts once.
TEST(WeightRows, ALateLabelCountsOnce) {
  for (const bool offset : {false, true}) {
    EngineConfig config = with_weight(labels_test::with_labels(small_config("linear", 3, 400)));
    config.model.offset = offset;
    Data data = weighted_rows("linear", 310, 99);
    if (offset) data.offset = normals(98, 310);
    data.weight.tail(10).setOnes();
    labels_test::Keyed late(config);
    late.stream(data, 0, 300);
    labels_test::Keyed direct(config);
    direct.stream(data, 0, 300);
    for (Index i = 300; i < 310; ++i) {
      late.ask("a", data, i);
      ASSERT_EQ(late.tell("a", data.y[i]).accepted, 1U);
    }
    direct.engine.feed(data, 300, 310);
    late.learn();
    direct.learn();
    EXPECT_EQ(late.engine->learner().head(), 310U);
    const auto found = late.engine.parameters();
    const auto expected = direct.engine.parameters();
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(found[j].mode, expected[j].mode) << j;
      EXPECT_EQ(found[j].sd, expected[j].sd) << j;
    }
  }
}

}  // namespace
}  // namespace windhover::test::weight_test
