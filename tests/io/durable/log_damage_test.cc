// Bytes that change on the medium, files that end early, disks that fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/durable/recording_folder.h"

namespace windhover {
namespace {

using namespace testing;

class LogDamageTest : public ::testing::Test {
 protected:
  // Three segments in use; where commits begin is told by `begins`.
  LogDamageTest() {
    EXPECT_EQ(create_small_log(folder_).status, Status::kOk);
    OpenWriter log(folder_);
    EXPECT_EQ(log.write(kFrames, 2), Status::kOk);
    EXPECT_GT(log->used_bytes(), 2 * kSmallLog.segment_bytes);
  }

  static constexpr std::uint64_t kFrames = 40;
  RecordingFolder folder_;
};

// Whatever is flipped: what is read is right, and what is missing is the last commit or is said.
TEST_F(LogDamageTest, EveryFlippedByteIsFoundOrHarmless) {
  std::uint64_t found = 0;
  std::uint64_t shorter = 0;
  for (std::size_t s = 0; s < kSmallLog.segments(); ++s) {
    const std::string name = SegmentName(s).text.data();
    const auto good = folder_.contents(name);
    // Every byte of the headers and of what follows them, and a sample of the rest.
    for (std::size_t at = 0; at < good.size(); at += at % kLogBlock < 160 ? 1 : 41) {
      auto bad = good;
      bad[at] ^= static_cast<std::byte>(1U << (at % 8));
      folder_.set_contents(name, bad);
      const ReadLog read(folder_, 0);
      ASSERT_TRUE(read.right) << name << " " << at;
      if (read.good()) {
        ASSERT_GE(read.end, kFrames - 2) << name << " " << at;
        shorter += read.end < kFrames ? 1 : 0;
      } else {
        // Without the first commit of the oldest segment the log begins with the next one.
        const bool first = s == 0 && at < kCommitHeaderBytes;
        ASSERT_EQ(read.error.status, first ? Status::kUnavailable : Status::kMalformed)
            << name << " " << at;
        ++found;
      }
    }
    folder_.set_contents(name, good);
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(shorter, 100U);
  EXPECT_TRUE(ReadLog(folder_, 0).good());
}

// The last commit too, where the log was at rest: its seal says that it had been finished.
TEST(SmallLogDamage, EveryFlippedByteOfASealedLogIsFoundOrHarmless) {
  for (const std::uint64_t frames : {1U, 2U, 3U}) {
    RecordingFolder folder;
    ASSERT_EQ(create_small_log(folder).status, Status::kOk);
    {
      OpenWriter log(folder);
      ASSERT_EQ(log.write(frames), Status::kOk);
      ASSERT_EQ(log->seal(), Status::kOk);
    }
    std::uint64_t found = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      const std::string name = SegmentName(s).text.data();
      const auto good = folder.contents(name);
      for (std::size_t at = 0; at < (frames + 2) * kLogBlock;
           at += at % kLogBlock < 1700 ? 1 : 41) {
        auto bad = good;
        bad[at] ^= static_cast<std::byte>(1U << (at % 8));
        folder.set_contents(name, bad);
        const ReadLog read(folder, 0);
        ASSERT_TRUE(read.right) << frames << " " << name << " " << at;
        OpenWriter log(folder);
        ASSERT_EQ(log.ok(), read.good()) << frames << " " << name << " " << at;
        if (log.ok()) {
          ASSERT_EQ(read.end, frames) << name << " " << at;
          ASSERT_EQ(log->next_frame(), frames) << name << " " << at;
        } else {
          ASSERT_EQ(log.log.status(), Status::kMalformed) << name << " " << at;
          ++found;
        }
      }
      folder.set_contents(name, good);
    }
    EXPECT_GT(found, frames * kCommitHeaderBytes);
  }
}

TEST(SmallLogDamage, ACommitThatWasNeverFinishedIsLeftOutAndSaid) {
  for (const std::uint64_t durable : {0U, 1U, 2U}) {
    RecordingFolder folder;
    ASSERT_EQ(create_small_log(folder).status, Status::kOk);
    std::vector<std::byte> before;
    {
      OpenWriter log(folder);
      EXPECT_FALSE(log->found_unfinished());
      ASSERT_EQ(log.write(durable), Status::kOk);
      ASSERT_EQ(log->seal(), Status::kOk);
      before = folder.contents("segment-0000");
      ASSERT_EQ(log.write(1), Status::kOk);
    }
    // Its header alone has come to the disk.
    auto torn = folder.contents("segment-0000");
    const auto behind = static_cast<std::ptrdiff_t>(durable * kLogBlock + kCommitHeaderBytes);
    std::copy(before.begin() + behind, before.end(), torn.begin() + behind);
    folder.set_contents("segment-0000", torn);
    {
      OpenWriter log(folder);
      ASSERT_TRUE(log.ok()) << log.log.error().sentence;
      EXPECT_TRUE(log->found_unfinished());
      EXPECT_EQ(log->next_frame(), durable);
    }
    EXPECT_FALSE(OpenWriter(folder)->found_unfinished()) << "it was cleared";
  }
}

TEST_F(LogDamageTest, DamageBeforeGoodCommitsNamesItsPlaceAndStopsTheWriter) {
  // The second commit of the first segment, and the first one of the last segment in use.
  auto bytes = folder_.contents("segment-0000");
  std::size_t second = kLogBlock;
  while (!looks_like_commit(std::span(bytes).subspan(second))) second += kLogBlock;
  const auto good = bytes;
  bytes[second + 100] ^= std::byte{1};
  folder_.set_contents("segment-0000", bytes);
  const ReadLog read(folder_, 0);
  EXPECT_EQ(read.error.status, Status::kMalformed);
  EXPECT_EQ(read.segment, 0U);
  EXPECT_EQ(read.error.number, static_cast<double>(second));
  EXPECT_EQ(read.end, 2U);
  folder_.set_contents("segment-0000", good);

  std::size_t last = 0;
  while (looks_like_commit(folder_.contents(SegmentName(last + 1).text.data()))) ++last;
  const std::string name = SegmentName(last).text.data();
  bytes = folder_.contents(name);
  bytes[30] ^= std::byte{1};
  folder_.set_contents(name, bytes);
  const ReadLog again(folder_, 0);
  EXPECT_EQ(again.error.status, Status::kMalformed);
  EXPECT_EQ(again.segment, last);
  EXPECT_EQ(again.error.number, 0.0);
  EXPECT_EQ(OpenWriter(folder_).log.status(), Status::kMalformed);
}

TEST_F(LogDamageTest, EveryFlippedByteOfTheIdentityIsFound) {
  const auto good = folder_.contents("identity");
  ASSERT_EQ(good.size(), kIdentityBytes);
  for (std::size_t at = 0; at < 88; ++at) {
    auto bad = good;
    bad[at] ^= static_cast<std::byte>(1U << (at % 8));
    folder_.set_contents("identity", bad);
    EXPECT_EQ(read_log_identity(folder_).status(), Status::kMalformed) << at;
    EXPECT_EQ(create_small_log(folder_).status, Status::kMalformed) << at;
  }
}

TEST_F(LogDamageTest, EveryPrefixOfAFileIsRefused) {
  const auto identity = folder_.contents("identity");
  for (std::size_t size = 0; size < identity.size(); ++size) {
    folder_.set_contents("identity",
                         {identity.begin(), identity.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(read_log_identity(folder_).status(), Status::kMalformed) << size;
  }
  folder_.set_contents("identity", identity);
  const auto segment = folder_.contents("segment-0001");
  for (std::size_t size = 0; size < segment.size(); size += 111) {
    folder_.set_contents("segment-0001",
                         {segment.begin(), segment.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(ReadLog(folder_, 0).error.status, Status::kMalformed) << size;
    EXPECT_EQ(OpenWriter(folder_).log.status(), Status::kMalformed) << size;
  }
}

// Each call in turn fails once; the writer says so, and goes on when asked again.
TEST_F(LogDamageTest, AFailureOfEachCallIsSaidAndMended) {
  for (const int error : {EIO, ENOSPC, EROFS}) {
    for (const Call call : {Call::kWrite, Call::kSync}) {
      for (std::uint64_t n = 0; n < 12; ++n) {
        RecordingFolder recording;
        FaultyFolder faulty(recording);
        ASSERT_EQ(create_small_log(faulty).status, Status::kOk);
        OpenWriter log(faulty);
        faulty.fail(call, n, error);
        std::uint64_t failures = 0;
        for (int i = 0; i < 12; ++i) {
          ASSERT_EQ(log.add_next(), Status::kOk);
          Status status = log->commit();
          if (!ok(status)) {
            ++failures;
            ASSERT_EQ(log->error().number, error);
            ASSERT_EQ(log->durable_frames(), log->next_frame() - 1);
            status = log->commit();
          }
          ASSERT_EQ(status, Status::kOk);
        }
        ASSERT_EQ(failures, 1U);
        const ReadLog read(recording, 0);
        ASSERT_TRUE(read.good()) << read.error.sentence;
        ASSERT_EQ(read.end, 12U);
      }
    }
  }
}

// A disk that fails for long: nothing is lost, and the first commit that goes well has all.
TEST_F(LogDamageTest, ADiskThatFailsForLongUsesUpNoSegments) {
  RecordingFolder recording;
  FaultyFolder faulty(recording);
  ASSERT_EQ(create_small_log(faulty).status, Status::kOk);
  OpenWriter log(faulty);
  ASSERT_EQ(log.write(2), Status::kOk);
  faulty.fail(Call::kSync, 0, EIO, 100);
  for (int i = 0; i < 100; ++i) {
    if (i < 3) {
      ASSERT_EQ(log.add_next(), Status::kOk);
    }
    ASSERT_EQ(log->commit(), Status::kIoError);
  }
  EXPECT_EQ(log->durable_frames(), 2U);
  ASSERT_EQ(log->commit(), Status::kOk);
  EXPECT_EQ(log->durable_frames(), 5U);
  const ReadLog read(recording, 0);
  EXPECT_TRUE(read.good()) << read.error.sentence;
  EXPECT_EQ(read.end, 5U);
}

// The disk is full, read-only or failing while the log is made: it says which, and can be made
// later.
TEST_F(LogDamageTest, CreationThatFailsCanBeTriedAgain) {
  for (const int error : {EIO, ENOSPC, EROFS}) {
    for (const Call call :
         {Call::kOpen, Call::kWrite, Call::kSync, Call::kRename, Call::kSyncFolder}) {
      for (std::uint64_t n = 0;; ++n) {
        RecordingFolder recording;
        FaultyFolder faulty(recording);
        faulty.fail(call, n, error);
        const Error why = create_small_log(faulty);
        if (ok(why.status)) {
          ASSERT_GT(n, 1U);
          break;
        }
        ASSERT_EQ(why.number, error) << why.sentence;
        ASSERT_EQ(why.status, error == EROFS ? Status::kNotPermitted : Status::kIoError);
        faulty.heal();
        if (!read_log_identity(faulty).ok()) {
          ASSERT_EQ(create_small_log(faulty).status, Status::kOk);
        }
        ASSERT_TRUE(OpenWriter(faulty).ok());
      }
    }
  }
}

TEST_F(LogDamageTest, ReadingThatFailsIsAnErrorAndNoEnd) {
  FaultyFolder faulty(folder_);
  ASSERT_TRUE(ReadLog(faulty, 0).good());
  const std::uint64_t reads = faulty.calls(Call::kRead);
  for (std::uint64_t n = 0; n < reads; ++n) {
    faulty.fail(Call::kRead, n, EIO);
    const ReadLog read(faulty, 0);
    ASSERT_EQ(read.error.status, Status::kIoError) << n;
    ASSERT_EQ(read.error.number, EIO) << n;
    ASSERT_TRUE(read.right);
  }
  faulty.heal();
  faulty.calls(Call::kRead) = 0;
  ASSERT_TRUE(OpenWriter(faulty).ok());
  const std::uint64_t opening = faulty.calls(Call::kRead);
  for (std::uint64_t n = 0; n < opening; ++n) {
    faulty.fail(Call::kRead, n, EIO);
    ASSERT_EQ(OpenWriter(faulty).log.status(), Status::kIoError) << n;
  }
}

}  // namespace
}  // namespace windhover
