// Checkpoints asked for over the wire, and what a server says of its folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::server_checkpoint_test {
namespace {

constexpr std::size_t kRows = 1'000;

v1::Response ask_for(Client& client, std::uint64_t number) {
  v1::Request request;
  request.mutable_take_checkpoint()->set_request(number);
  v1::Response response;
  EXPECT_EQ(client.send(request), Status::kOk) << client.error_text();
  EXPECT_EQ(client.receive(response), Status::kOk) << client.error_text();
  return response;
}

TEST(ServerCheckpoint, IsTakenWhenOneIsAskedForOnEitherEndpoint) {
  ServerLife life(server_on_disk(temporary_path("asked-for")));
  ASSERT_TRUE(life.opens()) << life.error();
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
  ASSERT_EQ(client.observe(TestRows(kRows).rows()), Status::kOk);
  std::uint64_t taken = 0;
  for (const std::string& address : {life.observe(), life.query()}) {
    Client asker;
    ASSERT_EQ(asker.connect(address), Status::kOk);
    v1::TakeCheckpointResult result = ask_for(asker, 0).take_checkpoint_result();
    const std::uint64_t number = result.request();
    EXPECT_GT(number, 0U);
    EXPECT_TRUE(eventually([&] {
      result = ask_for(asker, number).take_checkpoint_result();
      return result.answered();
    }));
    EXPECT_EQ(result.request(), number);
    EXPECT_EQ(result.status(), v1::REASON_OK);
    EXPECT_GT(result.taken(), taken);
    taken = result.taken();
    EXPECT_EQ(ask_for(asker, number + 1).refusal().reason(), v1::REASON_INVALID_ARGUMENT);

    v1::StatusResult status;
    ASSERT_EQ(asker.status(status), Status::kOk);
    const v1::Durable& durable = status.durable();
    EXPECT_TRUE(durable.keeps_folder());
    EXPECT_EQ(durable.durability(), v1::DURABILITY_LOGGED);
    EXPECT_EQ(durable.instance_id(), life.server().models().instance_id());
    EXPECT_EQ(durable.durable_through(), kRows);
    EXPECT_EQ(durable.checkpoint_head(), kRows);
    EXPECT_EQ(durable.checkpoints_taken(), taken);
    EXPECT_GE(durable.checkpoint_age_ns(), 0);
    EXPECT_GT(durable.checkpoint_lasted_ns(), 0);
    EXPECT_EQ(durable.log_capacity_bytes(), 16U << 20);
    EXPECT_GT(durable.log_used_bytes(), 0U);
    EXPECT_GT(durable.commits(), 0U);
    EXPECT_EQ(durable.producers_known(), 1U);
    EXPECT_EQ(durable.log_status(), v1::REASON_OK);
    EXPECT_EQ(durable.checkpoint_status(), v1::REASON_OK);
  }
}

TEST(ServerCheckpoint, OfAServerWithoutAFolderIsRefused) {
  ServerLife life(small_server(), small_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  Client client;
  ASSERT_EQ(client.connect(life.query()), Status::kOk);
  EXPECT_EQ(ask_for(client, 0).refusal().reason(), v1::REASON_UNSUPPORTED);
  v1::StatusResult status;
  ASSERT_EQ(client.status(status), Status::kOk);
  EXPECT_FALSE(status.durable().keeps_folder());
  EXPECT_EQ(status.durable().durability(), v1::DURABILITY_MEMORY);
}

TEST(ServerCheckpoint, ThatFailsIsAnsweredWithWhy) {
  const std::string folder = temporary_path("taken-away");
  ServerLife life(server_on_disk(folder));
  ASSERT_TRUE(life.opens()) << life.error();
  Client client;
  ASSERT_EQ(client.connect(life.query()), Status::kOk);
  // The file that a checkpoint is written to cannot be made where a folder has its name.
  std::filesystem::create_directory(folder + "/checkpoint.new");
  const std::uint64_t number = ask_for(client, 0).take_checkpoint_result().request();
  v1::TakeCheckpointResult result;
  EXPECT_TRUE(eventually([&] {
    result = ask_for(client, number).take_checkpoint_result();
    return result.answered();
  }));
  EXPECT_NE(result.status(), v1::REASON_OK);
  v1::StatusResult status;
  ASSERT_EQ(client.status(status), Status::kOk);
  EXPECT_GE(status.durable().checkpoint_failures(), 1U);
  EXPECT_NE(status.durable().checkpoint_errno(), 0);
}

// Each request has an answer of its own, whatever becomes of the checkpoints before and behind it.
TEST(ServerCheckpoint, OfARequestIsNotTakenForAnotherOne) {
  RecordingFolder disk;
  FaultyFolder faulty(disk);
  ServerLife life(server_on_disk("memory", &faulty));
  ASSERT_TRUE(life.opens()) << life.error();
  const CheckpointProgress& progress = life.server().kept().checkpoints();
  faulty.only("checkpoint");
  faulty.hold(Call::kSync);
  const std::uint64_t first = life.server().kept().request_checkpoint().value();
  ASSERT_TRUE(eventually([&] { return faulty.waiting() == 1; }));
  const std::uint64_t second = life.server().kept().request_checkpoint().value();
  faulty.fail(Call::kSync, 0, EIO);
  faulty.release();
  ASSERT_TRUE(eventually([&] { return progress.is_answered(second); }));
  EXPECT_EQ(progress.failures.load(), 1U) << "the one that was under way";
  EXPECT_TRUE(progress.is_met(second));
  EXPECT_TRUE(progress.is_met(first)) << "a later one is as good";

  faulty.fail(Call::kSync, 0, EIO, UINT64_MAX);
  const std::uint64_t third = life.server().kept().request_checkpoint().value();
  ASSERT_TRUE(eventually([&] { return progress.is_answered(third); }));
  EXPECT_FALSE(progress.is_met(third));
  Client client;
  ASSERT_EQ(client.connect(life.query()), Status::kOk);
  EXPECT_EQ(ask_for(client, second).take_checkpoint_result().status(), v1::REASON_OK);
  EXPECT_EQ(ask_for(client, third).take_checkpoint_result().status(), v1::REASON_IO_ERROR);
}

// What is said is done: without the checkpoints the log is learned from its first row on.
TEST(ServerCheckpoint, OfWhichNoneIsGoodIsNotNeededWhereTheLogHasEveryRow) {
  const ServerConfig config = server_on_disk(new_folder());
  const std::string folder(config.durable.folder);
  {
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(kRows).rows()), Status::kOk);
    ASSERT_TRUE(life.checkpoint());
  }
  std::vector<std::filesystem::path> checkpoints;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_checkpoint_file(entry.path().filename().string())) checkpoints.push_back(entry.path());
  }
  ASSERT_EQ(checkpoints.size(), 2U);
  for (const auto& path : checkpoints) flip(path, 500);
  const std::string error = ServerLife(config).error();
  EXPECT_NE(error.find("no checkpoint is good"), std::string::npos) << error;
  EXPECT_NE(error.find("the log has every row since the first: move"), std::string::npos) << error;
  for (const auto& path : checkpoints) std::filesystem::remove(path);
  ServerLife life(config);
  ASSERT_TRUE(life.opens()) << life.error();
  ASSERT_TRUE(eventually([&] { return standing(life, 7).next() == kRows; }));
}

}  // namespace
}  // namespace windhover::testing::server_checkpoint_test
