#include "windhover/io/durable/checkpoint_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/long_tests.h"

namespace windhover {
namespace {

using testing::Call;
using testing::FaultyFolder;
using testing::RecordingFolder;

using Bytes = std::vector<std::byte>;

Bytes body_of(std::uint64_t n) {
  Bytes body(n % 5 == 0 ? 0 : 1000 * (n % 11) + n % 100);
  for (std::size_t i = 0; i < body.size(); ++i)
    body[i] = static_cast<std::byte>(i * 13 + i / 255 + n);
  return body;
}

CheckpointFacts facts_of(std::uint64_t n) {
  return {.instance = 5, .frames = 10 * n, .head = 100 * n, .fingerprint = 6, .time_ns = -7};
}

// Writes a checkpoint in pieces of odd sizes.
Status put(CheckpointStore& store, std::uint64_t n) {
  const Bytes body = body_of(n);
  if (const Status status = store.begin(facts_of(n)); !ok(status)) return status;
  for (std::size_t at = 0, piece = 1; at < body.size(); at += piece, piece = piece * 3 % 5000 + 1) {
    (void)store.sink().write(std::span(body).subspan(at, std::min(piece, body.size() - at)));
  }
  return store.finish();
}

class CheckpointStoreTest : public ::testing::Test {
 protected:
  CheckpointStore open(Folder& folder) { return CheckpointStore::open(folder, buffer_).value(); }

  // The number of the newest checkpoint, checked by its body too; 0 when it is none of ours.
  std::uint64_t newest(CheckpointStore& store) {
    Result<CheckpointReader> opened = store.open_newest();
    if (!opened.ok()) return 0;
    CheckpointReader& reader = opened.value();
    const std::uint64_t n = reader.facts().frames / 10;
    const Bytes expected = body_of(n);
    const CheckpointFacts& facts = reader.facts();
    if (facts.instance != 5 || facts.head != 100 * n || facts.fingerprint != 6 ||
        facts.time_ns != -7 || facts.body_bytes != expected.size()) {
      return 0;
    }
    Bytes body(expected.size());
    for (std::size_t at = 0, piece = 1; at < body.size();
         at += piece, piece = piece * 7 % 6000 + 1) {
      if (!ok(reader.read(std::span(body).subspan(at, std::min(piece, body.size() - at)))))
        return 0;
    }
    std::byte more{};
    if (reader.left() != 0 || reader.read(std::span(&more, 1)) != Status::kClosed) return 0;
    return body == expected ? n : 0;
  }

  RecordingFolder folder_;
  Bytes buffer_{Bytes(4096)};
};

TEST_F(CheckpointStoreTest, HasNoneAtFirst) {
  CheckpointStore store = open(folder_);
  EXPECT_EQ(store.open_newest().status(), Status::kUnavailable);
  EXPECT_EQ(store.open_newest().error().number, 0);
  EXPECT_TRUE(store.entries().empty());
  EXPECT_EQ(store.frames_needed(), 0U);
  EXPECT_EQ(store.finish(), Status::kNotReady);
  EXPECT_EQ(store.sink().write(buffer_), Status::kNotReady);
}

TEST_F(CheckpointStoreTest, KeepsTheNewestTwo) {
  for (std::uint64_t n = 1; n <= 12; ++n) {
    CheckpointStore store = open(folder_);
    ASSERT_EQ(put(store, n), Status::kOk);
    ASSERT_EQ(newest(store), n);
    ASSERT_EQ(store.entries().size(), std::min<std::uint64_t>(n, 2));
    ASSERT_EQ(store.entries().back().facts.head, 100 * n);
    ASSERT_EQ(store.frames_needed(), 10 * std::max<std::uint64_t>(n - 1, 1));
    ASSERT_EQ(folder_.names().size(), std::min<std::uint64_t>(n, 2));
  }
  CheckpointStore store = open(folder_);
  EXPECT_EQ(newest(store), 12U);
  EXPECT_EQ(store.frames_needed(), 110U);
  EXPECT_EQ(folder_.names(),
            (std::vector<std::string>{"checkpoint-000000000011", "checkpoint-000000000012"}));
}

TEST_F(CheckpointStoreTest, LastNumberIsRefusedAndNothingIsTakenAway) {
  CheckpointStore store = open(folder_);
  ASSERT_EQ(put(store, 1), Status::kOk);
  folder_.set_contents("checkpoint-999999999999", folder_.contents("checkpoint-000000000001"));
  const Result<CheckpointStore> again = CheckpointStore::open(folder_, buffer_);
  EXPECT_EQ(again.status(), Status::kRefused);
  EXPECT_EQ(folder_.names().size(), 2U);
}

TEST_F(CheckpointStoreTest, NeedsABufferAndIgnoresOtherFiles) {
  EXPECT_EQ(CheckpointStore::open(folder_, std::span(buffer_).first(4095)).status(),
            Status::kArenaTooSmall);
  for (const char* name : {"identity", "checkpoint-12", "checkpoint-00000000001x", "lock"}) {
    folder_.set_contents(name, Bytes(10));
  }
  folder_.set_contents("checkpoint.new", Bytes(10));
  EXPECT_TRUE(open(folder_).entries().empty());
  EXPECT_FALSE(folder_.has("checkpoint.new"));
  EXPECT_TRUE(folder_.has("checkpoint-12"));
}

TEST_F(CheckpointStoreTest, GivenUpOneLeavesNothing) {
  CheckpointStore store = open(folder_);
  ASSERT_EQ(put(store, 1), Status::kOk);
  ASSERT_EQ(store.begin(facts_of(2)), Status::kOk);
  ASSERT_EQ(store.sink().write(buffer_), Status::kOk);
  store.give_up();
  EXPECT_EQ(folder_.names().size(), 1U);
  EXPECT_EQ(store.finish(), Status::kNotReady);
  EXPECT_EQ(newest(store), 1U);
  EXPECT_EQ(folder_.open_files(), 0U);
}

// Another byte anywhere, or an end anywhere, and the one before is used, and it is said why.
TEST_F(CheckpointStoreTest, EveryFlippedByteAndEveryPrefixFallsBackToTheOneBefore) {
  CheckpointStore store = open(folder_);
  ASSERT_EQ(put(store, 1), Status::kOk);
  ASSERT_EQ(put(store, 2), Status::kOk);
  const std::string name = "checkpoint-000000000002";
  const Bytes good = folder_.contents(name);
  ASSERT_GT(good.size(), 2000U);
  const auto falls_back = [&](const Bytes& bad) {
    folder_.set_contents(name, bad);
    CheckpointStore again = open(folder_);
    const std::uint64_t used = newest(again);
    const CheckpointStore::Entry& entry = again.entries().back();
    return used == 1 && again.entries().size() == 2 && !ok(entry.why.status) &&
           (entry.bad || entry.why.status == Status::kUnsupported);
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= static_cast<std::byte>(1U << (at % 8));
    ASSERT_TRUE(falls_back(bad)) << at;
    ASSERT_TRUE(falls_back({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)})) << at;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  ASSERT_TRUE(falls_back(longer));
}

TEST_F(CheckpointStoreTest, ADamagedOneIsNotWhatIsKept) {
  CheckpointStore store = open(folder_);
  ASSERT_EQ(put(store, 1), Status::kOk);
  ASSERT_EQ(put(store, 2), Status::kOk);
  Bytes bad = folder_.contents("checkpoint-000000000002");
  bad[100] ^= std::byte{1};
  folder_.set_contents("checkpoint-000000000002", bad);
  CheckpointStore again = open(folder_);
  ASSERT_EQ(newest(again), 1U);
  EXPECT_EQ(again.frames_needed(), 10U);
  ASSERT_EQ(put(again, 3), Status::kOk);
  EXPECT_EQ(folder_.names(),
            (std::vector<std::string>{"checkpoint-000000000001", "checkpoint-000000000003"}));
  EXPECT_EQ(again.frames_needed(), 10U);
}

TEST_F(CheckpointStoreTest, ALaterVersionIsNamedAndKept) {
  CheckpointStore store = open(folder_);
  ASSERT_EQ(put(store, 1), Status::kOk);
  Bytes later = folder_.contents("checkpoint-000000000001");
  later[8] = std::byte{3};  // 2 has the producers' owners
  folder_.set_contents("checkpoint-000000000001", later);
  CheckpointStore again = open(folder_);
  EXPECT_EQ(again.open_newest().status(), Status::kUnavailable);
  EXPECT_EQ(again.entries()[0].why.status, Status::kUnsupported);
  EXPECT_EQ(again.entries()[0].why.number, 3);
  ASSERT_EQ(put(again, 2), Status::kOk);
  EXPECT_TRUE(folder_.has("checkpoint-000000000001"));
}

// Each call fails once, with each error: it is said, and the one before stays in use.
TEST_F(CheckpointStoreTest, AFailureOfEachCallLosesNothing) {
  for (const int error : {EIO, ENOSPC, EROFS}) {
    for (const Call call :
         {Call::kOpen, Call::kWrite, Call::kSync, Call::kRename, Call::kSyncFolder}) {
      for (std::uint64_t n = 0;; ++n) {
        RecordingFolder recording;
        FaultyFolder faulty(recording);
        CheckpointStore store = open(faulty);
        ASSERT_EQ(put(store, 1), Status::kOk);
        ASSERT_EQ(put(store, 2), Status::kOk);
        faulty.fail(call, n, error);
        const Status status = put(store, 9);
        if (ok(status)) {
          ASSERT_GT(n, 0U);
          break;
        }
        ASSERT_EQ(store.error().status, status);
        ASSERT_EQ(store.error().number, error);
        ASSERT_EQ(newest(store), 2U);
        ASSERT_EQ(recording.names().size(), 2U);
        ASSERT_EQ(recording.open_files(), 0U);
        ASSERT_EQ(put(store, 4), Status::kOk);
        ASSERT_EQ(newest(store), 4U);
      }
    }
  }
}

TEST_F(CheckpointStoreTest, ShortTransfersAreMade) {
  FaultyFolder faulty(folder_);
  faulty.fault(Call::kWrite) = {0, 10'000, EIO, true};
  faulty.fault(Call::kRead) = {0, 10'000, EIO, true};
  CheckpointStore store = open(faulty);
  ASSERT_EQ(put(store, 9), Status::kOk);
  EXPECT_EQ(newest(store), 9U);
}

TEST_F(CheckpointStoreTest, AnOldOneThatCannotBeRemovedIsRemovedLater) {
  FaultyFolder faulty(folder_);
  CheckpointStore store = open(faulty);
  ASSERT_EQ(put(store, 1), Status::kOk);
  ASSERT_EQ(put(store, 2), Status::kOk);
  faulty.fail(Call::kRemove, 0, EIO);
  ASSERT_EQ(put(store, 3), Status::kOk);
  EXPECT_EQ(store.entries().size(), 3U);
  ASSERT_EQ(put(store, 4), Status::kOk);
  EXPECT_EQ(store.entries().size(), 2U);
  EXPECT_EQ(folder_.names().size(), 2U);
}

TEST_F(CheckpointStoreTest, ReadingThatFailsIsNoDamage) {
  FaultyFolder faulty(folder_);
  CheckpointStore store = open(faulty);
  ASSERT_EQ(put(store, 1), Status::kOk);
  faulty.fail(Call::kRead, 0, EIO, 100);
  EXPECT_EQ(store.open_newest().status(), Status::kUnavailable);
  EXPECT_EQ(store.entries()[0].why.status, Status::kIoError);
  EXPECT_FALSE(store.entries()[0].bad);
  faulty.heal();
  EXPECT_EQ(newest(store), 1U);
}

// Power cuts and kills at any change of the disk: the newest that was finished is there, or one
// that was about to be; never less than two once two were.
void cut_checkpoints(std::uint64_t lives, std::uint64_t cuts_each) {
  std::uint64_t finished_in_all = 0;
  Bytes buffer(4096);
  for (std::uint64_t life = 0; life < lives; ++life) {
    std::mt19937_64 random(life);
    RecordingFolder recording;
    FaultyFolder faulty(recording);
    std::uint64_t finished = 0;
    std::uint64_t begun = 0;
    for (std::uint64_t cut = 0; cut < cuts_each; ++cut) {
      recording.stop_after(recording.changes() + random() % 25);
      if (random() % 3 == 0) faulty.fail(Call::kSync, random() % 3, EIO);
      if (random() % 3 == 0) faulty.fail(Call::kSyncFolder, random() % 3, EIO);
      Result<CheckpointStore> opened = CheckpointStore::open(faulty, buffer);
      for (int i = 0; i < 5 && opened.ok(); ++i) {
        if (ok(put(opened.value(), ++begun))) {
          finished = begun;
          ++finished_in_all;
        }
      }
      faulty.heal();
      random() % 3 == 0 ? recording.kill_process() : recording.cut_power(random);
      Result<CheckpointStore> again = CheckpointStore::open(recording, buffer);
      ASSERT_TRUE(again.ok());
      if (finished == 0) continue;
      const Result<CheckpointReader> reader = again.value().open_newest();
      ASSERT_TRUE(reader.ok()) << life << " " << cut;
      const std::uint64_t n = reader.value().facts().frames / 10;
      ASSERT_GE(n, finished) << life << " " << cut;
      ASSERT_LE(n, begun);
      for (const CheckpointStore::Entry& entry : again.value().entries()) {
        ASSERT_TRUE(again.value().open_one(entry.number).ok());  // none is ever half there
      }
      finished = n;
    }
  }
  EXPECT_GT(finished_in_all, lives * cuts_each / 2);
}

TEST(CheckpointPower, NothingFinishedIsLostBySomeCuts) { cut_checkpoints(20, 25); }

TEST(CheckpointPower, NothingFinishedIsLostByTenThousandCuts) {
  WINDHOVER_SKIP_UNLESS_LONG();
  cut_checkpoints(400, 25);
}

}  // namespace
}  // namespace windhover
