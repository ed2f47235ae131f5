#include "windhover/tools/daemon/new_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace new_model_test {
namespace {

namespace fs = std::filesystem;

PosixFolder made(const std::string& path) {
  fs::create_directories(path);
  return std::move(PosixFolder::open(path.c_str(), false).value());
}

// A model's folder as it is while the model is made, and one file more.
class NewModel : public ::testing::Test {
 protected:
  NewModel() {
    fs::remove_all(path_);
    PosixFolder folder = made(path_);
    identity_.instance = 7;
    identity_.salt = 11;
    identity_.options.bytes = 12 * kLogBlock;
    identity_.options.segment_bytes = 3 * kLogBlock;
    identity_.options.commit_bytes = 2 * kLogBlock;
    EXPECT_EQ(write_identity(folder, identity_, LogState::kCreating).status, Status::kOk);
    write("added.toml.new", "its");
    write("segment-0000", segment_of(CommitHeader{}, identity_));
    EXPECT_FALSE(holds_more_than_a_new_model(path_));
  }
  void write(const std::string& file, const std::string& bytes) {
    std::ofstream(path_ + "/" + file, std::ios::binary) << bytes;
  }
  bool holds_more_with(const std::string& file, const std::string& bytes) {
    write(file, bytes);
    const bool more = holds_more_than_a_new_model(path_);
    fs::remove(path_ + "/" + file);
    return more;
  }
  // A segment that begins with this.
  static std::string segment_of(const CommitHeader& header, const LogIdentity& identity) {
    std::array<std::byte, kCommitHeaderBytes> bytes{};
    encode(header, identity, bytes);
    std::string segment(3 * kLogBlock, '\0');
    std::memcpy(segment.data(), bytes.data(), bytes.size());
    return segment;
  }

  const std::string path_ = testing::temporary_path("new_model");
  LogIdentity identity_;
};

TEST_F(NewModel, HoldsNothingThatWasLearned) {
  EXPECT_FALSE(holds_more_than_a_new_model(path_ + "/none"));
  EXPECT_FALSE(holds_more_with("segment-0001", segment_of({}, identity_)));
  EXPECT_FALSE(holds_more_with("segment-0001", std::string(200'000, '\0')));
  EXPECT_FALSE(holds_more_with("segment-0001", ""));
  EXPECT_FALSE(holds_more_with("lock", ""));
  EXPECT_FALSE(holds_more_with("checkpoint.new", "half"));
}

// Found from outside: a folder of rows was deleted because the first byte of its log was damaged.
TEST_F(NewModel, ASegmentThatIsNotAllZerosMayHoldRows) {
  std::string commit = segment_of({.ordinal = 1, .frames = 1}, identity_);
  EXPECT_TRUE(holds_more_with("segment-0001", commit));
  commit[0] = '\0';
  EXPECT_TRUE(holds_more_with("segment-0001", commit));
  std::string last(200'000, '\0');
  last.back() = 'x';
  EXPECT_TRUE(holds_more_with("segment-0001", last));
  std::string behind = segment_of({}, identity_);
  behind[kCommitHeaderBytes] = 'x';
  EXPECT_TRUE(holds_more_with("segment-0001", behind));
  EXPECT_TRUE(holds_more_with("segment-0001", segment_of({}, LogIdentity{}))) << "another log's";
  fs::remove(path_ + "/identity");
  EXPECT_TRUE(holds_more_than_a_new_model(path_)) << "nobody knows whose the stamp is";
}

// The bytes of one of so many rows, with nothing in it.
std::string checkpoint_of(std::uint64_t head) {
  const std::string path = testing::temporary_path("checkpoint_of");
  PosixFolder folder = made(path);
  std::array<std::byte, kMinCheckpointBuffer> buffer{};
  CheckpointWriter writer(buffer);
  EXPECT_EQ(writer.begin(folder, "checkpoint", {.head = head}), Status::kOk);
  EXPECT_EQ(writer.finish(), Status::kOk);
  std::ifstream in(path + "/checkpoint", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(NewModel, CheckpointsOfRowsAndFilesOfOthersMayBeAnything) {
  const std::string checkpoint = "checkpoint-000000000001";
  EXPECT_FALSE(holds_more_with(checkpoint, checkpoint_of(0)));
  EXPECT_TRUE(holds_more_with(checkpoint, checkpoint_of(1)));
  EXPECT_TRUE(holds_more_with(checkpoint, "")) << "which nobody can read";
  EXPECT_TRUE(holds_more_with("notes", ""));
  fs::create_directory(path_ + "/segment-0002");
  EXPECT_TRUE(holds_more_than_a_new_model(path_));
}

}  // namespace
}  // namespace new_model_test
}  // namespace windhover
