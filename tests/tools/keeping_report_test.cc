#include "windhover/tools/daemon/keeping_report.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "windhover/tests/tools/recorded_log.h"

namespace windhover::keeping_report_test {

using testing::kSecond;
using testing::RecordedLog;
using Lines = std::vector<std::string>;

TEST(KeepingReport, SaysWhatFailsWithTheSystemsWords) {
  LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("keeping.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  report.look(0);
  EXPECT_EQ(recorded.lines(), Lines{});
  log.failures = 2;
  log.status.store(Status::kIoError);
  log.error_number = ENOSPC;
  log.durable_head = 77;
  report.look(kSecond);
  report.look(2 * kSecond);
  const std::string io_error = to_string(Status::kIoError);
  EXPECT_EQ(recorded.lines(),
            Lines{"error log_commit_failed model=price failures=2 status=" + io_error +
                  " error=\"No space left on device\" durable_rows=77"});
  log.status.store(Status::kOk);
  log.durable_head = 99;
  report.look(3 * kSecond);
  report.look(4 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"info log_commits_again model=price durable_rows=99"});
  log.seal_failures = 3;
  log.seal_error_number = EROFS;
  report.look(60 * kSecond);
  report.look(61 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"warning log_end_not_marked model=price failures=3 "
                                    "error=\"Read-only file system\" durable_rows=99"});
  checkpoints.failures = 1;
  checkpoints.status.store(Status::kIoError);
  checkpoints.error_number = EIO;
  report.look(62 * kSecond);
  checkpoints.taken = 1;
  checkpoints.head = 99;
  checkpoints.lasted_ns = 12'345'678;
  report.look(63 * kSecond);
  EXPECT_EQ(recorded.lines(), (Lines{"error checkpoint_failed model=price failures=1 status=" +
                                         io_error + " error=\"Input/output error\" newest_rows=0",
                                     "info checkpoint_taken model=price taken=1 rows=99 ms=12"}));
}

TEST(KeepingReport, SaysOnceThatTheLogIsFullAndOnceThatItIsNotAnyMore) {
  LogProgress log;
  const CheckpointProgress checkpoints;
  RecordedLog recorded("full.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  log.full = true;
  log.used_bytes = 4096;
  log.durable_head = 7;
  report.look(kSecond);
  report.look(2 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"error log_full model=price used_bytes=4096 durable_rows=7"});
  log.full = false;
  log.used_bytes = 0;
  report.look(3 * kSecond);
  report.look(4 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"info log_has_room model=price used_bytes=0 durable_rows=7"});
}

TEST(KeepingReport, CheckpointsThatFailedBeforeOneWasTakenAreNotToldAsOk) {
  const LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("mended.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  checkpoints.failures = 2;
  checkpoints.taken = 1;
  checkpoints.head = 99;
  checkpoints.lasted_ns = 12'345'678;
  report.look(kSecond);
  EXPECT_EQ(recorded.lines(),
            (Lines{"error checkpoint_failed model=price failures=2 newest_rows=99",
                   "info checkpoint_taken model=price taken=1 rows=99 ms=12"}));
}

// All that can fail does, all the time: no more lines than of another kind, and each has its turn.
TEST(KeepingReport, DoesNotRepeatItselfWhileADiskFails) {
  LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("failing.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  log.status.store(Status::kIoError);
  std::map<std::string, int> told;
  std::uint64_t failures = 0;
  for (int second = 0; second < 600; ++second) {
    log.failures += 100;
    log.seal_failures += 1;
    checkpoints.failures += 1;
    report.look(second * kSecond);
    for (const std::string& line : recorded.lines()) {
      ++told[line.substr(0, line.find(" model="))];
      if (!line.starts_with("error log_commit_failed")) continue;
      failures += std::stoull(line.substr(line.find("failures=") + 9));
    }
  }
  EXPECT_EQ(told.size(), 3U);
  int lines = 0;
  for (const auto& [event, count] : told) {
    lines += count;
    EXPECT_GE(count, 20) << event;
  }
  EXPECT_EQ(lines, 3 + 59);
  EXPECT_LE(log.failures - failures, 100U * 30) << "each line has what came since the one before";
}

// One that works and fails by turns tells of that no more often.
TEST(KeepingReport, DoesNotRepeatItselfWhileADiskComesAndGoes) {
  LogProgress log;
  const CheckpointProgress checkpoints;
  RecordedLog recorded("wavering.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  std::size_t lines = 0;
  for (int second = 0; second < 600; ++second) {
    const bool bad = second % 2 == 0;
    log.failures += bad ? 1 : 0;
    log.status.store(bad ? Status::kIoError : Status::kOk);
    report.look(second * kSecond);
    lines += recorded.lines().size();
  }
  EXPECT_LE(lines, 3U + 59U);
  report.look(620 * kSecond);
  report.look(640 * kSecond);
  const Lines last = recorded.lines();
  ASSERT_FALSE(last.empty());
  EXPECT_TRUE(last.back().starts_with("info log_commits_again")) << last.back();
}

// Many checkpoints leave the disk's errors their lines.
TEST(KeepingReport, CheckpointsTakenTakeNoLineFromWhatFails) {
  LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("many_taken.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  for (int second = 0; second < 5; ++second) {
    checkpoints.taken += 1;
    report.look(second * kSecond);
  }
  EXPECT_EQ(recorded.lines().size(), 3U);
  log.failures = 1;
  log.status.store(Status::kIoError);
  report.look(5 * kSecond);
  const Lines failed = recorded.lines();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_TRUE(failed[0].starts_with("error log_commit_failed model=price failures=1 "))
      << failed[0];
  report.look(14 * kSecond);
  const Lines taken = recorded.lines();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_TRUE(taken[0].starts_with("info checkpoint_taken model=price taken=2 ")) << taken[0];
}

TEST(KeepingReport, TheEndTellsWhatWaits) {
  LogProgress log;
  CheckpointProgress checkpoints;
  RecordedLog recorded("ended.log");
  KeepingReport report("price", log, checkpoints, recorded.log());
  for (int second = 0; second < 10; ++second) {
    log.failures += 1;
    log.status.store(Status::kIoError);
    checkpoints.failures += 1;
    checkpoints.taken += 1;
    report.look(second * kSecond);
  }
  log.status.store(Status::kOk);
  recorded.lines();
  report.finish();
  std::map<std::string, std::string> told;
  std::vector<std::string> order;
  for (const std::string& line : recorded.lines()) {
    order.push_back(line.substr(0, line.find(" model=")));
    told[order.back()] = line;
  }
  EXPECT_EQ(order, (Lines{"error log_commit_failed", "info log_commits_again",
                          "error checkpoint_failed", "info checkpoint_taken"}));
  EXPECT_NE(told["error log_commit_failed"].find(" failures=8 "), std::string::npos)
      << told["error log_commit_failed"];
  EXPECT_NE(told["error checkpoint_failed"].find(" failures=9 "), std::string::npos)
      << told["error checkpoint_failed"];
  EXPECT_NE(told["info checkpoint_taken"].find(" taken=7 "), std::string::npos)
      << told["info checkpoint_taken"];
  report.finish();
  EXPECT_EQ(recorded.lines(), Lines{}) << "nothing waits any more";
}

}  // namespace windhover::keeping_report_test
