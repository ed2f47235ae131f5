#include "windhover/tools/client/answers.h"

#include <gtest/gtest.h>

#include <limits>

#include "windhover/tests/tools/support.h"

namespace windhover {
namespace {

TEST(Answers, ClassesHaveTheNamesOfTheSchema) {
  PredictiveSummary summary;
  summary.classes = 3;
  summary.probs = {0.2, 0.7, 0.1};
  const PredictRequest request;
  const AnswerForm numbers{request, v1::MODEL_KIND_SOFTMAX};
  EXPECT_TRUE(says(describe(summary, numbers), "class 1; probabilities"));
  EXPECT_FALSE(to_json(summary, numbers).contains("class_names"));
  const AnswerForm names{request, v1::MODEL_KIND_SOFTMAX, {"bus", "car", "van"}};
  EXPECT_TRUE(says(describe(summary, names), "class car; probabilities"));
  EXPECT_TRUE(says(describe(summary, names), "  van: 10.0 %"));
  EXPECT_EQ(to_json(summary, names)["class_names"][1], "car");
  EXPECT_EQ(to_json(summary, names)["probs"][1], 0.7);
}

TEST(Answers, AClassWithACommaIsOneOfAConformalSet) {
  PredictiveSummary summary;
  summary.classes = 3;
  summary.probs = {0.2, 0.7, 0.1};
  summary.conformal_set = 0b11;
  const PredictRequest request;
  const AnswerForm form{request, v1::MODEL_KIND_SOFTMAX, {"closed, no answer", "open", "won"}};
  EXPECT_TRUE(says(describe(summary, form), "whatever the model: \"closed, no answer\", open"));
}

TEST(Answers, ProbabilityIsOfThePositiveClass) {
  PredictiveSummary summary;
  summary.epred_mean = 0.25;
  const PredictRequest request;
  const AnswerForm numbers{request, v1::MODEL_KIND_LOGISTIC};
  EXPECT_TRUE(says(describe(summary, numbers), "probability 25.0 %"));
  const AnswerForm names{request, v1::MODEL_KIND_LOGISTIC, {"no", "yes"}};
  EXPECT_TRUE(says(describe(summary, names), "probability of yes 25.0 %"));
  EXPECT_EQ(to_json(summary, names)["positive"], "yes");
  EXPECT_EQ(to_json(summary, names)["epred_mean"], 0.25);
}

TEST(Answers, SayHowFarARecoveryHasCome) {
  Provenance p;
  p.status = PosteriorStatus::kRecovering;
  p.reason = StatusReason::kReplay;
  p.sequence = 120;
  p.recovery_target = 500;
  EXPECT_TRUE(says(describe(p), "recovering (120 of 500 rows from before a restart are in)"));
  EXPECT_EQ(to_json(p)["status"], "recovering");
  EXPECT_EQ(to_json(p)["status_reason"], "replay");
  EXPECT_EQ(to_json(p)["recovery_target"], 500);
}

TEST(Answers, SayNothingOfChainsThatHaveNotBeenCompared) {
  Provenance p;
  EXPECT_FALSE(says(describe(p), "r_hat"));
  p.r_hat = 1.05;
  EXPECT_TRUE(says(describe(p), "r_hat 1.050), ")) << "a server from before its bound";
  p.r_hat_chance = 1.25;
  EXPECT_TRUE(says(describe(p), "r_hat 1.050, chance makes up to 1.250), "));
  EXPECT_EQ(to_json(p)["r_hat_chance"], 1.25);
  EXPECT_EQ(to_json(p)["robust_spread"], false);
  p.r_hat_chance = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(says(describe(p), "r_hat 1.050: too few draws to compare), "));
}

}  // namespace
}  // namespace windhover
