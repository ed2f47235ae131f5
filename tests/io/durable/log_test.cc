#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace {

using namespace testing;

class LogTest : public ::testing::Test {
 protected:
  void create() { ASSERT_EQ(create_small_log(folder_).status, Status::kOk); }

  RecordingFolder folder_;
};

TEST_F(LogTest, GivesBackWhatWasCommitted) {
  create();
  OpenWriter log(folder_);
  ASSERT_EQ(log.write(40, 3), Status::kOk);
  EXPECT_EQ(log->durable_frames(), 40U);
  EXPECT_EQ(log->durable_head(), frame_of(40).head);
  ASSERT_EQ(log.add_next(), Status::kOk);  // never committed
  EXPECT_EQ(log->pending_frames(), 1U);
  for (std::uint64_t from = 0; from <= 40; ++from) {
    const ReadLog read(folder_, from);
    EXPECT_TRUE(read.good()) << read.error.sentence;
    EXPECT_EQ(read.end, 40U);
  }
  EXPECT_EQ(ReadLog(folder_, 41).error.status, Status::kUnavailable);
}

TEST_F(LogTest, GoesOnAfterARestart) {
  create();
  for (std::uint64_t start = 0; start < 30; ++start) {
    OpenWriter log(folder_);
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(log->next_frame(), start);
    EXPECT_EQ(log->durable_head(), frame_of(start).head);
    ASSERT_EQ(log.write(1), Status::kOk);
  }
  EXPECT_EQ(ReadLog(folder_, 0).end, 30U);
  EXPECT_EQ(folder_.open_files(), 0U);
}

TEST_F(LogTest, AnEmptyLogHasItsFirstFrame) {
  LogIdentity identity = small_identity();
  identity.first_frame = 12;
  identity.first_head = frame_of(12).head;
  ASSERT_EQ(create_small_log(folder_, identity).status, Status::kOk);
  EXPECT_TRUE(ReadLog(folder_, 12).good());
  EXPECT_EQ(ReadLog(folder_, 11).error.status, Status::kUnavailable);
  EXPECT_EQ(ReadLog(folder_, 13).error.status, Status::kUnavailable);
  OpenWriter log(folder_);
  EXPECT_EQ(log->next_frame(), 12U);
  EXPECT_EQ(log->durable_head(), identity.first_head);
  ASSERT_EQ(log.write(3), Status::kOk);
  EXPECT_EQ(ReadLog(folder_, 12).end, 15U);
}

TEST_F(LogTest, SaysWhenACommitHasNoRoomAndRefusesWrongFrames) {
  create();
  OpenWriter log(folder_);
  std::span<std::byte> room;
  EXPECT_EQ(log->add(frame_of(1), 0, room), Status::kInvalidArgument);
  LoggedFrame wrong = frame_of(0);
  wrong.head = 5;
  EXPECT_EQ(log->add(wrong, 0, room), Status::kInvalidArgument);
  EXPECT_EQ(log->add(frame_of(0), log->max_payload() + 1, room), Status::kTooLarge);
  EXPECT_EQ(log->add(frame_of(0), log->max_payload(), room), Status::kOk);
  EXPECT_EQ(room.size(), log->max_payload());
  EXPECT_EQ(log->add(frame_of(1), 0, room), Status::kNotReady);
  EXPECT_EQ(log->commit(), Status::kOk);
  EXPECT_EQ(log->add(frame_of(1), 0, room), Status::kOk);
  EXPECT_EQ(log->commit(), Status::kOk);
  EXPECT_EQ(log->commit(), Status::kOk);  // nothing to do
  EXPECT_EQ(log->durable_frames(), 2U);
}

TEST_F(LogTest, FullLogLosesNothingAndGoesOnWhenOldFramesAreReleased) {
  create();
  OpenWriter log(folder_);
  Status status = Status::kOk;
  while (ok(status)) status = log.write(1);
  ASSERT_EQ(status, Status::kLogFull);
  EXPECT_EQ(log->used_bytes(), log->capacity_bytes());
  const std::uint64_t durable = log->durable_frames();
  EXPECT_EQ(log->pending_frames(), 1U);
  EXPECT_EQ(log->commit(), Status::kLogFull);
  EXPECT_EQ(log->error().status, Status::kLogFull);
  EXPECT_EQ(ReadLog(folder_, 0).end, durable);
  log->release_below(1);
  EXPECT_EQ(log->commit(), Status::kLogFull);
  log->release_below(durable / 2);
  EXPECT_LT(log->used_bytes(), log->capacity_bytes());
  EXPECT_EQ(log->commit(), Status::kOk);
  EXPECT_EQ(log->error().status, Status::kOk);
  const ReadLog read(folder_, durable / 2);
  EXPECT_TRUE(read.good());
  EXPECT_EQ(read.end, durable + 1);
  EXPECT_EQ(ReadLog(folder_, 0).error.status, Status::kUnavailable);
}

TEST_F(LogTest, IsRecycledForEver) {
  create();
  std::uint64_t released = 0;
  for (int start = 0; start < 20; ++start) {
    OpenWriter log(folder_);
    ASSERT_TRUE(log.ok());
    log->release_below(released);
    ASSERT_EQ(log.write(44, 2), Status::kOk) << start;
    released = log->durable_frames() - 10;
    const ReadLog read(folder_, released);
    ASSERT_TRUE(read.good()) << read.error.sentence;
    ASSERT_EQ(read.end, log->durable_frames());
    for (int i = 0; i < 20; ++i) {
      log->release_below(log->durable_frames());
      ASSERT_EQ(log.write(7, 7), Status::kOk);
    }
    released = log->durable_frames() - 3;
  }
}

TEST_F(LogTest, CommitsFillASegmentButForTheBlockOfASeal) {
  create();
  OpenWriter log(folder_);
  std::span<std::byte> room;
  for (std::uint64_t n = 0; n < 10; ++n) {  // 5 segments of two commits each
    const std::size_t bytes = log->max_payload() - n % 2 * kLogBlock;
    ASSERT_EQ(log->add(frame_of(n), bytes, room), Status::kOk);
    std::fill(room.begin(), room.end(), std::byte{1});
    ASSERT_EQ(log->commit(), Status::kOk);
  }
  EXPECT_EQ(log->used_bytes(), kSmallLog.bytes - kLogBlock);
  ASSERT_EQ(log->seal(), Status::kOk);
  OpenWriter again(folder_);
  EXPECT_EQ(again->next_frame(), 10U);
  EXPECT_EQ(again->used_bytes(), kSmallLog.bytes - kLogBlock);
}

// Where a commit may be as large as a segment there is no room for a seal behind it.
TEST_F(LogTest, ACommitThatFillsItsSegmentAloneIsThereAfterARestart) {
  LogIdentity identity = small_identity();
  identity.options = {3 * 16'384, 16'384, 16'384};
  ASSERT_EQ(create_small_log(folder_, identity).status, Status::kOk);
  for (std::uint64_t n = 0; n < 2; ++n) {
    LogMemory memory(LogWriter::footprint(identity.options));
    Result<LogWriter> log = LogWriter::open(folder_, memory.arena());
    ASSERT_TRUE(log.ok()) << log.error().sentence;
    ASSERT_EQ(log.value().next_frame(), n);
    std::span<std::byte> room;
    ASSERT_EQ(log.value().add(frame_of(n), log.value().max_payload(), room), Status::kOk);
    std::fill(room.begin(), room.end(), std::byte{1});
    ASSERT_EQ(log.value().commit(), Status::kOk);
    ASSERT_EQ(log.value().seal(), Status::kOk);
  }
}

TEST_F(LogTest, ASealIsWrittenOverByTheNextCommitAndOnlyOnce) {
  create();
  OpenWriter log(folder_);
  ASSERT_EQ(log->seal(), Status::kOk);
  EXPECT_EQ(ReadLog(folder_, 0).end, 0U);
  for (std::uint64_t n = 1; n < 12; ++n) {
    ASSERT_EQ(log.write(1), Status::kOk);
    ASSERT_EQ(log.add_next(), Status::kOk);
    const std::uint64_t pending = folder_.changes();
    ASSERT_EQ(log->seal(), Status::kOk);
    ASSERT_EQ(folder_.changes(), pending) << "what is pending lies in its place";
    ASSERT_EQ(log->commit(), Status::kOk);
    ASSERT_EQ(log->seal(), Status::kOk);
    const std::uint64_t sealed = folder_.changes();
    ASSERT_EQ(log->seal(), Status::kOk);
    ASSERT_EQ(folder_.changes(), sealed);
    const ReadLog read(folder_, 0);
    ASSERT_TRUE(read.good()) << read.error.sentence;
    ASSERT_EQ(read.end, 2 * n);
  }
}

TEST_F(LogTest, ASealIsMadeDurableOnceAndAlsoWhereWritingItHasFailed) {
  create();
  FaultyFolder faulty(folder_);
  OpenWriter log(faulty);
  const std::uint64_t opened = folder_.changes();
  ASSERT_EQ(log->seal_durably(), Status::kOk);
  EXPECT_EQ(folder_.changes(), opened) << "nothing has been committed";
  ASSERT_EQ(log.write(1), Status::kOk);
  faulty.fail(Call::kWrite, 0, EROFS);
  ASSERT_EQ(log->seal(), Status::kNotPermitted);
  EXPECT_EQ(log->error().number, EROFS);
  ASSERT_EQ(log->seal(), Status::kOk) << "tried once";
  faulty.fail(Call::kSync, 0, EIO);
  ASSERT_EQ(log->seal_durably(), Status::kIoError);
  EXPECT_EQ(log->error().number, EIO);
  ASSERT_EQ(log->seal_durably(), Status::kOk);
  const std::uint64_t sealed = folder_.changes();
  ASSERT_EQ(log->seal_durably(), Status::kOk);
  EXPECT_EQ(folder_.changes(), sealed);

  std::mt19937_64 random(1);
  folder_.cut_power(random);
  auto bytes = folder_.contents("segment-0000");
  bytes[kCommitHeaderBytes] ^= std::byte{1};
  folder_.set_contents("segment-0000", bytes);
  EXPECT_EQ(OpenWriter(folder_).log.status(), Status::kMalformed);
}

// The file that an error is about, and of damage the byte.
TEST_F(LogTest, SaysWhichSegmentAnErrorIsAbout) {
  create();
  {
    OpenWriter log(folder_);
    ASSERT_EQ(log.write(40, 2), Status::kOk);
  }
  const auto place_of = [&](const std::string& name, std::size_t at) {
    const auto good = folder_.contents(name);
    auto bad = good;
    bad[at] ^= std::byte{1};
    folder_.set_contents(name, bad);
    const OpenWriter writer(folder_);
    const ReadLog reader(folder_, 0);
    folder_.set_contents(name, good);
    EXPECT_FALSE(reader.good());
    const std::string place = log_place(reader.segment, reader.error);
    // The writer reads the last segment alone.
    if (!writer.ok()) {
      EXPECT_EQ(log_place(writer.segment, writer.log.error()), place);
    }
    return place;
  };
  std::size_t newest = 0;
  while (looks_like_commit(folder_.contents(SegmentName(newest + 1).text.data()))) ++newest;
  const std::string name = SegmentName(newest).text.data();
  EXPECT_EQ(place_of("segment-0000", kLogBlock), "segment-0000 at byte 4096");
  EXPECT_EQ(place_of(name, 30), name + " at byte 0");
  EXPECT_EQ(log_place(kNoSegment, {Status::kMalformed, "the log's identity is damaged", 0}), "");

  const auto bytes = folder_.contents("segment-0003");
  folder_.remove_file("segment-0003");
  EXPECT_EQ(OpenWriter(folder_).segment, 3U);
  EXPECT_EQ(ReadLog(folder_, 0).segment, 3U);
  folder_.set_contents("segment-0003", {bytes.begin(), bytes.end() - 1});
  const OpenWriter shorter(folder_);
  EXPECT_EQ(log_place(shorter.segment, shorter.log.error()), "segment-0003");
  EXPECT_TRUE(error_sentence(shorter.log.error()).ends_with("its size is 32767"));
}

TEST_F(LogTest, ReplacingBeginsAnotherHistory) {
  create();
  {
    OpenWriter log(folder_);
    ASSERT_EQ(log.write(60, 2), Status::kOk);
  }
  EXPECT_EQ(create_small_log(folder_).status, Status::kRefused);
  LogIdentity other = small_identity(78);
  other.first_frame = 20;
  other.first_head = frame_of(20).head;
  ASSERT_EQ(create_small_log(folder_, other, true).status, Status::kOk);
  EXPECT_EQ(read_log_identity(folder_).value().instance, 78U);
  EXPECT_TRUE(ReadLog(folder_, 20).good());
  EXPECT_EQ(ReadLog(folder_, 20).end, 20U);
  OpenWriter log(folder_);
  ASSERT_EQ(log.write(5), Status::kOk);
  EXPECT_EQ(ReadLog(folder_, 20).end, 25U);
}

TEST_F(LogTest, ReplacingMayChangeTheSizes) {
  create();
  LogIdentity other = small_identity();
  other.options = {3 * 65'536, 65'536, 8192};
  ASSERT_EQ(create_small_log(folder_, other, true).status, Status::kOk);
  EXPECT_EQ(folder_.names(),
            (std::vector<std::string>{"identity", "segment-0000", "segment-0001", "segment-0002"}));
  EXPECT_EQ(folder_.contents("segment-0002").size(), 65'536U);

  LogMemory memory(LogWriter::footprint(other.options));
  EXPECT_TRUE(LogWriter::open(folder_, memory.arena()).ok());
}

TEST_F(LogTest, NeverWritesOverFramesWhoseIdentityIsMissing) {
  create();
  {
    OpenWriter log(folder_);
    ASSERT_EQ(log.write(3), Status::kOk);
  }
  folder_.remove_file("identity");
  EXPECT_EQ(read_log_identity(folder_).status(), Status::kUnavailable);
  EXPECT_EQ(create_small_log(folder_).status, Status::kRefused);
  EXPECT_EQ(create_small_log(folder_, small_identity(), true).status, Status::kOk);
}

TEST_F(LogTest, RefusesMissingAndResizedSegments) {
  create();
  const auto bytes = folder_.contents("segment-0003");
  folder_.remove_file("segment-0003");
  EXPECT_EQ(OpenWriter(folder_).log.status(), Status::kUnavailable);
  EXPECT_EQ(ReadLog(folder_, 0).error.status, Status::kUnavailable);
  folder_.set_contents("segment-0003", {bytes.begin(), bytes.end() - 1});
  EXPECT_EQ(OpenWriter(folder_).log.status(), Status::kMalformed);
}

TEST_F(LogTest, NeedsExactlyItsFootprint) {
  create();
  const std::size_t bytes = LogWriter::footprint(kSmallLog);
  EXPECT_GE(bytes, kSmallLog.commit_bytes);
  EXPECT_LT(bytes, kSmallLog.commit_bytes + 4096);
  LogMemory little(bytes - 1);
  EXPECT_EQ(LogWriter::open(folder_, little.arena()).status(), Status::kArenaTooSmall);
  LogMemory little_too(LogReader::footprint(kSmallLog) - 1);
  EXPECT_EQ(LogReader::open(folder_, 0, little_too.arena()).status(), Status::kArenaTooSmall);
}

// What a producer sends cannot pass for a commit, even when it knows all but the salt: it lies at a
// block's begin in a commit whose own header is torn.
TEST_F(LogTest, RowsThatLookLikeCommitsAreNoCommits) {
  create();
  const LogIdentity guessed{.instance = 77, .salt = 0, .options = kSmallLog};
  OpenWriter log(folder_);
  ASSERT_EQ(log.write(1), Status::kOk);
  std::span<std::byte> room;
  ASSERT_EQ(log->add(frame_of(1), 9000, room), Status::kOk);
  std::fill(room.begin(), room.end(), std::byte{0});
  const std::size_t at = kLogBlock - kCommitHeaderBytes - kRecordHeaderBytes;
  CommitHeader forged{1, 2 * kLogBlock, 5, 1, kRecordHeaderBytes, 0};
  const auto body = room.subspan(at + kCommitHeaderBytes, kRecordHeaderBytes);
  const auto forge = [&](const LogIdentity& identity) {
    forged.body_checksum = body_checksum(identity, body);
    encode(forged, identity, room.subspan(at));
    return log->commit();
  };
  ASSERT_EQ(forge(guessed), Status::kOk);
  auto bytes = folder_.contents("segment-0000");
  bytes[kLogBlock] ^= std::byte{1};
  folder_.set_contents("segment-0000", bytes);
  EXPECT_TRUE(ReadLog(folder_, 0).good());
  EXPECT_EQ(ReadLog(folder_, 0).end, 1U);
}

TEST(LogOptions, WrongSizesAreNamed) {
  const auto status = [](std::uint64_t bytes, std::uint64_t segment, std::uint64_t commit) {
    return check(LogOptions{bytes, segment, commit}).status;
  };
  EXPECT_EQ(check(LogOptions{}).status, Status::kOk);
  EXPECT_EQ(check(kSmallLog).status, Status::kOk);
  EXPECT_EQ(status(0, 0, 0), Status::kInvalidConfig);
  EXPECT_EQ(status(3 * 32'768, 32'768, 4096), Status::kInvalidConfig);
  EXPECT_EQ(status(3 * 32'768, 32'768, 8200), Status::kInvalidConfig);
  EXPECT_EQ(status(2 * 32'768, 32'768, 8192), Status::kInvalidConfig);
  EXPECT_EQ(status(3 * 32'768 + 4096, 32'768, 8192), Status::kInvalidConfig);
  EXPECT_EQ(status(3 * 32'768, 32'768, 65'536), Status::kInvalidConfig);
  EXPECT_EQ(status(513 * 32'768, 32'768, 8192), Status::kInvalidConfig);
  EXPECT_EQ(status(512 * 32'768, 32'768, 8192), Status::kOk);
}

TEST(Log, LiesInAFolderOfTheMachine) {
  testing::TemporaryFolder temporary;
  PosixFolder folder = PosixFolder::open(temporary.path().c_str(), false).value();
  ASSERT_EQ(create_small_log(folder).status, Status::kOk);
  {
    OpenWriter log(folder);
    ASSERT_TRUE(log.ok());
    ASSERT_EQ(log.write(40, 4), Status::kOk);
  }
  OpenWriter log(folder);
  EXPECT_EQ(log->next_frame(), 40U);
  EXPECT_TRUE(ReadLog(folder, 0).good());
  EXPECT_EQ(ReadLog(folder, 0).end, 40U);
  std::filesystem::remove_all(temporary.path());
  EXPECT_EQ(log.write(1), Status::kUnavailable);
}

}  // namespace
}  // namespace windhover
