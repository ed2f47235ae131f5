// Which questions a model can answer.
#include "windhover/runtime/prediction/request_check.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::request_check_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two rows of two features.
struct Question {
  Question() {
    request.rows = 2;
    request.features = x;
  }
  std::array<double, 4> x = {1, 2, 3, 4};
  std::array<double, 2> numbers = {0.25, 0.5};
  std::array<std::string_view, 2> keys = {"a", "b"};
  PredictRequest request;
};

Status judged(const EngineConfig& config, const std::function<void(Question&)>& change) {
  Question q;
  change(q);
  return RequestCheck(with_defaults(config)).check(q.request);
}

TEST(RequestCheck, TakesWhatIsWellFormedAndNamesWhatIsNot) {
  const EngineConfig config = small_config("linear", 2, 100);
  const auto status = [&](auto&& change) { return judged(config, change); };
  EXPECT_EQ(status([](Question&) {}), Status::kOk);
  EXPECT_EQ(status([](Question& q) { q.request.rows = 0; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](Question& q) { q.request.rows = 1; }), Status::kWrongDimension);
  EXPECT_EQ(status([](Question& q) { q.x[3] = kNan; }), Status::kNotFinite);
  EXPECT_EQ(status([](Question& q) { q.request.offsets = q.numbers; }), Status::kOffsetNotTaken);
  EXPECT_EQ(status([](Question& q) { q.request.trials = q.numbers; }), Status::kTrialsNotTaken);
  EXPECT_EQ(status([](Question& q) { q.request.keys = q.keys; }), Status::kKeyNotTaken);
  EXPECT_EQ(status([](Question& q) { q.request.interval_probability = 1; }),
            Status::kInvalidArgument);
  EXPECT_EQ(status([](Question& q) {
              q.numbers[0] = 0;
              q.request.quantile_probabilities = q.numbers;
            }),
            Status::kInvalidArgument);
  EXPECT_EQ(status([](Question& q) {
              q.request.outcomes = {q.numbers.data(), 1};
            }),
            Status::kInvalidArgument);
}

TEST(RequestCheck, AsksOfAClassNumberNothingThatHasNoMeaning) {
  EngineConfig config = small_config("softmax", 2, 100);
  config.model.classes = 3;
  const auto status = [&](auto&& change) { return judged(config, change); };
  EXPECT_EQ(status([](Question&) {}), Status::kOk);
  EXPECT_EQ(status([](Question& q) { q.request.thresholds = q.numbers; }), Status::kUnsupported);
  EXPECT_EQ(status([](Question& q) { q.request.quantile_probabilities = q.numbers; }),
            Status::kUnsupported);
  EXPECT_EQ(status([](Question& q) { q.request.thompson_id = 1; }), Status::kUnsupported);
  EXPECT_EQ(status([](Question& q) {
              q.numbers = {0, 3};
              q.request.outcomes = q.numbers;
            }),
            Status::kTargetOutOfDomain);
}

// However many they are: another engine answers.
TEST(RequestCheck, OfRowsThatAreToBeKeptLooksAtNoMoreThanTheRows) {
  EngineConfig config = small_config("linear", 2, 100);
  config.max_query_rows = 1;
  config.labels.pending = 8;
  const RequestCheck check(with_defaults(config));
  Question q;
  q.request.keys = q.keys;
  q.request.interval_probability = 7;
  EXPECT_EQ(check.check(q.request), Status::kTooLarge);
  EXPECT_EQ(check.check_rows(q.request), Status::kOk);
  // No row of the stream may have this; a question without keys may.
  q.x[0] = 1e40;
  EXPECT_EQ(check.check_rows(q.request), Status::kNotFinite);
  q.request.keys = {};
  EXPECT_EQ(check.check_rows(q.request), Status::kOk);
  q.x[0] = 1e101;
  EXPECT_EQ(check.check_rows(q.request), Status::kNotFinite);
  q.x[0] = 1;
  const std::string longest(kMaxKeyBytes, 'k');
  q.request.keys = q.keys;
  q.keys[1] = longest;
  EXPECT_EQ(check.check_rows(q.request), Status::kOk);
  const std::string longer(kMaxKeyBytes + 1, 'k');
  q.keys[1] = longer;
  EXPECT_EQ(check.check_rows(q.request), Status::kInvalidArgument);
}

TEST(RequestCheck, LetsRowsLackWhatTheyMayLackAndNothingElse) {
  EngineConfig config = small_config("linear", 2, 100);
  std::array<MissingFeature, 2> missing;
  missing[1].fill = 0;
  config.missing_features = missing;
  const auto status = [&](auto&& change) { return judged(config, change); };
  EXPECT_EQ(status([](Question& q) { q.x[1] = q.x[3] = kNan; }), Status::kOk);
  EXPECT_EQ(status([](Question& q) { q.x[2] = kNan; }), Status::kNotFinite);
  EXPECT_EQ(status([](Question& q) { q.x[1] = std::numeric_limits<double>::infinity(); }),
            Status::kNotFinite);
}

}  // namespace
}  // namespace windhover::test::request_check_test
