#include "windhover/tools/client/prequential.h"

#include <gtest/gtest.h>

#include <cmath>

namespace windhover {
namespace {

TEST(Prequential, KeepsTheMeansOfItsScores) {
  Prequential score(1e9);
  score.add(0.8, true);
  score.add(0.25, false);
  EXPECT_EQ(score.count(), 2U);
  EXPECT_NEAR(score.log_score(), (std::log(0.8) + std::log(0.75)) / 2, 1e-12);
  EXPECT_NEAR(score.base_log_score(), std::log(0.5), 1e-12) << "nothing observed yet";
  EXPECT_NEAR(score.brier(), (0.04 + 0.0625) / 2, 1e-12);
  EXPECT_NEAR(score.calibration_error(), (0.2 + 0.25) / 2, 1e-12);
}

TEST(Prequential, BaseRateFollowsTheOutcomesSoFar) {
  Prequential score(1e9);
  for (int i = 0; i < 99; ++i) score.observe(i < 33);
  score.add(0.5, true);
  EXPECT_NEAR(score.base_log_score(), std::log(33.5 / 100), 1e-6);
}

TEST(Prequential, BaseRateForgetsWhatIsOlderThanItsMemory) {
  Prequential score(10);
  for (int i = 0; i < 1000; ++i) score.observe(false);
  for (int i = 0; i < 200; ++i) score.observe(true);
  score.add(0.5, true);
  EXPECT_GT(score.base_log_score(), std::log(0.9));
}

TEST(Prequential, SurvivesCertaintyThatFails) {
  Prequential score(100);
  score.add(1.0, false);
  score.add(0.0, true);
  EXPECT_TRUE(std::isfinite(score.log_score()));
  EXPECT_EQ(score.to_json()["bins"][9]["count"], 1U);
  EXPECT_EQ(score.to_json()["bins"][0]["count"], 1U);
}

}  // namespace
}  // namespace windhover
