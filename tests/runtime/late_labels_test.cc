// The part of an engine that is asked with keys and told what happened: its edges, and what it
// counts.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::late_labels_test {
namespace {

using labels_test::config_of;
using labels_test::Keyed;
using labels_test::kSecond;
using labels_test::with_labels;

// A question that another engine answers, about rows of which some have a key.
struct Elsewhere {
  explicit Elsewhere(std::vector<std::string_view> with_keys)
      : keys(std::move(with_keys)), x(3 * keys.size(), 0.5), summaries(keys.size()) {
    request = question(keys.size(), x);
    request.keys = keys;
  }
  std::vector<PendingKey> became() const {
    std::vector<PendingKey> out;
    for (const PredictiveSummary& summary : summaries) out.push_back(summary.pending);
    return out;
  }

  std::vector<std::string_view> keys;
  std::vector<double> x;
  PredictRequest request;
  std::vector<PredictiveSummary> summaries;
};

// Every key that was kept is waited for, joined, timed out or replaced.
class LateLabelsTest : public testing::Test {
 protected:
  explicit LateLabelsTest(const EngineConfig& config = with_labels(config_of("linear"), 4))
      : served_(config), labels_(served_.engine->labels()) {}
  ~LateLabelsTest() override {
    using enum RuntimeCounter;
    EXPECT_EQ(served_.count(kLabelsKept), labels_.pending() + served_.count(kLabelsJoined) +
                                              served_.count(kLabelsTimedOut) +
                                              served_.count(kLabelsReplaced));
    EXPECT_EQ(served_.count(kRowsAccepted), served_.engine->head());
  }
  std::uint64_t count(RuntimeCounter counter) { return served_.count(counter); }
  void keep(Elsewhere& asked, std::size_t first, std::size_t rows) {
    ASSERT_EQ(labels_.may_keep(asked.request), Status::kOk);
    labels_.keep(asked.request, first, rows, asked.summaries);
  }

  Keyed served_;
  LateLabels& labels_;
};

TEST(PendingKeys, HaveNames) {
  EXPECT_STREQ(to_string(PendingKey::kNone), "none");
  EXPECT_STREQ(to_string(PendingKey::kKept), "kept");
  EXPECT_STREQ(to_string(PendingKey::kReplaced), "replaced");
  EXPECT_STREQ(to_string(PendingKey::kTableFull), "table_full");
  EXPECT_STREQ(to_string(static_cast<PendingKey>(9)), "unknown");
}

TEST_F(LateLabelsTest, RowsAreKeptThatHaveAKeyAndOfThoseAsManyAsAreSaid) {
  Elsewhere asked({"a", "", "c", "d"});
  keep(asked, 1, 2);
  EXPECT_EQ(asked.became(), (std::vector{PendingKey::kNone, PendingKey::kNone, PendingKey::kKept,
                                         PendingKey::kNone}));
  EXPECT_EQ(labels_.pending(), 1u);
  keep(asked, 3, 0);
  EXPECT_EQ(labels_.pending(), 1u);
  keep(asked, 0, 4);
  EXPECT_EQ(asked.became(), (std::vector{PendingKey::kKept, PendingKey::kNone,
                                         PendingKey::kReplaced, PendingKey::kKept}));
  EXPECT_EQ(labels_.pending(), 3u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsKept), 4u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsReplaced), 1u);
}

TEST_F(LateLabelsTest, AFullTableSaysSoAndKeepsThoseThatItHas) {
  Elsewhere asked({"a", "b", "c", "d", "e"});
  keep(asked, 0, 5);
  EXPECT_EQ(asked.summaries[3].pending, PendingKey::kKept);
  EXPECT_EQ(asked.summaries[4].pending, PendingKey::kTableFull);
  EXPECT_EQ(labels_.pending(), 4u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsTableFull), 1u);
  EXPECT_EQ(served_.tell("e", 1).refused, 1u);
  EXPECT_EQ(served_.refused.reason, Status::kUnknownKey);
  EXPECT_EQ(served_.tell("a", 1).accepted, 1u);
  keep(asked, 4, 1);
  EXPECT_EQ(asked.summaries[4].pending, PendingKey::kKept) << "there is a place again";
}

TEST_F(LateLabelsTest, AQuestionWithoutKeysKeepsNothing) {
  Elsewhere asked({"a", "b"});
  asked.request.keys = {};
  keep(asked, 0, 2);
  EXPECT_EQ(labels_.pending(), 0u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsKept), 0u);
}

TEST_F(LateLabelsTest, ARowThatMayNotBeKeptIsARefusedQuestion) {
  Elsewhere asked({"a"});
  asked.x[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(labels_.may_keep(asked.request), Status::kNotFinite);
  const std::string longer(kMaxKeyBytes + 1, 'k');
  asked.x[1] = 0;
  asked.keys[0] = longer;
  EXPECT_EQ(labels_.may_keep(asked.request), Status::kInvalidArgument);
  EXPECT_EQ(count(RuntimeCounter::kPredictionsRefused), 2u);
  asked.keys[0] = std::string_view(longer).substr(1);
  EXPECT_EQ(labels_.may_keep(asked.request), Status::kOk);
  EXPECT_EQ(count(RuntimeCounter::kPredictionsRefused), 2u);
}

TEST_F(LateLabelsTest, KeysAndOutcomesAreAsManyOrNothingHappens) {
  Elsewhere asked({"a", "b"});
  keep(asked, 0, 2);
  const std::vector<double> outcomes = {1, 2, 3};
  EXPECT_EQ(labels_.observe({asked.keys, outcomes}, {}).status, Status::kMalformed);
  EXPECT_EQ(labels_.pending(), 2u);
  EXPECT_EQ(count(RuntimeCounter::kBatchesRefused), 1u);
  const ObserveResult none = labels_.observe({}, {});
  EXPECT_EQ(none.status, Status::kOk);
  EXPECT_EQ(none.accepted + none.refused + none.duplicate, 0u);
}

TEST_F(LateLabelsTest, EachOutcomeIsOneThingAndRefusalsAreListedAsFarAsThereIsRoom) {
  Elsewhere asked({"a", "b"});
  keep(asked, 0, 2);
  const std::vector<std::string_view> keys = {"x", "a", "y", "a", "b"};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> outcomes = {1, 1, 1, 1, nan};
  std::vector<RefusedRow> refused(2);
  const ObserveResult result = labels_.observe({keys, outcomes}, refused);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.accepted, 1u);
  EXPECT_EQ(result.duplicate, 1u);
  EXPECT_EQ(result.refused, 3u);
  EXPECT_EQ(refused[0].row, 0u);
  EXPECT_EQ(refused[1].row, 2u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsUnknown), 2u);
  EXPECT_EQ(count(RuntimeCounter::kLabelsDuplicate), 1u);
  EXPECT_EQ(labels_.pending(), 1u) << "the one whose outcome was no number";
}

TEST_F(LateLabelsTest, AKeyIsSettledNotBeforeItsTimeAndNoMoreThanIsSaid) {
  Elsewhere asked({"a", "b", "c"});
  keep(asked, 0, 3);
  served_.clock.advance_ns(60 * kSecond - 1);
  EXPECT_EQ(labels_.settle(10).timed_out, 0u);
  served_.clock.advance_ns(1);
  EXPECT_EQ(labels_.settle(0).timed_out, 0u);
  EXPECT_EQ(labels_.pending(), 3u);
  EXPECT_EQ(labels_.settle(2).timed_out, 2u);
  EXPECT_EQ(labels_.pending(), 1u);
  EXPECT_EQ(labels_.settle(2).timed_out, 1u);
  EXPECT_EQ(labels_.settle(2).timed_out, 0u);
  EXPECT_EQ(served_.engine->head(), 0u) << "nobody knows what happened";
  EXPECT_EQ(count(RuntimeCounter::kLabelsTimedOut), 3u);
  EXPECT_EQ(served_.tell("a", 1).refused, 1u);
  EXPECT_EQ(served_.refused.reason, Status::kKeyTimedOut);
}

class SilenceIsAnOutcome : public LateLabelsTest {
 protected:
  static EngineConfig config() {
    EngineConfig config = with_labels(config_of("linear"), 4);
    config.labels.timeout_outcome = 0;
    return config;
  }
  SilenceIsAnOutcome() : LateLabelsTest(config()) {}
};

TEST_F(SilenceIsAnOutcome, RowsOfWhoIsNotHeardOfAreRowsOfTheStream) {
  Elsewhere asked({"a", "b", "c"});
  keep(asked, 0, 3);
  EXPECT_EQ(served_.tell("b", 1).accepted, 1u);
  served_.clock.advance_ns(60 * kSecond);
  const ObserveResult result = labels_.settle(10);
  EXPECT_EQ(result.timed_out, 2u);
  EXPECT_EQ(result.accepted, 2u);
  EXPECT_EQ(served_.engine->head(), 3u);
  EXPECT_EQ(labels_.pending(), 0u);
  EXPECT_EQ(labels_.settle(10).accepted, 0u);
}

class WithoutKeys : public LateLabelsTest {
 protected:
  WithoutKeys() : LateLabelsTest(config_of("linear")) {}
};

TEST_F(WithoutKeys, NoneAreKeptWaitedForOrTold) {
  Elsewhere asked({"a"});
  EXPECT_EQ(labels_.may_keep(asked.request), Status::kKeyNotTaken);
  asked.request.keys = {};
  EXPECT_EQ(labels_.may_keep(asked.request), Status::kOk);
  labels_.keep(asked.request, 0, 1, asked.summaries);
  EXPECT_EQ(labels_.pending(), 0u);
  EXPECT_EQ(labels_.settle(10).timed_out, 0u);
  EXPECT_EQ(served_.tell("a", 1).status, Status::kKeyNotTaken);
  EXPECT_EQ(count(RuntimeCounter::kBatchesRefused), 1u);
  EXPECT_EQ(count(RuntimeCounter::kPredictionsRefused), 1u);
}

}  // namespace
}  // namespace windhover::test::late_labels_test
