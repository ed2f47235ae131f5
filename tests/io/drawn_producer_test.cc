// Rows of clients that were given no producer: they draw one, and the server may forget it.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/producer_table.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::drawn_producer_test {
namespace {

using std::chrono::milliseconds;

class DrawnProducer : public ::testing::Test {
 protected:
  DrawnProducer() : path_(temporary_path("drawn")) { start(); }

  void start(std::uint32_t max_producers = 3) {
    server_.reset();
    closed_ = 0;
    ServerConfig config = small_server();
    config.observe.unix_path = path_;
    config.max_producers = max_producers;
    config.drain_timeout = milliseconds(50);  // its clients stay
    server_ = std::make_unique<TestServer>(config);
  }
  std::string address() const { return "unix:" + path_; }
  void connect(Client& client, const ClientOptions& options = {}) {
    ASSERT_EQ(client.connect(address(), options), Status::kOk) << client.error_text();
  }
  static void send(Client& client, std::size_t first, std::size_t rows) {
    ASSERT_EQ(client.observe(TestRows(rows, first).rows()), Status::kOk) << client.error_text();
  }
  // The server has noticed when this returns.
  void close(Client& client) {
    client.close();
    ++closed_;
    EXPECT_TRUE(
        eventually([&] { return server_->counter(IoCounter::kConnectionsClosed) == closed_; }));
  }
  // One more client that comes, sends a row and goes.
  void visit() {
    Client client;
    connect(client);
    send(client, 0, 1);
    close(client);
  }
  // The first rows of somebody's stream, from a connection that is gone.
  void before_of(std::uint64_t producer, std::size_t rows) {
    Client client;
    connect(client);
    const TestRows first(rows);
    v1::Request request;
    v1::Observe& observe = *request.mutable_observe();
    observe.set_producer(producer);
    observe.set_rows(static_cast<std::uint32_t>(rows));
    const ObserveRows all = first.rows();
    observe.mutable_features_f64()->Add(all.features.begin(), all.features.end());
    observe.mutable_targets_f64()->Add(all.targets.begin(), all.targets.end());
    v1::StatusResult status;  // comes when the rows are there
    ASSERT_EQ(client.send(request), Status::kOk);
    ASSERT_EQ(client.status(status), Status::kOk);
    ASSERT_EQ(head(), rows);
    close(client);
  }
  std::uint64_t head() const { return server_->engine().head(); }

  std::string path_;
  std::unique_ptr<TestServer> server_;
  std::uint64_t closed_ = 0;
};

TEST_F(DrawnProducer, WhatWasOnItsWayArrivesOnce) {
  Client client;
  connect(client);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client.send_observe(TestRows(50, static_cast<std::size_t>(50 * i)).rows()),
              Status::kOk);
    if (i % 2 == 0) {
      ASSERT_EQ(client.flush(), Status::kOk);
    }
    client.close();
    ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  }
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(head(), 1'000U);
  EXPECT_EQ(t.accepted + t.duplicate, 1'000U);
  EXPECT_EQ(t.unknown + t.lost, 0U);
}

TEST_F(DrawnProducer, AServerInMemoryThatIsStartedAnewGetsWhatIsKept) {
  Client client;
  connect(client);
  send(client, 0, 100);
  start();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 100, 50);
  EXPECT_EQ(head(), 150U);
  EXPECT_EQ(client.totals().restored, 100U);
}

TEST_F(DrawnProducer, AnyNumberOfClientsComeAndGoAndAGivenProducerStays) {
  {
    Client given;
    connect(given, {.producer = 7});
    send(given, 0, 10);
    close(given);
  }
  for (int i = 0; i < 20; ++i) visit();
  EXPECT_EQ(head(), 30U);
  EXPECT_EQ(server_->counter(IoCounter::kFramesRefusedTableFull), 0U);
  EXPECT_GE(server_->counter(IoCounter::kProducersForgotten), 18U);
  Client given;
  connect(given, {.producer = 7});
  EXPECT_EQ(given.producer().next(), 10U);
}

// All it had sent was acknowledged: that the server has forgotten it costs nothing.
TEST_F(DrawnProducer, OneThatWasForgottenGoesOn) {
  Client client;
  connect(client);
  send(client, 0, 100);
  close(client);
  for (int i = 0; i < 5; ++i) visit();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 100, 50);
  EXPECT_EQ(head(), 155U);
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(t.accepted, 150U);
  EXPECT_EQ(t.unknown + t.lost + t.restored + t.duplicate, 0U);
}

TEST_F(DrawnProducer, WhatWasOnItsWayWhenItWasForgottenIsUnknownAndSaidOnce) {
  Client client;
  connect(client);
  send(client, 0, 100);
  ASSERT_EQ(client.send_observe(TestRows(50, 100).rows()), Status::kOk);
  close(client);
  for (int i = 0; i < 5; ++i) visit();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.wait_acknowledged(), Status::kClosed);
  EXPECT_EQ(client.wait_acknowledged(), Status::kOk);
  send(client, 150, 50);
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(t.unknown, 50U);
  EXPECT_EQ(t.accepted, 150U);
  EXPECT_EQ(head(), 155U);
}

// Nobody was forgotten while it was gone: the server has never seen it.
TEST_F(DrawnProducer, OneThatNeverWasKnownSendsAgainAlsoToAFullTable) {
  for (int i = 0; i < 5; ++i) visit();
  Client client;
  connect(client);
  ASSERT_EQ(client.send_observe(TestRows(50).rows()), Status::kOk);  // not flushed
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().accepted, 50U);
  EXPECT_EQ(head(), 55U);
}

TEST_F(DrawnProducer, StreamGoesOverAGapThatAServerOfAnEarlierPartHas) {
  Client client;
  connect(client, {.max_rows_per_frame = 10, .resend_bytes = 0});
  send(client, 0, 50);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 50, 50);
  start();
  before_of(client.producer().producer(), 30);
  ASSERT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().first, 30U);
  EXPECT_EQ(client.missing().count, 70U);
  ASSERT_EQ(client.leave_missing(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().lost, 70U);
  send(client, 100, 50);
  EXPECT_EQ(head(), 80U);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().lost, 70U);
}

// While others have taken every place rows are refused; then it goes on as if they were not.
TEST_F(DrawnProducer, OneThatFoundNoRoomGoesOnWhenThereIsSome) {
  Client client;
  connect(client, {.max_rows_per_frame = 5});
  {
    std::vector<Client> others(3);
    for (Client& other : others) {
      connect(other);
      send(other, 0, 1);
    }
    EXPECT_EQ(client.observe(TestRows(20).rows()), Status::kRefused);
    EXPECT_EQ(client.refusal(), v1::REASON_TABLE_FULL);
    EXPECT_EQ(client.totals().refused, 20U);
    for (Client& other : others) close(other);
  }
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 20, 30);
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(t.accepted, 30U);
  EXPECT_EQ(t.sent, t.accepted + t.refused);
  EXPECT_EQ(t.lost + t.unknown, 0U);
  EXPECT_EQ(head(), 33U);
}

// Rows that were acknowledged stay kept while a server that lost them has no room, and arrive then.
TEST_F(DrawnProducer, RowsToBeRestoredWaitForRoom) {
  Client client;
  connect(client, {.max_rows_per_frame = 10, .retry_for = milliseconds(0)});
  send(client, 0, 100);
  start();
  {
    std::vector<Client> others(3);
    for (Client& other : others) {
      connect(other);
      send(other, 0, 1);
    }
    ASSERT_EQ(client.reconnect(), Status::kRefused);
    EXPECT_EQ(client.refusal(), v1::REASON_TABLE_FULL);
    EXPECT_EQ(client.missing().count, 0U);
    EXPECT_FALSE(client.connected());
    EXPECT_EQ(client.totals().refused, 0U);
  }
  ASSERT_TRUE(eventually([&] { return ok(client.reconnect()); })) << client.error_text();
  send(client, 100, 50);
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(t.sent, 150U);
  EXPECT_EQ(t.accepted, 150U);
  EXPECT_EQ(t.restored, 100U);
  EXPECT_EQ(t.refused + t.lost + t.unknown, 0U);
  EXPECT_EQ(head(), 153U);
}

TEST_F(DrawnProducer, WhoOnlyAsksIsNoProducer) {
  Client client;
  connect(client);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  v1::StatusResult status;
  ASSERT_EQ(client.status(status), Status::kOk);
  EXPECT_EQ(status.durable().producers_known(), 0U);
}

TEST_F(DrawnProducer, OptionsThatNeedAGivenOneAreRefused) {
  Client client;
  EXPECT_EQ(client.connect(address(), {.first_sequence = 5}), Status::kInvalidArgument);
  EXPECT_EQ(client.connect(address(), {.begins_here = true}), Status::kInvalidArgument);
  EXPECT_EQ(client.connect(address(), {.producer = 7, .resend = false}), Status::kInvalidArgument);
  EXPECT_EQ(client.connect(address(), {.producer = kFirstPassingProducer}),
            Status::kInvalidArgument);
}

}  // namespace
}  // namespace windhover::testing::drawn_producer_test
