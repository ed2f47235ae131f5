#include "windhover/io/durable/recovery_report.h"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "windhover/io/durable/segments.h"

namespace windhover::recovery_report_test {
namespace {

TEST(RecoveryReport, ErrorNamesTheFolderAndSaysWhatTheSystemSaid) {
  RecoveryReport report("/data/sales");
  const Error error = report.fail({Status::kIoError, "it cannot be read", EIO, true}, "the log");
  EXPECT_EQ(error.status, Status::kIoError);
  EXPECT_EQ(std::string(error.sentence).find("/data/sales: the log: it cannot be read"), 0U)
      << error.sentence;
  EXPECT_EQ(error.number, EIO);
  EXPECT_TRUE(error.is_errno);
}

TEST(RecoveryReport, WhatTheSystemDidNotRefuseIsRefused) {
  RecoveryReport report("/data/sales");
  const Error error = report.fail({}, "another one uses it");
  EXPECT_EQ(error.status, Status::kRefused);
  EXPECT_STREQ(error.sentence, "/data/sales: another one uses it");
}

TEST(RecoveryReport, OfDamageItSaysWhatToType) {
  RecoveryReport report("/data/sales");
  const Error damage = {Status::kMalformed, "a commit is damaged", 4'096};
  const std::string told = report.fail_in_log("the log cannot be read", damage, 3).sentence;
  EXPECT_NE(told.find("windhover log verify"), std::string::npos) << told;
  EXPECT_NE(told.find("segment-"), std::string::npos) << told;
  const Error gone = {Status::kIoError, "a file cannot be read", EIO, true};
  const std::string other = report.fail_in_log("the log cannot be read", gone, kNoSegment).sentence;
  EXPECT_EQ(other.find("windhover log verify"), std::string::npos) << other;
  EXPECT_EQ(other.find("segment-"), std::string::npos) << other;
}

TEST(RecoveryReport, OfALogThatCannotBeUsedItSaysWhatIsLeft) {
  RecoveryReport report("/data/sales");
  const Error missing = {Status::kUnavailable, "a segment cannot be opened", ENOENT, true};
  const Error told = report.fail_in_log("the log cannot be opened", missing, 3);
  EXPECT_EQ(told.number, ENOENT);
  EXPECT_NE(std::string(told.sentence).find("segment-0003"), std::string::npos) << told.sentence;
  EXPECT_NE(std::string(told.sentence).find("windhover restore --without-log"), std::string::npos)
      << told.sentence;
  EXPECT_TRUE(std::string(told.sentence).ends_with(": a segment cannot be opened"))
      << told.sentence << ": what the system says comes next";
}

// Rows are given up for nothing where a log is good and cannot be read at the moment.
TEST(RecoveryReport, OfALogThatMayBeGoodItSaysNotToGoOnWithoutIt) {
  RecoveryReport report("/data/sales");
  const Error locked = {Status::kIoError, "the log's identity cannot be opened", EACCES, true};
  EXPECT_STREQ(report.fail_without_log("the log cannot be read", locked).sentence,
               "/data/sales: the log cannot be read: the log's identity cannot be opened");
  const Error newer = {Status::kUnsupported, "the log is of another version", 7};
  const std::string told = report.fail_without_log("the log cannot be read", newer).sentence;
  EXPECT_EQ(told.find("--without-log"), std::string::npos) << told;
  const Error damaged = {Status::kMalformed, "the log's identity is damaged", 0};
  const std::string lost = report.fail_without_log("the log cannot be read", damaged).sentence;
  EXPECT_NE(lost.find("--without-log"), std::string::npos) << lost;
}

TEST(RecoveryReport, RemarksAreSentencesInTheOrderInWhichTheyCame) {
  RecoveryReport report("/data/sales");
  EXPECT_EQ(report.remarks(), "");
  report.add_remark("one was passed over");
  report.add_remark("there was no log");
  EXPECT_EQ(report.remarks(), "one was passed over; there was no log");
}

}  // namespace
}  // namespace windhover::recovery_report_test
