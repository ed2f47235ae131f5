// How many producers of a table an identity may have, and that nobody else's make room for them.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/producer_table.h"
#include "windhover/platform/memory.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/number_tape.h"

namespace windhover::testing::producer_shares_test {
namespace {

constexpr std::uint64_t kDrawn = kFirstPassingProducer;
constexpr ProducerOwner kAda{11, 0};  // half of the table
constexpr ProducerOwner kEve{12, 4};

using Tape = NumberTape;

class ProducerSharesTest : public ::testing::Test {
 protected:
  ProducerSharesTest() : block_(1 << 18), arena_(block_.bytes()) { make(table_); }

  void make(std::unique_ptr<ProducerTable>& table, std::size_t identities = 3) {
    table = std::make_unique<ProducerTable>(arena_, 20, identities);
    table->reset({.claims_per_connection = 4, .silence_ns = 100});
  }
  // One row of the producer from a connection of its own, which ends after it.
  Refusal visit(const ProducerOwner& who, std::uint64_t producer) {
    ProducerClaims claims;
    const Refusal refusal = say(who, producer, claims);
    table_->release(claims);
    return refusal;
  }
  Refusal say(const ProducerOwner& who, std::uint64_t producer, ProducerClaims& claims) {
    claims.speak_as(who);
    const Refusal refusal = table_->may_speak(table_->at(producer), producer, claims, 0);
    if (refusal == Refusal::kTableFull) limit_ = table_->limit(producer, claims);
    if (refusal != Refusal::kNone) return refusal;
    const auto spoken = table_->judged(table_->at(producer), producer, claims, 0);
    ++spoken.entry.next;
    forgot_ = spoken.forgot;
    return refusal;
  }
  bool known(std::uint64_t producer) { return table_->at(producer).producer != 0; }

  MappedBlock block_;
  Arena arena_;
  std::unique_ptr<ProducerTable> table_;
  std::size_t limit_ = 0;
  bool forgot_ = false;
};

TEST_F(ProducerSharesTest, AnIdentityHasHalfOfTheTableOrAsManyAsItMay) {
  for (std::uint64_t p = 1; p <= 10; ++p) ASSERT_EQ(visit(kAda, p), Refusal::kNone) << p;
  EXPECT_EQ(visit(kAda, 11), Refusal::kTableFull);
  EXPECT_EQ(limit_, 10U);
  for (std::uint64_t p = 1; p <= 10; ++p) EXPECT_EQ(visit(kAda, p), Refusal::kNone);  // its own
  for (std::uint64_t p = 21; p <= 24; ++p) ASSERT_EQ(visit(kEve, p), Refusal::kNone) << p;
  EXPECT_EQ(visit(kEve, 25), Refusal::kTableFull);
  EXPECT_EQ(limit_, 4U);
  // More may be said later, and then the table is what is full: 19 of 20, as one is for drawn ones.
  for (std::uint64_t p = 25; p <= 29; ++p) ASSERT_EQ(visit({12, 100}, p), Refusal::kNone) << p;
  EXPECT_EQ(visit({12, 100}, 30), Refusal::kTableFull);
  EXPECT_EQ(limit_, 20U);
  for (std::uint64_t p = 1; p <= 10; ++p) EXPECT_EQ(table_->at(p).next, 2U);
  EXPECT_EQ(table_->forgotten(), 0U);
}

TEST_F(ProducerSharesTest, WhoIsNobodysIdentityHasNoLimit) {
  for (std::uint64_t p = 1; p <= 19; ++p) ASSERT_EQ(visit({}, p), Refusal::kNone) << p;
  EXPECT_EQ(visit({}, 20), Refusal::kTableFull);
  EXPECT_EQ(limit_, 20U);
}

// They do so also where the table has room for more: what others have sent is remembered as long as
// it would be without them.
TEST_F(ProducerSharesTest, DrawnOnesMakeRoomForTheirOwnIdentityAlone) {
  ASSERT_EQ(visit(kAda, 1 | kDrawn), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 7), Refusal::kNone);
  for (std::uint64_t p = 101; p <= 200; ++p) ASSERT_EQ(visit(kEve, p | kDrawn), Refusal::kNone);
  EXPECT_TRUE(forgot_);
  EXPECT_TRUE(known(1 | kDrawn));
  EXPECT_TRUE(known(7));
  EXPECT_FALSE(known(197 | kDrawn));
  for (const std::uint64_t p : {198, 199, 200}) EXPECT_TRUE(known(p | kDrawn)) << p;
  EXPECT_EQ(table_->size(), 5U);
  EXPECT_EQ(table_->forgotten(), 97U);
  // A producer that somebody speaks for does not make room.
  ProducerClaims claims;
  for (const std::uint64_t p : {198, 199, 200}) {
    ASSERT_EQ(say(kEve, p | kDrawn, claims), Refusal::kNone);
  }
  EXPECT_EQ(visit(kEve, 201 | kDrawn), Refusal::kTableFull);
  EXPECT_EQ(limit_, 4U);
  EXPECT_EQ(visit(kAda, 201 | kDrawn), Refusal::kNone);
  table_->release(claims);
}

TEST_F(ProducerSharesTest, ASixteenthOfAShareIsForDrawnOnes) {
  const ProducerOwner who{13, 16};
  for (std::uint64_t p = 1; p <= 15; ++p) ASSERT_EQ(visit(who, p), Refusal::kNone) << p;
  EXPECT_EQ(visit(who, 16), Refusal::kTableFull);
  for (std::uint64_t p = 1; p <= 3; ++p) EXPECT_EQ(visit(who, p | kDrawn), Refusal::kNone) << p;
  EXPECT_TRUE(known(3 | kDrawn));
  EXPECT_FALSE(known(2 | kDrawn));
}

TEST_F(ProducerSharesTest, AProducerIsWhoseItIsThatSpokeForItLastAndHasRoom) {
  for (std::uint64_t p = 1; p <= 10; ++p) ASSERT_EQ(visit(kAda, p), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 1 | kDrawn), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 5), Refusal::kNone);
  EXPECT_EQ(visit(kAda, 11), Refusal::kNone) << "there is room for one again";
  EXPECT_EQ(visit(kAda, 12), Refusal::kTableFull);
  for (const std::uint64_t p : {6, 7, 8, 9}) ASSERT_EQ(visit(kEve, p), Refusal::kNone);
  EXPECT_EQ(visit(kAda, 12), Refusal::kNone);
  EXPECT_EQ(visit(kAda, 13), Refusal::kNone);
  EXPECT_EQ(visit(kAda, 14), Refusal::kTableFull) << "eve had room for three, with the drawn one";
  // Ada, who has no room for that one, may speak for it, and it stays eve's.
  ASSERT_EQ(visit(kAda, 1 | kDrawn), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 2 | kDrawn), Refusal::kNone);
  EXPECT_FALSE(known(1 | kDrawn));
  // Where there is room the producer moves to the identity that speaks for it.
  ASSERT_EQ(visit({14, 3}, 2 | kDrawn), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 3 | kDrawn), Refusal::kNone);
  EXPECT_TRUE(known(2 | kDrawn));
}

TEST_F(ProducerSharesTest, AStateSaysWhoseTheyAre) {
  for (std::uint64_t p = 1; p <= 10; ++p) ASSERT_EQ(visit(kAda, p), Refusal::kNone);
  ASSERT_EQ(visit({}, 40), Refusal::kNone);
  for (const std::uint64_t p : {1, 2, 3}) ASSERT_EQ(visit(kEve, p | kDrawn), Refusal::kNone);
  ASSERT_EQ(visit(kAda, 4 | kDrawn), Refusal::kTableFull);
  EXPECT_TRUE(table_->tells_owners());
  Tape tape;
  ASSERT_EQ(table_->visit_state(tape), Status::kOk);
  EXPECT_EQ(tape.numbers.front(), (tape.numbers.size() - 1) / 2);
  EXPECT_LE(tape.numbers.front(), ProducerTable::most_shown(20, 3));
  make(table_);
  tape.restoring = true;
  ASSERT_EQ(table_->visit_state(tape), Status::kOk);
  EXPECT_EQ(table_->size(), 14U);
  EXPECT_EQ(visit(kAda, 11), Refusal::kTableFull);
  EXPECT_EQ(visit(kAda, 40), Refusal::kNone);
  ASSERT_EQ(visit(kEve, 50), Refusal::kNone);
  for (const std::uint64_t p : {4, 5, 6}) ASSERT_EQ(visit(kEve, p | kDrawn), Refusal::kNone);
  for (const std::uint64_t p : {1, 2, 3}) EXPECT_FALSE(known(p | kDrawn)) << p;
  // Two identities that alternate are told with each of theirs.
  make(table_);
  for (std::uint64_t p = 1; p <= 8; ++p)
    ASSERT_EQ(visit(p % 2 == 0 ? kAda : kEve, p), Refusal::kNone);
  Tape longest;
  ASSERT_EQ(table_->visit_state(longest), Status::kOk);
  EXPECT_EQ(longest.numbers.front(), 16U);
}

TEST_F(ProducerSharesTest, AStateOfATableWithoutIdentitiesIsAsItEverWas) {
  for (std::uint64_t p = 1; p <= 15; ++p) ASSERT_EQ(visit({}, p), Refusal::kNone);
  EXPECT_FALSE(table_->tells_owners());
  Tape tape;
  ASSERT_EQ(table_->visit_state(tape), Status::kOk);
  EXPECT_EQ(tape.numbers.front(), 15U);
  make(table_);
  tape.restoring = true;
  ASSERT_EQ(table_->visit_state(tape), Status::kOk);
  // They are whose they are that speaks for them.
  for (std::uint64_t p = 1; p <= 4; ++p) ASSERT_EQ(visit(kEve, p), Refusal::kNone);
  EXPECT_EQ(visit(kEve, 20), Refusal::kTableFull);
  EXPECT_EQ(limit_, 4U);
  EXPECT_EQ(visit(kEve, 5), Refusal::kNone);
}

TEST_F(ProducerSharesTest, MoreIdentitiesThanThereCanBeCountAsOne) {
  make(table_, 2);
  std::uint64_t p = 0;
  for (std::uint64_t who = 1; who <= 2; ++who) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(visit({who, 3}, ++p), Refusal::kNone);
    EXPECT_EQ(visit({who, 3}, 100), Refusal::kTableFull);
  }
  for (std::uint64_t who = 3; who <= 5; ++who) ASSERT_EQ(visit({who, 3}, ++p), Refusal::kNone);
  EXPECT_EQ(visit({6, 3}, 100), Refusal::kTableFull);
  EXPECT_EQ(visit({3, 3}, 100), Refusal::kTableFull);
  // A share whose last producer is another's now is free.
  for (std::uint64_t one = 1; one <= 3; ++one) ASSERT_EQ(visit({2, 10}, one), Refusal::kNone);
  EXPECT_EQ(visit({7, 2}, 100), Refusal::kNone);
  EXPECT_EQ(visit({7, 2}, 101), Refusal::kNone);
  EXPECT_EQ(visit({7, 2}, 102), Refusal::kTableFull);
}

// Compares with a plain map: who has what, and that nobody else's is forgotten.
TEST_F(ProducerSharesTest, NobodyLosesWhatIsItsOwnToAnother) {
  std::mt19937_64 random(20261127);
  constexpr std::uint64_t kIdentities = 3;
  constexpr std::uint64_t kMost = 6;  // 18 of 20: the table itself is never full
  std::map<std::uint64_t, std::uint64_t> owner;
  int refused = 0;
  int gone = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t who = 1 + random() % kIdentities;
    const std::uint64_t producer =
        (1 + random() % 8 + 8 * who) | (random() % 2 == 0 ? kDrawn : std::uint64_t{0});
    const bool was_known = known(producer);
    ASSERT_EQ(was_known, owner.contains(producer));
    std::uint64_t has = 0;
    for (const auto& [number, whose] : owner) has += whose == who ? 1 : 0;
    const Refusal refusal = visit({who, kMost}, producer);
    if (was_known) {
      ASSERT_EQ(refusal, Refusal::kNone);
      continue;
    }
    if (refusal != Refusal::kNone) {
      ASSERT_EQ(has, kMost);
      ++refused;
      continue;
    }
    owner.emplace(producer, who);
    if (has < kMost) {
      ASSERT_FALSE(forgot_);
      continue;
    }
    ASSERT_TRUE(forgot_);
    const auto forgotten = std::erase_if(owner, [&](const auto& entry) {
      if (known(entry.first)) return false;
      EXPECT_EQ(entry.second, who);
      EXPECT_TRUE(is_passing(entry.first));
      return true;
    });
    ASSERT_EQ(forgotten, 1U);
    ++gone;
  }
  // Once given ones fill a share nothing gives way any more.
  EXPECT_GT(refused, 1'000);
  EXPECT_GT(gone, 5);
}

// --- With a file of identities, over sockets.

v1::Reason greet(RawPeer& peer, const std::string& name) {
  v1::Request request;
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_token(name + "-token");
  v1::Response response;
  EXPECT_TRUE(peer.send(request) && peer.receive(response));
  return response.refusal().reason();
}

// What one row of a producer is answered, from a connection of its own.
v1::Response send_row(const std::string& address, const std::string& name, std::uint64_t producer) {
  RawPeer peer(address);
  EXPECT_EQ(greet(peer, name), v1::REASON_OK);
  v1::Response response;
  EXPECT_TRUE(peer.send(observe_of(producer, 0, 1)) && peer.receive(response));
  return response;
}

std::string observer(const std::string& name, const std::string& limits = "") {
  std::string text = token_line(name, "observe");
  return text.insert(text.size() - 1, limits);
}

TEST(ProducerShares, OneIdentityFillsItsOwnAndIsToldHowManyItMayHave) {
  const std::string file = write_identities("shares", observer("ada") + observer("eve"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.max_identities = 8;
  config.max_producers = 8;
  TestServer server(config);
  const std::string address = server.observe_address();
  for (std::uint64_t p = 1; p <= 4; ++p) {
    EXPECT_EQ(send_row(address, "eve", p).observe_ack().accepted(), 1U) << p;
  }
  const v1::Response full = send_row(address, "eve", 5);
  EXPECT_EQ(full.refusal().reason(), v1::REASON_TABLE_FULL);
  EXPECT_EQ(full.refusal().number(), 4U);
  Client client;
  ClientOptions options;
  options.token = "eve-token";
  options.producer = 6;
  ASSERT_EQ(client.connect(address, options), Status::kOk) << client.error_text();
  EXPECT_EQ(client.observe(TestRows(1).rows()), Status::kRefused);
  EXPECT_NE(client.error_text().find("knows 4 producers"), std::string::npos)
      << client.error_text();
  client.close();
  EXPECT_EQ(send_row(address, "ada", 5).observe_ack().accepted(), 1U);
  EXPECT_EQ(server.counter(IoCounter::kFramesRefusedShareFull), 2U);
  EXPECT_EQ(server.counter(IoCounter::kFramesRefusedTableFull), 0U);
  write_identities("shares", observer("ada", " producers=1") + observer("eve", " producers=5"));
  ASSERT_TRUE(server.server().reload().ok());
  EXPECT_EQ(send_row(address, "eve", 6).observe_ack().accepted(), 1U);
  EXPECT_EQ(send_row(address, "eve", 7).refusal().number(), 5U);
  EXPECT_EQ(send_row(address, "ada", 7).refusal().number(), 1U);
}

TEST(ProducerShares, WhatComesOverHttpIsWhoseTokenItHas) {
  const std::string file = write_identities("shares-http", observer("ada") + observer("eve"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.max_producers = 6;
  config.max_producers_per_connection = 1;  // HTTP has one connection for all, and needs no more
  config.limits.producers = 2;
  config.http.listen.tcp_address = "127.0.0.1";
  EngineConfig engine = small_engine();
  engine.max_readers = readers_of(config);
  engine.max_watchers = watchers_of(config);
  TestServer server(config, engine);
  HttpPeer peer("127.0.0.1:" + std::to_string(server.server().http().port));
  const auto send = [&](const std::string& name, int producer) {
    const std::string head =
        "Content-Type: application/json\r\nAuthorization: Bearer " + name + "-token\r\n";
    const std::string rows = R"({"rows":1,"features_f64":[1,2,3],"targets_f64":[1],"producer":)" +
                             std::to_string(producer) + "}";
    return peer.ask("POST", "/v1/observe", head, rows);
  };
  EXPECT_EQ(send("eve", 1).status, 200);
  EXPECT_EQ(send("eve", 2).status, 200);
  const HttpResponse full = send("eve", 3);
  EXPECT_NE(full.status, 200);
  EXPECT_NE(full.body.find("REASON_TABLE_FULL"), std::string::npos) << full.body;
  EXPECT_NE(full.body.find("as many producers as it may"), std::string::npos) << full.body;
  EXPECT_EQ(send("ada", 3).status, 200);
  EXPECT_EQ(send_row(server.observe_address(), "eve", 4).refusal().number(), 2U)
      << "at the socket she is the same";
  EXPECT_EQ(send("ada", 4).status, 200);
  EXPECT_EQ(server.counter(IoCounter::kFramesRefusedShareFull), 2U);
}

TEST(ProducerShares, ARestartDoesNotForgetWhoseTheyAre) {
  const std::string file = write_identities("shares-kept", observer("ada") + observer("eve"));
  const std::string folder = temporary_path("shares-kept-data");
  ServerConfig config = small_log_on_disk(nullptr);
  config.durable.folder = folder;
  config.identities_file = file;
  config.max_producers = 8;
  for (int life_number = 0; life_number < 3; ++life_number) {
    ServerLife life(config, exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    const std::string address = "127.0.0.1:" + std::to_string(life.server().observe().port);
    for (std::uint64_t p = 1; life_number == 0 && p <= 4; ++p) {
      ASSERT_EQ(send_row(address, "eve", p).observe_ack().accepted(), 1U) << p;
    }
    const std::uint64_t another = 10 + static_cast<std::uint64_t>(life_number);
    EXPECT_EQ(send_row(address, "eve", another).refusal().number(), 4U) << life_number;
    EXPECT_EQ(send_row(address, "ada", another).observe_ack().accepted(), 1U) << life_number;
    EXPECT_TRUE(life_number == 0 ? life.checkpoint() : ok(life.end(true)));
  }
}

}  // namespace
}  // namespace windhover::testing::producer_shares_test
