#include "windhover/io/stream_account.h"

#include <gtest/gtest.h>

namespace windhover::stream_account_test {
namespace {

// Two frames of ten rows are on their way.
class StreamAccountTest : public ::testing::Test {
 protected:
  StreamAccountTest() {
    account_.begin();
    for (std::uint64_t id : {1, 2}) {
      frames_.push({id, 10 * (id - 1), 10 * (id - 1), 10, ""});
      account_.totals().sent += 10;
    }
  }
  // Acknowledges frames up to `id`, when the server has `head` rows, `durable` of them on disk.
  void acknowledge(std::uint64_t id, std::uint64_t head, std::uint64_t durable, bool logged) {
    v1::ObserveAck ack;
    ack.set_accepted(10);
    ack.set_head(head);
    ack.set_durable_through(durable);
    account_.acknowledge(id, ack, logged, frames_);
  }

  SentFrames frames_;
  StreamAccount account_;
};

TEST_F(StreamAccountTest, LoggedRowsAreDurableWhenTheyAreAcknowledged) {
  acknowledge(1, 110, 0, true);
  EXPECT_EQ(account_.totals().accepted, 10U);
  EXPECT_EQ(account_.totals().frames_acknowledged, 1U);
  EXPECT_EQ(account_.totals().durable, 10U);
  acknowledge(2, 120, 0, true);
  EXPECT_EQ(account_.totals().durable, 20U);
}

TEST_F(StreamAccountTest, OthersWhenTheHeadOfThenIsOnDisk) {
  acknowledge(1, 110, 100, false);
  EXPECT_EQ(account_.totals().durable, 0U);
  acknowledge(2, 120, 109, false);
  EXPECT_EQ(account_.totals().durable, 0U);
  acknowledge(2, 130, 110, false);
  EXPECT_EQ(account_.totals().durable, 10U);
}

TEST_F(StreamAccountTest, HeadOfAnotherConnectionSaysNothing) {
  acknowledge(1, 110, 100, false);
  account_.connect_again();
  acknowledge(2, 120, 115, false);
  EXPECT_EQ(account_.totals().durable, 0U);
}

TEST_F(StreamAccountTest, ListedRowsAreThoseOfTheStreamAndAreTakenOnce) {
  v1::ObserveAck ack;
  ack.set_refused(11);
  ack.add_refused_request(2);
  ack.add_refused_row(3);
  ack.add_refused_reason(v1::REASON_INVALID_ARGUMENT);
  ack.add_refused_request(1);
  ack.add_refused_row(UINT32_MAX);  // the whole frame
  ack.add_refused_reason(v1::REASON_TOO_LARGE);
  ack.add_refused_request(77);  // never sent
  ack.add_refused_row(0);
  ack.add_refused_reason(v1::REASON_TOO_LARGE);
  account_.acknowledge(2, ack, false, frames_);
  EXPECT_EQ(account_.totals().refused, 11U);
  const std::vector<ClientRefusedRow> rows = account_.take_refused_rows();
  ASSERT_EQ(rows.size(), 11U);
  EXPECT_EQ(rows[0].row, 13U);
  EXPECT_EQ(rows[0].reason, Status::kInvalidArgument);
  EXPECT_EQ(rows[1].row, 0U);
  EXPECT_EQ(rows[10].row, 9U);
  EXPECT_EQ(rows[10].reason, Status::kTooLarge);
  EXPECT_TRUE(account_.take_refused_rows().empty());
}

TEST_F(StreamAccountTest, NextStreamBeginsWithNothing) {
  acknowledge(1, 110, 110, true);
  account_.begin();
  EXPECT_EQ(account_.totals().accepted, 0U);
  EXPECT_EQ(account_.totals().durable, 0U);
}

}  // namespace
}  // namespace windhover::stream_account_test
