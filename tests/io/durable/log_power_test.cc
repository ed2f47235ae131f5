// Power cuts, kills and failing disks at any moment of a log's life: what was acknowledged is
// there, nothing is there twice, and what is there is what was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/long_tests.h"

namespace windhover {
namespace {

using namespace testing;

// One folder through many lives.
class HardLife {
 public:
  explicit HardLife(std::uint64_t seed) : random_(seed) {}

  // Lives from a start to a power cut or a kill at any change of the disk.
  void live() {
    recording_.stop_after(recording_.changes() + below(below(4) == 0 ? 60 : 25));
    if (below(3) == 0) faulty_.fail(Call::kSync, below(12), EIO, 1 + below(3));
    if (below(6) == 0) faulty_.fail(Call::kWrite, below(12), EIO, 1 + below(2));
    if (below(6) == 0) faulty_.fault(Call::kRead) = {0, 1000, EIO, true};
    run();
    faulty_.heal();
    if (below(3) == 0) {
      recording_.kill_process();
    } else {
      recording_.cut_power(random_);
    }
    verify();
  }

  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t failed_commits() const { return failed_; }
  std::uint64_t recycled() const { return released_; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void run() {
    if (!created_) {
      const Status status = create_small_log(faulty_).status;
      if (!ok(status)) return;
      created_ = true;
    }
    OpenWriter log(faulty_);
    if (!log.ok()) {
      ASSERT_NE(log.log.status(), Status::kMalformed) << log.log.error().sentence;
      return;
    }
    ASSERT_GE(log->next_frame(), acknowledged_);
    ASSERT_LE(log->next_frame(), added_);
    ASSERT_EQ(log->durable_head(), frame_of(log->next_frame()).head);
    acknowledged_ = log->next_frame();  // open() has made them durable
    added_ = acknowledged_;
    log->release_below(released_);
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t frames = 1 + below(4);
      for (std::uint64_t k = 0; k < frames && ok(log.add_next()); ++k) {
      }
      added_ = std::max(added_, log->next_frame());
      const Status status = log->commit();
      failed_ += ok(status) ? 0 : 1;
      ASSERT_EQ(ok(status), log->pending_frames() == 0);
      acknowledged_ = log->durable_frames();
      if (below(2) == 0) (void)(below(2) == 0 ? log->seal() : log->seal_durably());
      if (status == Status::kLogFull || below(6) == 0) {
        released_ = std::max(released_, acknowledged_ - std::min(acknowledged_, below(20)));
        log->release_below(released_);
      }
    }
  }

  void verify() {
    if (!created_) {
      // Interrupted while it was being made, there is no log, or all of it.
      const Status status = read_log_identity(recording_).status();
      ASSERT_TRUE(ok(status) || status == Status::kUnavailable) << to_string(status);
      created_ = ok(status);
      if (!created_) return;
    }
    const ReadLog read(recording_, released_);
    ASSERT_TRUE(read.good()) << read.error.sentence << " " << read.error.number;
    ASSERT_GE(read.end, acknowledged_);
    ASSERT_LE(read.end, added_);
    // Whoever recovers has read these: the writer goes on behind them and not elsewhere.
    recovered_ = read.end;
    {
      OpenWriter log(recording_);
      ASSERT_TRUE(log.ok()) << log.log.error().sentence;
      ASSERT_EQ(log->next_frame(), recovered_);
    }
    acknowledged_ = recovered_;
    recording_.cut_power(random_);
    const ReadLog again(recording_, released_);
    ASSERT_TRUE(again.good()) << again.error.sentence;
    ASSERT_EQ(again.end, recovered_);
  }

  std::mt19937_64 random_;
  RecordingFolder recording_;
  FaultyFolder faulty_{recording_};
  bool created_ = false;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t recovered_ = 0;
  std::uint64_t failed_ = 0;
};

void cut(std::uint64_t lives, std::uint64_t cuts_each, std::uint64_t seed) {
  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;
  std::uint64_t recycled = 0;
  for (std::uint64_t i = 0; i < lives; ++i) {
    HardLife life(seed + i);
    for (std::uint64_t k = 0; k < cuts_each; ++k) {
      life.live();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed + i << ", cut " << k;
    }
    acknowledged += life.acknowledged();
    failed += life.failed_commits();
    recycled += life.recycled();
  }
  // The test has met what it is for.
  EXPECT_GT(acknowledged, lives * cuts_each);
  EXPECT_GT(failed, lives * cuts_each / 2);
  EXPECT_GT(recycled, lives * cuts_each / 2);
}

TEST(LogPower, NothingAcknowledgedIsLostBySomeCuts) { cut(20, 25, 1); }

TEST(LogPower, NothingAcknowledgedIsLostByTenThousandCuts) {
  WINDHOVER_SKIP_UNLESS_LONG();
  cut(400, 25, 1000);
}

// The first start, interrupted at each change of the disk in turn.
TEST(LogPower, FirstStartMayBeInterruptedAnywhere) {
  std::uint64_t changes = 0;
  {
    RecordingFolder folder;
    ASSERT_EQ(create_small_log(folder).status, Status::kOk);
    changes = folder.changes();
  }
  ASSERT_GT(changes, 25U);
  for (std::uint64_t at = 0; at < changes; ++at) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      std::mt19937_64 random(at * 4 + seed);
      RecordingFolder folder;
      folder.stop_after(at);
      EXPECT_FALSE(ok(create_small_log(folder).status));
      folder.cut_power(random);
      if (!read_log_identity(folder).ok()) {
        ASSERT_EQ(read_log_identity(folder).status(), Status::kUnavailable) << at;
        ASSERT_EQ(create_small_log(folder).status, Status::kOk) << at;
      }
      OpenWriter log(folder);
      ASSERT_TRUE(log.ok()) << at << log.log.error().sentence;
      ASSERT_EQ(log.write(3), Status::kOk);
    }
  }
}

// The same for beginning another history over an old one: the old one is there, or none, or the
// new.
TEST(LogPower, ReplacingMayBeInterruptedAnywhere) {
  const auto prepared = [](RecordingFolder& folder) {
    ASSERT_EQ(create_small_log(folder).status, Status::kOk);
    OpenWriter log(folder);
    ASSERT_EQ(log.write(20), Status::kOk);
  };
  for (std::uint64_t at = 0;; ++at) {
    RecordingFolder folder;
    prepared(folder);
    std::mt19937_64 random(at);
    folder.stop_after(folder.changes() + at);
    const bool whole = ok(create_small_log(folder, small_identity(78), true).status);
    folder.cut_power(random);
    const auto identity = read_log_identity(folder);
    if (identity.ok()) {
      const bool old = identity.value().instance == 77;
      ASSERT_TRUE(ReadLog(folder, 0).good());
      ASSERT_EQ(ReadLog(folder, 0).end, old ? 20U : 0U) << at;
    } else {
      ASSERT_EQ(identity.status(), Status::kUnavailable);
      ASSERT_EQ(create_small_log(folder, small_identity(79)).status, Status::kOk);
    }
    if (whole) break;
  }
}

}  // namespace
}  // namespace windhover
