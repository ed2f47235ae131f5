// A server that comes back without what it knew: the client sends again what it keeps, and says
// what is missing.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using testing::kFeatures;
using testing::small_engine;
using testing::small_server;
using testing::temporary_path;
using testing::TestRows;
using testing::TestServer;

constexpr std::uint64_t kProducer = 7;

class ClientResume : public ::testing::Test {
 protected:
  ClientResume() : path_(temporary_path("resume")) { start(); }

  void start(bool learn = true) {
    server_.reset();
    ServerConfig config = small_server();
    config.observe.unix_path = path_;
    config.drain_timeout = milliseconds(50);  // its clients stay
    server_ = std::make_unique<TestServer>(config, small_engine(), learn);
  }
  std::string address() const { return "unix:" + path_; }
  void connect(Client& client, ClientOptions options = {}) {
    options.producer = kProducer;
    options.max_rows_per_frame = 10;
    ASSERT_EQ(client.connect(address(), options), Status::kOk) << client.error_text();
  }
  // Rows `first`, ... of a stream in which each row is told from its neighbours.
  static void send(Client& client, std::size_t first, std::size_t rows) {
    ASSERT_EQ(client.observe(TestRows(rows, first).rows()), Status::kOk) << client.error_text();
  }
  static bool adds_up(const ObserveTotals& t) {
    return t.sent == t.accepted + t.refused + t.duplicate + t.unknown;
  }

  std::string path_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(ClientResume, AcknowledgedRowsThatAreKeptAreSentAgainToAnotherInstance) {
  Client client;
  connect(client);
  send(client, 0, 1000);
  const std::uint64_t instance = client.welcome().instance_id();
  EXPECT_EQ(instance, server_->server().models().instance_id());
  start();
  EXPECT_NE(server_->server().models().instance_id(), instance);
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 1000, 500);
  const ObserveTotals& t = client.totals();
  EXPECT_EQ(server_->engine().head(), 1500U);
  EXPECT_EQ(t.sent, 1500U);
  EXPECT_EQ(t.accepted, 1500U);
  EXPECT_EQ(t.restored, 1000U);
  EXPECT_EQ(t.lost, 0U);
  EXPECT_EQ(t.histories, 1U);
  EXPECT_EQ(t.durable, 0U);
  EXPECT_EQ(t.producer_next, 1500U);
  EXPECT_TRUE(adds_up(t));
}

// Rows that were on their way are sent too, with refused rows among them.
TEST_F(ClientResume, RowsOnTheirWayFollowThoseThatWereAcknowledged) {
  Client client;
  connect(client);
  TestRows bad(10, 0);
  bad.targets[3] = std::numeric_limits<double>::infinity();
  ASSERT_EQ(client.observe(bad.rows()), Status::kOk);
  send(client, 10, 500);
  ASSERT_EQ(client.send_observe(TestRows(300, 510).rows()), Status::kOk);
  client.close();  // before they went out
  start();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  EXPECT_EQ(server_->engine().head(), 809U);
  EXPECT_EQ(client.totals().accepted, 809U);
  EXPECT_EQ(client.totals().refused, 1U);
  EXPECT_EQ(client.totals().restored, 510U);
  EXPECT_TRUE(adds_up(client.totals()));
}

TEST_F(ClientResume, SameInstanceIsSentNothingTwice) {
  Client client;
  connect(client);
  send(client, 0, 1000);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  send(client, 1000, 100);
  EXPECT_EQ(client.totals().restored, 0U);
  EXPECT_EQ(client.totals().histories, 0U);
  EXPECT_EQ(server_->counter(IoCounter::kRowsReceived), 1100U);
}

TEST_F(ClientResume, ServerThatComesAndGoesWhileRowsAreRestoredLosesNone) {
  Client client;
  connect(client);
  send(client, 0, 2000);
  for (int life = 1; life <= 5; ++life) {
    start();
    ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
    EXPECT_EQ(server_->engine().head(), 2000U);
  }
  EXPECT_EQ(client.totals().histories, 5U);
  EXPECT_EQ(client.totals().restored, 10'000U);
  EXPECT_EQ(client.totals().accepted, 2000U);
}

// Room for about twenty frames of ten rows.
constexpr std::size_t kLittleRoom = 20 * (10 * 8 * (kFeatures + 1) + 20);

TEST_F(ClientResume, RowsNoLongerKeptAreMissingAndTheCallerGoesBack) {
  Client client;
  connect(client, {.resend_bytes = kLittleRoom});
  send(client, 0, 1000);
  start();
  ASSERT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().first, 0U);
  EXPECT_GT(client.missing().count, 700U);
  EXPECT_LT(client.missing().count, 1000U);
  EXPECT_NE(client.error_text().find("no longer has"), std::string::npos) << client.error_text();
  ASSERT_EQ(client.go_back(0), Status::kOk);
  EXPECT_EQ(client.next_sequence(), 0U);
  send(client, 0, 1200);
  EXPECT_EQ(server_->engine().head(), 1200U);
  EXPECT_EQ(client.totals().restored, 1000U);
  EXPECT_EQ(client.totals().lost, 0U);
  EXPECT_EQ(client.totals().sent, 2200U);
  EXPECT_TRUE(adds_up(client.totals()));
}

TEST_F(ClientResume, MissingRowsThatTheCallerHasNotAreLostAndTheStreamGoesOn) {
  Client client;
  connect(client, {.resend_bytes = kLittleRoom});
  send(client, 0, 1000);
  ASSERT_EQ(client.send_observe(TestRows(20, 1000).rows()), Status::kOk);
  client.close();
  for (std::uint64_t lost = 0, life = 0; life < 2; ++life) {
    start();
    ASSERT_EQ(client.reconnect(), Status::kRefused);
    lost += client.missing().count;
    ASSERT_EQ(client.leave_missing(), Status::kOk) << client.error_text();
    ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
    EXPECT_EQ(client.totals().lost, lost);
    EXPECT_EQ(server_->engine().head(), client.totals().accepted - lost);
    send(client, client.next_sequence(), 500);
    EXPECT_EQ(server_->engine().head(), client.totals().accepted - lost);
  }
  EXPECT_EQ(client.totals().sent, 2020U);
  EXPECT_TRUE(adds_up(client.totals()));
}

// A caller that has only the newer ones of the missing rows.
TEST_F(ClientResume, GoingBackToTheMiddleOfTheMissingRowsLosesThoseBefore) {
  Client client;
  connect(client, {.resend_bytes = 0});
  send(client, 0, 100);
  start();
  ASSERT_EQ(client.reconnect(), Status::kRefused);
  ASSERT_EQ(client.go_back(60), Status::kOk) << client.error_text();
  send(client, 60, 70);
  EXPECT_EQ(client.totals().lost, 60U);
  EXPECT_EQ(client.totals().restored, 40U);
  EXPECT_EQ(client.totals().producer_next, 130U);
  EXPECT_EQ(server_->engine().head(), 70U);
}

TEST_F(ClientResume, RowsAreNotSentToAServerThatTakesThemForSomethingElse) {
  Client client;
  connect(client);
  send(client, 0, 100);
  EngineConfig other = small_engine();
  other.schema_fingerprint = 5;
  server_.reset();
  ServerConfig config = small_server();
  config.observe.unix_path = path_;
  server_ = std::make_unique<TestServer>(config, other);
  EXPECT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.refusal(), v1::REASON_FINGERPRINT_MISMATCH);
  EXPECT_EQ(server_->counter(IoCounter::kRowsReceived), 0U);
  start();
  EXPECT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(server_->engine().head(), 100U);
}

// All that was kept is gone, too: the next row begins.
TEST_F(ClientResume, StreamGoesOnAlsoWhenNothingIsKept) {
  Client client;
  connect(client, {.resend_bytes = 0});
  send(client, 0, 100);
  start();
  ASSERT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().count, 100U);
  ASSERT_EQ(client.leave_missing(), Status::kOk);
  send(client, 100, 50);
  EXPECT_EQ(server_->engine().head(), 50U);
  EXPECT_EQ(client.totals().producer_next, 150U);
}

// A server that knows an earlier part of the stream takes no gap.
TEST_F(ClientResume, EarlierPartOfTheStreamIsGoneBackTo) {
  Client client;
  connect(client, {.resend_bytes = 0});
  send(client, 0, 100);
  start();
  {
    Client before;
    connect(before);
    send(before, 0, 30);
  }
  ASSERT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.missing().first, 30U);
  EXPECT_EQ(client.missing().count, 70U);
  EXPECT_EQ(client.leave_missing(), Status::kRefused);
  EXPECT_EQ(client.refusal(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(client.error_number(), 30U);
  EXPECT_EQ(client.go_back(31), Status::kRefused);
  ASSERT_EQ(client.go_back(30), Status::kOk);
  send(client, 30, 170);
  EXPECT_EQ(server_->engine().head(), 200U);
}

TEST_F(ClientResume, SomebodyElsesRowsUnderTheSameNumberAreNoticed) {
  Client client;
  connect(client);
  send(client, 0, 100);
  client.close();
  {
    Client other;
    ASSERT_TRUE(eventually([&] {
      return ok(other.connect(address(), {.producer = kProducer, .first_sequence = 100}));
    }));
    send(other, 100, 1);
  }
  EXPECT_EQ(client.reconnect(), Status::kRefused);
  EXPECT_EQ(client.error_text(), "another client has sent rows as this producer");
  EXPECT_EQ(client.error_number(), 101U);
}

TEST_F(ClientResume, ProducerOfAnUnknownPastBeginsWhereItSays) {
  Client client;
  connect(client, {.first_sequence = 40});
  EXPECT_FALSE(client.producer().known());
  EXPECT_EQ(client.observe(TestRows(10).rows()), Status::kRefused);
  EXPECT_EQ(client.refusal(), v1::REASON_UNKNOWN_PRODUCER);
  EXPECT_EQ(client.error_text(), "the server refuses: unknown_producer");
  connect(client, {.first_sequence = 40, .begins_here = true});
  send(client, 40, 20);
  start();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(server_->engine().head(), 20U);
  EXPECT_EQ(client.totals().restored, 20U);
}

TEST_F(ClientResume, WhereNothingIsSentAgainWhatAnotherInstanceHadAcceptedMayBeLost) {
  Client client;
  ASSERT_EQ(client.connect(address(), {.resend = false}), Status::kOk);
  send(client, 0, 100);
  start();
  ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().lost, 100U);
  EXPECT_EQ(client.totals().histories, 1U);
  send(client, 100, 50);
  client.close();
  ASSERT_EQ(client.reconnect(), Status::kOk);
  EXPECT_EQ(client.totals().lost, 100U);
  start();
  ASSERT_EQ(client.reconnect(), Status::kOk);
  EXPECT_EQ(client.totals().lost, 150U);
}

TEST_F(ClientResume, LogIsAskedForAndRefused) {
  Client client;
  EXPECT_EQ(client.connect(address(), {.durability = v1::DURABILITY_LOGGED}), Status::kRefused);
  EXPECT_EQ(client.refusal(), v1::REASON_NOT_DURABLE);
  EXPECT_EQ(client.connect(address(), {.durability = v1::DURABILITY_MEMORY}), Status::kOk);
}

TEST_F(ClientResume, GivingUpIsSaid) {
  Client client;
  connect(client, {.retry_for = milliseconds(120)});
  send(client, 0, 100);
  server_.reset();
  EXPECT_EQ(client.reconnect(), Status::kUnavailable);
  EXPECT_NE(client.error_text().find("; gave up after 0 seconds"), std::string::npos)
      << client.error_text();
  start();
  EXPECT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  EXPECT_EQ(server_->engine().head(), 100U);
}

// Rows that nobody acknowledges are kept, so there are only so many of them.
TEST_F(ClientResume, SendingWaitsWhenTheBufferIsFull) {
  start(false);
  Client client;
  connect(client, {.reply_timeout = milliseconds(50), .resend_bytes = kLittleRoom});
  Status status = Status::kOk;
  std::uint64_t handed_in = 0;
  while (ok(status) && handed_in < 100'000) {
    status = client.send_observe(TestRows(10, handed_in).rows());
    handed_in += 10;
  }
  EXPECT_EQ(status, Status::kTimeout);
  EXPECT_LE(client.outstanding_rows(), 210U);
  server_->learn(true);
  EXPECT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  EXPECT_EQ(server_->engine().head(), handed_in);
}

}  // namespace
}  // namespace windhover
