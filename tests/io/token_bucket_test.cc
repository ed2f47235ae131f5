// Limits of a connection: what a bucket gives, and that who is over its limits waits and loses
// nothing.
#include "windhover/io/token_bucket.h"

#include <string>

#include <gtest/gtest.h>

#include "windhover/io/connection_meter.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::token_bucket_test {
namespace {

using testing::eventually;
using testing::kSecond;
using testing::RawPeer;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

TEST(TokenBucket, GivesASecondsWorthAtOnceAndThenItsRate) {
  TokenBucket bucket;
  std::int64_t now = 50 * kSecond;
  int taken = 0;
  for (; bucket.wait_ns(now) == 0; ++taken) bucket.take(1, 10, now);
  EXPECT_EQ(taken, 11);
  EXPECT_EQ(bucket.wait_ns(now), kSecond / 10);
  now += 5 * kSecond;
  bucket.reset();
  for (const std::int64_t end = now + 100 * kSecond; now < end; now += kSecond / 1000) {
    if (bucket.wait_ns(now) == 0) {
      bucket.take(1, 10, now);
      ++taken;
    }
  }
  EXPECT_NEAR(taken, 11 + 10 + 1000, 2);
}

TEST(TokenBucket, TakesMoreThanItHasAndIsThenEmptyForAsLong) {
  TokenBucket bucket;
  bucket.take(50, 10, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 4 * kSecond);
  EXPECT_EQ(bucket.wait_ns(6 * kSecond), 0);
}

TEST(TokenBucket, FinesAreABucketAtMostUntilSomethingIsTakenAgain) {
  TokenBucket bucket;
  bucket.take(30, 10, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 2 * kSecond);
  bucket.fine(4, 10, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 2 * kSecond + 4 * kSecond / 10);
  for (int i = 0; i < 100; ++i) bucket.fine(UINT64_MAX, 10, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 3 * kSecond);
  bucket.take(10, 10, kSecond);
  bucket.fine(10, 10, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 5 * kSecond);
  bucket.fine(10, 0, kSecond);
  EXPECT_EQ(bucket.wait_ns(kSecond), 5 * kSecond) << "without a rate there is no limit";
}

TEST(TokenBucket, WithoutARateThereIsNoLimit) {
  TokenBucket bucket;
  for (int i = 0; i < 1000; ++i) bucket.take(UINT64_MAX, 0, 0);
  EXPECT_EQ(bucket.wait_ns(0), 0);
}

TEST(ConnectionMeter, WaitsForWhicheverIsUsedUp) {
  for (int which = 0; which < 4; ++which) {
    const ConnectionLimits limits = {which == 0 ? 1U : 0U, which == 1 ? 1U : 0U,
                                     which == 2 ? 1U : 0U, which == 3 ? 1U : 0U};
    ConnectionMeter meter;
    meter.begin(limits);
    EXPECT_TRUE(meter.is_on());
    meter.read(3, kSecond);
    meter.handled(3, 3, 3'000, kSecond);
    EXPECT_EQ(meter.wait_ns(kSecond), 2 * kSecond) << which;
    EXPECT_EQ(meter.most_bytes(64), which == 1 ? 1U : 64U);
  }
}

TEST(ConnectionMeter, CostIsInMicroseconds) {
  ConnectionMeter meter;
  meter.begin({.cost = 1'000});
  meter.handled(1, 1, 5'000'000, kSecond);
  EXPECT_EQ(meter.wait_ns(kSecond), 4 * kSecond);
  meter.change({.cost = UINT64_MAX});
  meter.handled(1, 1, 5'000'000, kSecond);
  EXPECT_EQ(meter.wait_ns(kSecond), 0);
}

TEST(ConnectionLimits, SenderOverItsLimitWaitsAndNothingIsLost) {
  ServerConfig config = small_server();
  config.limits = {2'000, 300'000, 0, 0};
  TestServer server(config);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk);
  const TestRows rows(500);
  for (int i = 0; i < 40; ++i) ASSERT_EQ(client.observe(rows.rows()), Status::kOk);
  EXPECT_EQ(client.totals().accepted, 20'000U);
  EXPECT_GT(server.counter(IoCounter::kLimitWaits), 0U);
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 0U);
}

TEST(ConnectionLimits, AskerOverItsLimitWaitsOthersDoNot) {
  ServerConfig config = small_server();
  config.limits.questions = 50;
  TestServer server(config);
  RawPeer hasty(server.query_address());
  ASSERT_TRUE(hasty.hello());
  v1::Request status;
  status.mutable_status();
  std::string many;
  for (int i = 0; i < 80; ++i) many += RawPeer::framed(status);
  ASSERT_TRUE(hasty.send(many));
  ASSERT_TRUE(eventually([&] { return server.counter(IoCounter::kLimitWaits) == 1; }));
  Client other;
  ASSERT_EQ(other.connect(server.query_address()), Status::kOk);
  v1::StatusResult result;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(other.status(result), Status::kOk);
  v1::Response response;
  for (int i = 0; i < 80; ++i) ASSERT_TRUE(hasty.receive(response)) << i;
  ASSERT_TRUE(hasty.send(status));
  EXPECT_TRUE(hasty.receive(response));
}

TEST(ConnectionLimits, WhatQuestionsCostIsLimitedToo) {
  ServerConfig config = small_server();
  config.limits.cost = 1;  // so the second is a matter of seconds away, at least
  TestServer server(config);
  RawPeer asker(server.query_address());
  ASSERT_TRUE(asker.hello());
  v1::Request draws;
  draws.mutable_draws();
  v1::Response response;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(asker.send(draws));
  ASSERT_TRUE(asker.receive(response));
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kLimitWaits) == 1; }));
}

TEST(ConnectionLimits, OneWhoseTokensAreFarAwayIsStoppedWithTheServerAndFreedWhenGone) {
  ServerConfig config = small_server();
  config.limits.questions = 1;
  config.write_timeout = std::chrono::milliseconds(40);  // so it looks often
  TestServer server(config);
  v1::Request status;
  status.mutable_status();
  std::string many;
  for (int i = 0; i < 100; ++i) many += RawPeer::framed(status);
  {
    RawPeer gone(server.query_address());
    ASSERT_TRUE(gone.hello());
    ASSERT_TRUE(gone.send(many));
    ASSERT_TRUE(eventually([&] { return server.counter(IoCounter::kLimitWaits) == 1; }));
  }
  ASSERT_TRUE(eventually([&] { return server.server().query().sessions == 0; }));
  RawPeer stays(server.query_address());
  ASSERT_TRUE(stays.hello());
  ASSERT_TRUE(stays.send(many));
  ASSERT_TRUE(eventually([&] { return server.counter(IoCounter::kLimitWaits) == 2; }));
}

}  // namespace
}  // namespace windhover::token_bucket_test
