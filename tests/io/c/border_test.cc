// What the library for C checks before it writes, and whose sentence an error is.
#include "windhover/io/c/border.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "windhover/io/c/client_handle.h"

namespace windhover {
namespace {

struct Asked {
  Asked() {
    windhover_question_init(&question, sizeof question);
    windhover_answer_init(&answer, sizeof answer);
    question.quantiles = question.thresholds = numbers.data();
    answer.probabilities = numbers.data();
  }
  windhover_status check(std::size_t classes) const {
    return check_question(&question, &answer, classes);
  }

  std::array<double, 100> numbers{};
  windhover_question question;
  windhover_answer answer;
};

TEST(CheckQuestion, AsksForNoMoreThanASummaryHolds) {
  Asked asked;
  asked.answer.probabilities = nullptr;
  asked.question.quantile_count = WINDHOVER_MAX_QUANTILES;
  asked.question.threshold_count = WINDHOVER_MAX_THRESHOLDS;
  EXPECT_EQ(asked.check(0), WINDHOVER_OK);
  asked.question.quantile_count = WINDHOVER_MAX_QUANTILES + 1;
  EXPECT_EQ(asked.check(0), WINDHOVER_TOO_LARGE);
  asked.question.quantile_count = 0;
  asked.question.threshold_count = WINDHOVER_MAX_THRESHOLDS + 1;
  EXPECT_EQ(asked.check(0), WINDHOVER_TOO_LARGE);
}

// A server says in its Welcome how many classes its model has: that may be any number.
TEST(CheckQuestion, HasNoMoreClassesThanASummary) {
  Asked asked;
  asked.answer.classes = kMaxClasses;
  EXPECT_EQ(asked.check(kMaxClasses), WINDHOVER_OK);
  EXPECT_EQ(asked.check(kMaxClasses - 1), WINDHOVER_WRONG_DIMENSION);
  EXPECT_EQ(asked.check(0), WINDHOVER_WRONG_DIMENSION);
  asked.answer.classes = kMaxClasses + 1;
  EXPECT_EQ(asked.check(kMaxClasses + 1), WINDHOVER_UNSUPPORTED);
  asked.answer.probabilities = nullptr;
  EXPECT_EQ(asked.check(kMaxClasses + 1), WINDHOVER_OK) << "nothing of them is written";
}

TEST(RequestOf, ReadsNothingPastTheStructOfAnOlderCaller) {
  Asked asked;
  asked.question.posterior_spread = 1;
  EXPECT_TRUE(request_of(asked.question).posterior_spread);
  asked.question.struct_size = offsetof(windhover_question, posterior_spread);
  EXPECT_FALSE(request_of(asked.question).posterior_spread);
}

// Reconnecting fails inside a few times before it succeeds, and each time the client's own sentence
// is another one.
TEST(ClientOfC, ErrorStaysWhatTheLastCallThatFailedSaid) {
  windhover_client client;
  EXPECT_STREQ(client.error.data(), "");
  EXPECT_NE(guarded(&client, [&] { return client.client.connect("the first address", {}); }),
            WINDHOVER_OK);
  const std::string said = client.error.data();
  EXPECT_NE(said.find("the first address"), std::string::npos) << said;
  EXPECT_EQ(guarded(&client,
                    [&] {
                      (void)client.client.connect("another address, which is longer", {});
                      return Status::kOk;
                    }),
            WINDHOVER_OK);
  EXPECT_EQ(client.error.data(), said);
  EXPECT_EQ(fail(&client, WINDHOVER_CLOSED, std::string(5000, 'a')), WINDHOVER_CLOSED);
  EXPECT_EQ(client.error.data(), std::string(client.error.size() - 1, 'a'));
  EXPECT_EQ(fail(&client, WINDHOVER_CLOSED, "short"), WINDHOVER_CLOSED);
  EXPECT_STREQ(client.error.data(), "short");
}

}  // namespace
}  // namespace windhover
