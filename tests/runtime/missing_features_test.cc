// Features that a row may lack: NaN in rows and questions, and what it stands for.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "windhover/runtime/missing_features.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::missing_features_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// The first may be missing and has a marker, the third, the second has neither.
constexpr std::array<MissingFeature, 3> kRules = {MissingFeature{.fill = 0.25, .marker = 2},
                                                  MissingFeature{}, MissingFeature{}};

EngineConfig lacking(const char* model) {
  EngineConfig config = small_config(model, 3, 300);
  config.missing_features = kRules;
  return config;
}

// Every fourth row lacks its first feature; `filled`: and says so as an engine would.
Data data_with_gaps(bool filled) {
  Data data = linear_data(500, 3, 0.5, 11);
  for (Index i = 0; i < data.rows(); ++i) {
    const bool lacks = i % 4 == 1;
    data.x(i, 2) = 0;
    if (!lacks) continue;
    data.x(i, 0) = filled ? 0.25 : kNaN;
    if (filled) data.x(i, 2) = 1;
  }
  return data;
}

TEST(MissingFeatures, NaNIsTheFillAndSetsTheMarker) {
  for (const char* model : {"linear", "student-t", "mlp-linear"}) {
    for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll}) {
      if (std::string(model) == "mlp-linear" && horizon == Horizon::kAll) continue;
      EngineConfig config = lacking(model);
      config.horizon = horizon;
      ManualClock clock(1'000'000);
      TestEngine gaps(config, &clock), filled(config, &clock);
      gaps.feed(data_with_gaps(false));
      filled.feed(data_with_gaps(true));
      gaps.poll_rounds(200);
      filled.poll_rounds(200);
      const Gaussian a = gaps.summary(), b = filled.summary();
      EXPECT_EQ(a.mean, b.mean) << model;
      EXPECT_EQ(a.covariance, b.covariance) << model;
      EXPECT_TRUE(a.mean.allFinite());
      EXPECT_EQ(gaps->counters().get(RuntimeCounter::kRowsRefusedNotFinite), 0U);

      const std::array<double, 6> asked = {kNaN, 0.5, 0, 0.5, -1, 0};
      const std::array<double, 6> meant = {0.25, 0.5, 1, 0.5, -1, 0};
      const auto said = gaps.answers(question(2, asked)), same = filled.answers(question(2, meant));
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(said[i].mean, same[i].mean) << model;
        EXPECT_EQ(said[i].interval_upper, same[i].interval_upper) << model;
      }
    }
  }
}

TEST(MissingFeatures, OtherNumbersThatAreNoneAreRefused) {
  TestEngine engine(lacking("linear"));
  const double infinity = std::numeric_limits<double>::infinity();
  const auto observe = [&](std::array<double, 3> x, RefusedRow& why) {
    const double y = 1;
    ObservationBatch batch;
    batch.rows = 1;
    batch.features = reinterpret_cast<const std::byte*>(x.data());
    batch.feature_values = 3;
    batch.targets = reinterpret_cast<const std::byte*>(&y);
    return engine->observe(batch, {&why, 1});
  };
  RefusedRow why;
  std::uint64_t refused = 0;
  for (const std::array<double, 3>& x :
       {std::array{1.0, kNaN, 0.0}, std::array{1.0, 0.0, kNaN}, std::array{infinity, 0.0, 0.0},
        std::array{kNaN, kNaN, 0.0}, std::array{kNaN, 0.0, kNaN}, std::array{kNaN, 1e36, 0.0}}) {
    // A marker is not looked at where it is set.
    const bool taken = std::isnan(x[0]) && x[1] == 0.0;
    EXPECT_EQ(observe(x, why).accepted, taken ? 1U : 0U) << x[0] << ' ' << x[1] << ' ' << x[2];
    if (taken) continue;
    EXPECT_EQ(why.reason, Status::kNotFinite);
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedNotFinite), ++refused);
    PredictiveSummary answer;
    Provenance provenance;
    EXPECT_EQ(engine.reader().predict(question(1, x), {&answer, 1}, provenance),
              std::abs(x[1]) == 1e36 ? Status::kOk : Status::kNotFinite);
  }
  TestEngine none(small_config("linear", 3, 300));
  EXPECT_EQ(none->observe(TestEngine::batch(data_with_gaps(false), 0, 4), {}).refused, 1U);
}

TEST(MissingFeatures, SinglePrecisionHasThemToo) {
  TestEngine engine(lacking("linear"));
  const std::array<float, 6> x = {std::numeric_limits<float>::quiet_NaN(), 0.5F, 0, 1, 1, 0};
  const std::array<float, 2> y = {1, 2};
  ObservationBatch batch;
  batch.rows = 2;
  batch.scalar = Scalar::kFloat32;
  batch.features = reinterpret_cast<const std::byte*>(x.data());
  batch.feature_values = 6;
  batch.targets = reinterpret_cast<const std::byte*>(y.data());
  EXPECT_EQ(engine->observe(batch, {}).accepted, 2U);
}

TEST(MissingFeatures, TheCallersRulesNeedNotLiveOn) {
  std::vector<MissingFeature> rules(kRules.begin(), kRules.end());
  EngineConfig config = lacking("linear");
  config.missing_features = rules;
  TestEngine engine(config);
  rules.assign(3, MissingFeature{});
  EXPECT_EQ(engine->observe(TestEngine::batch(data_with_gaps(false), 0, 4), {}).accepted, 4U);
}

TEST(MissingFeatures, RowsOfKeysAndCheckpointsHaveThem) {
  EngineConfig config = lacking("linear");
  config.labels.pending = 8;
  config.checkpoints = true;
  ManualClock clock(1'000'000);
  TestEngine engine(config, &clock);
  const std::array<double, 3> x = {kNaN, 0.5, 0};
  PredictRequest request = question(1, x);
  const std::array<std::string_view, 1> keys = {"a"};
  request.keys = keys;
  PredictiveSummary answer;
  Provenance provenance;
  ASSERT_EQ(engine.reader().predict(request, {&answer, 1}, provenance), Status::kOk);
  const std::array<double, 1> y = {2};
  EXPECT_EQ(engine->labels().observe({keys, y}, {}).accepted, 1U);
  engine.feed(data_with_gaps(false));
  engine.poll_rounds(50);
  const Bytes bytes = bytes_of(*engine);
  TestEngine again(config, &clock);
  ASSERT_EQ(restore_error(*again, bytes).status, Status::kOk);
  EXPECT_EQ(again->observe(TestEngine::batch(data_with_gaps(false), 0, 4), {}).accepted, 4U);
}

TEST(MissingFeatures, RulesThatCannotBeAreRefused) {
  const auto refusal = [](std::vector<MissingFeature> rules, std::uint32_t max_nonzeros = 0) {
    EngineConfig config = small_config("linear", 3, 300);
    config.model.max_nonzeros = max_nonzeros;
    config.missing_features = rules;
    const auto checked = check(config);
    return checked.ok() ? std::string() : std::string(checked.error().sentence);
  };
  const MissingFeature there, lacks{.fill = 0};
  EXPECT_EQ(refusal({lacks, there, {.fill = 1, .marker = 1}}), "");
  EXPECT_NE(refusal({lacks, there}).find("one for each"), std::string::npos);
  EXPECT_NE(refusal({lacks, there, there}, 2).find("sparse"), std::string::npos);
  EXPECT_NE(refusal({{.fill = 1e36}, there, there}).find("too large"), std::string::npos);
  for (const std::uint32_t marker : {0U, 2U, 3U}) {
    EXPECT_NE(refusal({{.fill = 0, .marker = marker}, there, lacks}).find("marker"),
              std::string::npos)
        << marker;
  }
}

}  // namespace
}  // namespace windhover::test::missing_features_test
