// A server that ends, in order or not, and is there again with all that it had acknowledged.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "windhover/io/producer_table.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::server_recovery_test {
namespace {

constexpr std::size_t kRows = 4'000;
constexpr std::chrono::milliseconds kLong = std::chrono::minutes(2);  // for a disk that others use

void expect_same_posterior(const std::vector<ParameterSummary>& a,
                           const std::vector<ParameterSummary>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j) {
    EXPECT_NEAR(a[j].mode, b[j].mode, 1e-9 * std::abs(b[j].sd) + 1e-9 * std::abs(b[j].mode));
  }
}

TEST(ServerRecovery, LoggedRowsAreOnDiskWhenTheyAreAcknowledged) {
  ServerLife life(server_on_disk(new_folder()));
  ASSERT_TRUE(life.opens()) << life.error();
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  EXPECT_EQ(client.welcome().durability(), v1::DURABILITY_LOGGED);
  EXPECT_NE(client.welcome().instance_id(), 0U);
  send_rows(client, 0, kRows);
  EXPECT_EQ(client.totals().accepted, kRows);
  EXPECT_GE(life.server().kept().log().durable_head.load(), kRows);
  const v1::ProducerStatusResult producer = standing(life, 7);
  EXPECT_EQ(producer.next(), kRows);
  EXPECT_EQ(producer.durable_next(), kRows);
}

// Without a checkpoint a learner finds its units anew, and with them its prior, from as many rows
// as were there by the end of its cold start: by how they came. Given ones are the same in both
// lives.
TEST(ServerRecovery, WithoutACheckpointTheLogBringsBackEveryRowAndProducer) {
  const ServerConfig config = server_on_disk(new_folder());
  EngineConfig engine = engine_on_disk();
  engine.standardize = Standardize::kOff;
  engine.standardize_target = Standardize::kOff;
  std::uint64_t instance = 0;
  std::vector<ParameterSummary> before;
  {
    ServerLife life(config, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    instance = life.server().models().instance_id();
    for (const std::uint64_t producer : {7U, 8U}) {
      Client client;
      ASSERT_EQ(client.connect(life.observe(), {.producer = producer}), Status::kOk);
      send_rows(client, 0, kRows / 2);
    }
    before = life.settled(kRows);
  }
  ServerLife life(config, engine);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.server().models().instance_id(), instance);
  EXPECT_EQ(standing(life, 7).next(), kRows / 2);
  EXPECT_EQ(standing(life, 8).next(), kRows / 2);
  EXPECT_EQ(life.engine().head(), kRows);
  expect_same_posterior(life.settled(kRows), before);
}

TEST(ServerRecovery, WhatIsSentAgainIsNotLearnedTwice) {
  const ServerConfig config = server_on_disk(new_folder());
  {
    ServerLife life(config);
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    send_rows(client, 0, 1'000);
  }
  ServerLife life(config);
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  send_rows(client, 0, 1'500);
  EXPECT_EQ(client.totals().duplicate, 1'000U);
  EXPECT_EQ(client.totals().accepted, 500U);
  EXPECT_EQ(life.engine().head(), 1'500U);
}

TEST(ServerRecovery, ACheckpointOfAServerAtWorkAndTheLogAfterIt) {
  const ServerConfig config = server_on_disk(new_folder());
  std::vector<ParameterSummary> before;
  {
    ServerLife life(config);
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    send_rows(client, 0, kRows);
    life.settled(kRows);
    ASSERT_TRUE(life.checkpoint()) << to_string(life.server().kept().checkpoints().status.load());
    EXPECT_EQ(life.server().kept().checkpoints().head.load(), kRows);
    send_rows(client, kRows, kRows);
    before = life.settled(2 * kRows);
  }
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_STREQ(life.server().kept().remarks(), "");
  EXPECT_EQ(standing(life, 7).next(), 2 * kRows);
  EXPECT_EQ(life.engine().head(), 2 * kRows);
  expect_same_posterior(life.settled(2 * kRows), before);
}

TEST(ServerRecovery, AnOrderlyEndLeavesNothingToLearnAgain) {
  const ServerConfig config = server_on_disk(new_folder());
  {
    ServerLife life(config);
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    send_rows(client, 0, kRows);
    client.close();
    ASSERT_EQ(life.end(true), Status::kOk);
  }
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.server().kept().checkpoints().head.load(), kRows);
  EXPECT_EQ(life.engine().head(), kRows);
  EXPECT_EQ(standing(life, 7).next(), kRows);
  life.settled(kRows);
}

TEST(ServerRecovery, MemoryDurabilityKeepsCheckpointsAndSaysSo) {
  ServerConfig config = server_on_disk(new_folder());
  config.durable.log = false;
  std::uint64_t instance = 0;
  {
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    instance = life.server().models().instance_id();
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    EXPECT_EQ(client.welcome().durability(), v1::DURABILITY_MEMORY);
    send_rows(client, 0, 1'000);
    ASSERT_TRUE(life.checkpoint());
    send_rows(client, 1'000, 500);
  }
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_NE(life.server().models().instance_id(), instance);
  EXPECT_EQ(life.engine().head(), 1'000U);
  EXPECT_EQ(standing(life, 7).next(), 1'000U);
}

// Many times the log's size, with the engine's own checkpoints alone to let old frames go.
TEST(ServerRecovery, AFullLogHoldsUpSendersOnlyUntilACheckpointFreesIt) {
  ServerConfig config = server_on_disk(new_folder());
  config.durable.log_options = {
      .bytes = 5 << 18, .segment_bytes = 1 << 18, .commit_bytes = 1 << 17};
  config.frame_cap = 16 * 1024;
  constexpr std::size_t kMany = 200'000;
  {
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7, .reply_timeout = kLong}), Status::kOk);
    send_rows(client, 0, kMany);
    EXPECT_EQ(client.totals().accepted, kMany);
    EXPECT_GT(life.server().kept().checkpoints().taken.load(), 4U);
    EXPECT_EQ(life.server().kept().log().status.load(), Status::kOk);
  }
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(standing(life, 7).next(), kMany);
  EXPECT_EQ(life.engine().head(), kMany);
}

// Rows that are refused move their producer on, and that goes to the log as well.
TEST(ServerRecovery, RefusedRowsAloneDoNotFillTheLogForGood) {
  ServerConfig config = server_on_disk(new_folder());
  config.durable.log_options = {
      .bytes = 5 << 18, .segment_bytes = 1 << 18, .commit_bytes = 1 << 17};
  config.frame_cap = 16 * 1024;
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  TestRows bad(1);
  bad.targets[0] = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 1'000; ++i) {  // a commit each: three times the log
    ASSERT_EQ(client.observe(bad.rows()), Status::kOk) << client.error_text();
  }
  EXPECT_EQ(client.totals().refused, 1'000U);
  send_rows(client, 0, 100);
  EXPECT_EQ(client.totals().accepted, 100U);
}

TEST(ServerRecovery, AFrameLargerThanTheEngineTakesNowIsLearnedInPieces) {
  const ServerConfig config = server_on_disk(new_folder());
  {
    ServerLife life(config);
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(1'000).rows()), Status::kOk);
  }
  EngineConfig smaller = engine_on_disk();
  smaller.max_frame_rows = 64;
  ServerLife life(config, smaller);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(standing(life, 7).next(), 1'000U);
  EXPECT_EQ(life.engine().head(), 1'000U);
}

TEST(ServerRecovery, ALogThatIsGoneMakesAnotherHistoryAndIsSaid) {
  const std::string& folder = new_folder();
  const ServerConfig config = server_on_disk(folder);
  std::uint64_t instance = 0;
  {
    ServerLife life(config);
    instance = life.server().models().instance_id();
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    send_rows(client, 0, 1'000);
    ASSERT_TRUE(life.checkpoint());
    send_rows(client, 1'000, 100);
  }
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name == "identity" || name.starts_with("segment-")) std::filesystem::remove(file.path());
  }
  for (const bool first : {true, false}) {
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_NE(life.server().models().instance_id(), instance);
    EXPECT_EQ(std::string(life.server().kept().remarks()).empty(), !first);
    EXPECT_EQ(standing(life, 7).next(), 1'000U);
  }
}

// A query on an observing connection is answered in order: behind what the disk has to confirm.
TEST(ServerRecovery, AnswersStayInTheOrderOfTheirRequests) {
  ServerLife life(server_on_disk(new_folder()));
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client.send_observe(TestRows(20, 20 * static_cast<std::size_t>(i)).rows()),
              Status::kOk);
    v1::StatusResult status;
    ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
    ASSERT_EQ(client.outstanding_frames(), 0U);
  }
  EXPECT_EQ(client.totals().accepted, 1'000U);
}

TEST(ServerRecovery, OneThatSaidGoodbyeStillGetsItsAcknowledgements) {
  const ServerConfig config = server_on_disk(new_folder());
  ServerLife life(config);
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_EQ(client.send_observe(TestRows(100, 100 * i).rows()), Status::kOk);
  }
  ASSERT_EQ(client.flush(), Status::kOk);
  life.server().request_stop();
  EXPECT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().accepted, kRows);
}

}  // namespace
}  // namespace windhover::testing::server_recovery_test
