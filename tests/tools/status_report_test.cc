#include "windhover/tools/daemon/status_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "windhover/tests/tools/recorded_log.h"

namespace windhover::status_report_test {

using testing::kSecond;
using testing::RecordedLog;
using Lines = std::vector<std::string>;

TEST(StatusReport, SaysEveryChangeWithItsReasonAndTheNumberBehindIt) {
  RecordedLog recorded("status.log");
  StatusReport report("default", recorded.log());
  const Provenance warming =
      testing::provenance_with(PosteriorStatus::kWarmingUp, StatusReason::kFewDraws);
  const Provenance good = testing::provenance_with(PosteriorStatus::kOk, StatusReason::kNone);
  report.look(warming, kSecond);
  EXPECT_EQ(recorded.lines(), Lines{});
  report.look(good, 2 * kSecond);
  report.look(good, 3 * kSecond);
  Provenance drifting = testing::provenance_with(PosteriorStatus::kDrifting, StatusReason::kDrift);
  drifting.drift_onset = 700;
  report.look(drifting, 4 * kSecond);
  EXPECT_EQ(recorded.lines(),
            (Lines{"info status_changed model=default from=warming_up to=ok reason=none rows=1000 "
                   "posterior_rows=500 draws=64",
                   "warning status_changed model=default from=ok to=drifting reason=drift "
                   "drift_score=5.5 drift_onset=700 rows=1000 posterior_rows=500 draws=64"}));
}

TEST(StatusReport, ComesToTheLastStateThoughItChangesAllTheTime) {
  RecordedLog recorded("flapping.log");
  StatusReport report("default", recorded.log());
  for (int second = 0; second < 61; ++second) {
    report.look(
        second % 2 == 0
            ? testing::provenance_with(PosteriorStatus::kOk, StatusReason::kNone)
            : testing::provenance_with(PosteriorStatus::kDegraded, StatusReason::kReplayRatio),
        second * kSecond);
  }
  EXPECT_LT(recorded.lines().size(), 20U);
  Lines last;
  for (int second = 61; second < 80; ++second) {
    report.look(testing::provenance_with(PosteriorStatus::kDegraded, StatusReason::kMisfit),
                second * kSecond);
    for (const std::string& line : recorded.lines()) last.push_back(line);
  }
  ASSERT_EQ(last.size(), 1U);
  EXPECT_TRUE(says(last[0], "to=degraded reason=misfit misspecification_index=0 "));
}

TEST(StatusReport, TellsHowFarARecoveryIs) {
  RecordedLog recorded("recovery.log");
  StatusReport report("default", recorded.log());
  Provenance provenance =
      testing::provenance_with(PosteriorStatus::kRecovering, StatusReason::kReplay);
  provenance.recovery_target = 900;
  for (int second = 0; second <= 11; ++second) {
    provenance.sequence = static_cast<std::uint64_t>(second) * 80;
    report.look(provenance, second * kSecond);
  }
  Provenance done = testing::provenance_with(PosteriorStatus::kWarmingUp, StatusReason::kFewDraws);
  done.sequence = 901;
  report.look(done, 12 * kSecond);
  report.look(done, 13 * kSecond);
  const Lines lines = recorded.lines();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "info recovering model=default rows=0 of=900");
  EXPECT_TRUE(says(lines[1], "from=warming_up to=recovering reason=replay recovery_target=900"));
  EXPECT_EQ(lines[2], "info recovering model=default rows=800 of=900");
  EXPECT_EQ(lines[3], "info recovered model=default rows=901");
  EXPECT_TRUE(says(lines[4], "from=recovering to=warming_up"));
}

// No reason is told without its number where runtime/README.md names one, and the longest line
// fits.
TEST(StatusReport, HasRoomForEveryReason) {
  RecordedLog recorded("reasons.log");
  for (int reason = 0; reason <= 14; ++reason) {
    Provenance p =
        testing::provenance_with(PosteriorStatus::kRecovering, static_cast<StatusReason>(reason));
    p.n_seen = p.n_eff = p.drift_onset = std::numeric_limits<std::uint64_t>::max();
    p.draws = std::numeric_limits<std::uint32_t>::max();
    p.drift_score = p.score_autocorrelation = p.ou_ratio = p.law_ratio = p.ess_bulk =
        p.prior_conflict = p.misspecification_index = p.draws_per_observation = -1.23456e-100;
    StatusReport report("a_model_of_some_length", recorded.log());
    report.look(p, 0);
  }
  const Lines lines = recorded.lines();
  ASSERT_EQ(lines.size(), 15U);
  for (const std::string& line : lines)
    EXPECT_EQ(line.find("truncated"), std::string::npos) << line;
}

}  // namespace windhover::status_report_test
