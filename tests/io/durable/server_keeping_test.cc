// What a server keeps of its models, of one that nobody has started.
#include "windhover/io/server_keeping.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/server_on_disk.h"

namespace windhover::testing::server_keeping_test {
namespace {

// A server that is open, on a thread of nobody's.
struct Life {
  Life(const ServerConfig& config, const std::vector<HostedModel>& names,
       const EngineConfig& engine_config = engine_on_disk()) {
    std::vector<PlannedModel> planned;
    std::vector<HostedModel> hosted = names;
    for (HostedModel& model : hosted) {
      EngineConfig own = engine_config;
      own.max_followers = 2;
      own.follows = !model.follows.empty();
      blocks.push_back(std::make_unique<MappedBlock>(Engine::footprint(own).value()));
      model.engine = Engine::create(own, blocks.back()->bytes(), clock).value();
      engines.push_back(model.engine);
      planned.push_back({model.name, own});
    }
    blocks.push_back(std::make_unique<MappedBlock>(Server::footprint(config, planned).value()));
    auto made = Server::create(config, hosted, blocks.back()->bytes(), clock);
    EXPECT_TRUE(made.ok()) << made.error().sentence;
    server = std::move(made).value();
    const Result<bool> opened = server->open();
    EXPECT_TRUE(opened.ok()) << opened.error().sentence;
  }
  ServerKeeping& kept() { return server->kept(); }

  ManualClock clock{1'000'000'000};
  std::vector<std::unique_ptr<MappedBlock>> blocks;
  std::vector<Engine*> engines;
  std::unique_ptr<Server> server;
};

class ServerKeepingTest : public ::testing::Test {
 protected:
  ServerConfig on_disk(bool log = true) {
    ServerConfig config = server_on_disk(name_, &faulty_);
    config.durable.log = log;
    config.durable.log_options = {
        .bytes = 12 * (64 << 10), .segment_bytes = 64 << 10, .commit_bytes = 32 << 10};
    config.frame_cap = 8 << 10;
    return config;
  }
  std::vector<std::string> checkpoints() const {
    std::vector<std::string> names;
    for (const std::string& name : disk_.names()) {
      if (name.starts_with("checkpoint-")) names.push_back(name);
    }
    return names;
  }

  const std::string name_ = "disk";
  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
};

TEST_F(ServerKeepingTest, WithoutAFolderNothingIsKeptAndNothingFails) {
  Life life(small_server(), {{}});
  EXPECT_EQ(life.kept().start(), Status::kOk);
  EXPECT_EQ(life.kept().checkpoint_at_rest(), Status::kUnsupported);
  const Result<std::uint64_t> request = life.kept().request_checkpoint();
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().status, Status::kUnsupported);
  EXPECT_STREQ(life.kept().remarks(), "");
  EXPECT_EQ(life.kept().log().durable_frames, 0U);
  EXPECT_EQ(life.kept().checkpoints().requested, 0U);
  EXPECT_EQ(life.kept().checkpoints().taken, 0U);
  EXPECT_EQ(life.kept().checkpoints().failures, 0U);
}

TEST_F(ServerKeepingTest, ACheckpointAtRestIsTakenUpByTheNextLife) {
  const std::vector<double> x(kFeatures, 0.5);
  {
    Life life(on_disk(false), {{}});
    for (int i = 0; i < 3; ++i) ASSERT_EQ(life.engines[0]->observe(x, 1.0), Status::kOk);
    while (life.engines[0]->poll(100) > 0) {
    }
    EXPECT_EQ(life.kept().checkpoint_at_rest(), Status::kOk);
    EXPECT_EQ(life.kept().checkpoints().head, 3U);
    EXPECT_EQ(life.kept().checkpoints().failures, 0U);
  }
  disk_.kill_process();  // its lock is nobody's any more
  Life next(on_disk(false), {{}});
  EXPECT_EQ(next.engines[0]->head(), 3U);
  EXPECT_STREQ(next.kept().remarks(), "");
}

TEST_F(ServerKeepingTest, RequestsAreNumberedFromOneOnAndUnansweredBeforeAnybodyIsAtWork) {
  Life life(on_disk(), {{}});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const Result<std::uint64_t> request = life.kept().request_checkpoint();
    ASSERT_TRUE(request.ok());
    EXPECT_EQ(request.value(), i);
    EXPECT_EQ(life.kept().checkpoints().requested, i);
    EXPECT_FALSE(life.kept().checkpoints().is_answered(i));
  }
}

TEST_F(ServerKeepingTest, ADiskThatFailsIsToldAndTheOneBeforeStays) {
  Life life(on_disk(), {{}});
  const std::vector<std::string> before = checkpoints();
  ASSERT_FALSE(before.empty()) << "a history begins with one";
  faulty_.fail(Call::kWrite, 0, ENOSPC, 1'000'000);
  EXPECT_EQ(life.kept().checkpoint_at_rest(), Status::kIoError);
  EXPECT_EQ(life.kept().checkpoints().failures, 1U);
  EXPECT_EQ(life.kept().checkpoints().status, Status::kIoError);
  EXPECT_EQ(life.kept().checkpoints().error_number, ENOSPC);
  for (const std::string& name : before) EXPECT_TRUE(disk_.has(name)) << name;
  faulty_.heal();
  EXPECT_EQ(life.kept().checkpoint_at_rest(), Status::kOk);
  EXPECT_EQ(life.kept().checkpoints().status, Status::kOk);
  EXPECT_EQ(life.kept().checkpoints().error_number, 0);
  EXPECT_EQ(life.kept().checkpoints().failures, 1U);
}

TEST_F(ServerKeepingTest, WhichCheckpointsWereNotGoodIsRemarked) {
  {
    Life life(on_disk(), {{}});
    EXPECT_EQ(life.kept().checkpoint_at_rest(), Status::kOk);
  }
  const std::vector<std::string> names = checkpoints();
  ASSERT_FALSE(names.empty());
  RecordingFolder::Bytes bytes = disk_.contents(names.back());
  bytes[bytes.size() / 2] ^= std::byte{1};
  disk_.set_contents(names.back(), bytes);
  disk_.kill_process();
  Life next(on_disk(), {{}});
  EXPECT_EQ(std::string(next.kept().remarks()).find(names.back() + " was passed over"), 0U)
      << next.kept().remarks();
}

TEST_F(ServerKeepingTest, OfOneThatFollowsNothingIsKept) {
  Life life(on_disk(), {{"leader"}, {"follower", nullptr, "leader"}});
  EXPECT_TRUE(life.kept().request_checkpoint(0).ok());
  EXPECT_FALSE(life.kept().request_checkpoint(1).ok());
  EXPECT_EQ(life.kept().checkpoint_at_rest(0), Status::kOk);
  EXPECT_EQ(life.kept().checkpoint_at_rest(1), Status::kUnsupported);
  EXPECT_STREQ(life.kept().remarks(1), "");
  EXPECT_EQ(life.kept().checkpoints(1).taken, 0U);
  EXPECT_EQ(life.kept().checkpoints(1).requested, 0U);
}

TEST_F(ServerKeepingTest, StartedTwiceItGoesOnAsItIs) {
  Life life(on_disk(), {{}});
  EXPECT_EQ(life.kept().start(), Status::kOk);
  EXPECT_EQ(life.kept().start(), Status::kOk);
}

}  // namespace
}  // namespace windhover::testing::server_keeping_test
