// Producers that a server drew for clients that named none, over its restarts.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::server_drawn_producers_test {
namespace {

// Whether every connection that was accepted has been closed.
bool all_gone(ServerLife& life) {
  const auto& counts = life.server().counters();
  return eventually([&] {
    return counts.get(IoCounter::kConnectionsClosed) == counts.get(IoCounter::kConnectionsAccepted);
  });
}

// One client that comes, sends so many rows and goes: the producer that it drew.
std::uint64_t visit(ServerLife& life, std::size_t rows) {
  Client client;
  EXPECT_EQ(client.connect(life.observe()), Status::kOk) << client.error_text();
  send_rows(client, 0, rows);
  client.close();
  EXPECT_EQ(client.reconnect(), Status::kOk) << client.error_text();
  client.close();
  EXPECT_TRUE(all_gone(life));
  return client.producer().producer();
}

// The server starts from the log alone, and from a checkpoint and the log after it.
TEST(ServerDrawnProducers, ARestartForgetsDrawnProducersInTheOrderOfTheirLastRows) {
  for (const std::size_t checkpoint_after : {0U, 5U, 8U}) {
    ServerConfig config = server_on_disk(new_folder());
    config.max_producers = 4;
    std::vector<std::uint64_t> drawn;
    {
      ServerLife life(config);
      ASSERT_TRUE(life.opens()) << life.error();
      Client given;
      ASSERT_EQ(given.connect(life.observe(), {.producer = 7}), Status::kOk);
      send_rows(given, 0, 10);
      given.close();
      while (drawn.size() < 8) {
        drawn.push_back(visit(life, 10 * (drawn.size() + 1)));
        if (drawn.size() == checkpoint_after) {
          ASSERT_TRUE(life.checkpoint());
        }
      }
      EXPECT_EQ(life.server().counters().get(IoCounter::kProducersForgotten), 5U);
      EXPECT_EQ(standing(life, 7).forgotten(), 5U);
    }
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_EQ(standing(life, 7).next(), 10U);
    EXPECT_EQ(standing(life, 7).forgotten(), 5U);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(standing(life, drawn[i]).known(), i >= 5) << i;
      EXPECT_EQ(standing(life, drawn[i]).durable_next(), i >= 5 ? 10 * (i + 1) : 0) << i;
    }
    for (std::size_t i = 5; i < 8; ++i) {
      (void)visit(life, 1);
      EXPECT_FALSE(standing(life, drawn[i]).known()) << i;
    }
    EXPECT_EQ(standing(life, 7).next(), 10U);
  }
}

// A client that was forgotten, behind a restart: with more room, with checkpoints alone.
TEST(ServerDrawnProducers, WhatADrawnProducerHadSentIsNeverLearnedTwice) {
  for (const bool log : {true, false}) {
    const std::string socket = temporary_path("drawn");
    ServerConfig config = server_on_disk(new_folder());
    config.observe.unix_path = socket;
    config.durable.log = log;
    config.max_producers = 2;
    Client forgotten;
    Client stays;
    {
      ServerLife life(config);
      ASSERT_TRUE(life.opens()) << life.error();
      for (Client* client : {&forgotten, &stays}) {
        ASSERT_EQ(client->connect("unix:" + socket), Status::kOk) << client->error_text();
      }
      send_rows(forgotten, 0, 100);
      forgotten.close();
      ASSERT_TRUE(eventually(
          [&] { return life.server().counters().get(IoCounter::kConnectionsClosed) == 1; }));
      send_rows(stays, 0, 100);
      for (int i = 0; i < 3; ++i) {
        Client visitor;
        ASSERT_EQ(visitor.connect("unix:" + socket), Status::kOk) << visitor.error_text();
        send_rows(visitor, 0, 1);
        visitor.close();
        ASSERT_TRUE(eventually([&] {
          return life.server().counters().get(IoCounter::kConnectionsClosed) ==
                 static_cast<std::uint64_t>(2 + i);
        }));
      }
      ASSERT_TRUE(life.checkpoint());
    }
    config.max_producers = 32;
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    for (Client* client : {&forgotten, &stays}) {
      ASSERT_EQ(client->reconnect(), Status::kOk) << client->error_text();
      send_rows(*client, 100, 50);
      const ObserveTotals& t = client->totals();
      EXPECT_EQ(t.accepted, 150U) << log;
      EXPECT_EQ(t.restored + t.unknown + t.duplicate, 0U) << log;
    }
    EXPECT_EQ(life.engine().head(), 303U) << log;
  }
}

}  // namespace
}  // namespace windhover::testing::server_drawn_producers_test
