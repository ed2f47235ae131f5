// What is said of a data folder of a server.
#include "windhover/tools/client/durable_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"

namespace windhover::testing::durable_text_test {
namespace {

TEST(DurableText, SaysWhatIsOnDisk) {
  v1::Durable d;
  d.set_checkpoint_age_ns(-1);
  EXPECT_TRUE(says(durable_lines(d, 0).at(0), "nothing; a restart starts cold"));
  d.set_keeps_folder(true);
  d.set_durable_through(120'000);
  d.set_log_capacity_bytes(256 << 20);
  d.set_log_used_bytes(34 << 20);
  d.set_checkpoint_head(118'000);
  EXPECT_TRUE(says(durable_lines(d, 120'000).at(0),
                   "newest checkpoint from before the start, at row 118,000"));
  d.set_checkpoint_age_ns(12'000'000'000);
  ASSERT_EQ(durable_lines(d, 120'000).size(), 1U);
  EXPECT_EQ(durable_lines(d, 120'000).at(0),
            "on disk: all 120,000 rows; log 34.0 MiB of 256.0 MiB; newest checkpoint 12 s old, at "
            "row 118,000");
  EXPECT_TRUE(says(durable_lines(d, 120'500).at(0), "120,000 of 120,500 rows"));
  d.set_recovering_through(119'000);
  d.set_log_status(v1::REASON_IO_ERROR);
  d.set_log_errno(5);
  d.set_log_failures(3);
  d.set_checkpoint_status(v1::REASON_TIMEOUT);
  const std::vector<std::string> all = durable_lines(d, 120'000);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_TRUE(says(all[1], "rows up to 119,000"));
  EXPECT_TRUE(says(all[2], "io_error: Input/output error; senders wait; 3 commits"));
  EXPECT_TRUE(says(all[3], "the last checkpoint failed: timeout"));
  EXPECT_EQ(durable_json(d)["log_errno"], 5);
  EXPECT_EQ(durable_json(d)["checkpoint_status"], "timeout");
  d.set_log_capacity_bytes(0);
  EXPECT_TRUE(says(durable_lines(d, 120'000).at(0), "checkpoints alone, no log"));
}

TEST(DurableText, SaysWhySendersWaitAndWhatToDo) {
  v1::Durable d;
  d.set_keeps_folder(true);
  d.set_log_capacity_bytes(256 << 20);
  EXPECT_EQ(waiting_text(d), "");
  d.set_checkpoint_status(v1::REASON_NOT_PERMITTED);
  d.set_checkpoint_errno(13);
  EXPECT_EQ(waiting_text(d), "") << "a checkpoint alone holds up nobody";
  d.set_log_status(v1::REASON_LOG_FULL);
  EXPECT_EQ(
      waiting_text(d),
      "senders wait: the log is full until a checkpoint lets old rows go, and checkpoints "
      "fail: not_permitted: Permission denied; mend the data folder or its disk, they are tried "
      "again each second, and nothing is lost");
  const std::vector<std::string> lines = durable_lines(d, 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "the log is full until a checkpoint lets old rows go; senders wait");
  d.set_checkpoint_status(v1::REASON_OK);
  EXPECT_TRUE(
      says(waiting_text(d), "until the next checkpoint lets old rows go; where this comes"));
  d.set_log_status(v1::REASON_IO_ERROR);
  d.set_log_errno(2);
  EXPECT_TRUE(says(waiting_text(d), "files of the log have been removed under the server"));
  d.set_log_errno(28);
  EXPECT_TRUE(says(waiting_text(d),
                   "the log cannot be written: io_error: No space left on device; make room"));
}

}  // namespace
}  // namespace windhover::testing::durable_text_test
