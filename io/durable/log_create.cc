// Creates a log: everything is on disk before the identity says that the log is ready.
#include <algorithm>
#include <cerrno>

#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/log_writer.h"

namespace windhover {
namespace {

Error creation_failed(std::int64_t result) noexcept {
  if (result == -ENOSPC || result == -EDQUOT) {
    return error_of(result, "the disk has no room for log.bytes");
  }
  return error_of(result, "a segment of the log cannot be written");
}

// Whether a segment seems to hold frames, which would be written over.
Result<bool> frames_without_identity(Folder& folder, std::span<std::byte> scratch) noexcept {
  const auto block = scratch.first(kCommitHeaderBytes);
  for (std::size_t i = 0; i < kMaxLogSegments; ++i) {
    Result<File> opened = File::open(folder, SegmentName(i).text.data(), OpenFile::kRead,
                                     "a segment of the log cannot be opened");
    if (opened.status() == Status::kUnavailable) continue;
    if (!opened.ok()) return opened.error();
    const Status read = opened.value().read(0, block);
    if (read != Status::kOk && read != Status::kClosed) {
      return error_of(-opened.value().error_number(), "a segment of the log cannot be read");
    }
    if (read == Status::kOk && looks_like_commit(block)) return true;
  }
  return false;
}

Error may_create(Folder& folder, bool replace, std::span<std::byte> scratch) noexcept {
  LogState state{};
  const Result<LogIdentity> old = read_identity(folder, state);
  if (replace) return {};
  if (old.ok()) {
    return state == LogState::kCreating ? Error{}
                                        : Error{Status::kRefused, "there is a log already", 0};
  }
  if (old.status() != Status::kUnavailable) return old.error();
  const Result<bool> frames = frames_without_identity(folder, scratch);
  if (!frames.ok()) return frames.error();
  if (!frames.value()) return {};
  return {Status::kRefused, "the log's segments hold frames, but its identity is missing", 0};
}

// The most bytes of a write: a kernel built without preemption runs each to its end, however long
// other threads wait for the processor.
constexpr std::uint64_t kMostAWrite = 64 << 10;

// Writes zeros: if the extents were only reserved, the first commit there would turn them into
// written ones, and its fdatasync would wait for the file system's journal.
Error make_segment(Folder& folder, std::size_t index, const LogIdentity& identity,
                   std::span<std::byte> scratch) noexcept {
  Result<File> opened = File::open(folder, SegmentName(index).text.data(), OpenFile::kCreate,
                                   "a segment of the log cannot be made");
  if (!opened.ok()) return opened.error();
  File& file = opened.value();
  std::fill(scratch.begin(), scratch.end(), std::byte{0});
  const std::uint64_t size = identity.options.segment_bytes;
  const std::uint64_t most = std::min<std::uint64_t>(scratch.size(), kMostAWrite);
  for (std::uint64_t at = 0; at < size; at += most) {
    const auto piece = scratch.first(std::min<std::uint64_t>(most, size - at));
    if (!ok(file.write(at, piece))) return creation_failed(-file.error_number());
  }
  const auto stamp = scratch.first(kLogBlock);
  encode(CommitHeader{}, identity, stamp);
  if (!ok(file.write(0, stamp)) || !ok(file.sync())) return creation_failed(-file.error_number());
  return {};
}

}  // namespace

Error LogWriter::create(Folder& folder, const LogIdentity& identity, bool replace,
                        std::span<std::byte> scratch) noexcept {
  if (Error wrong = check(identity.options); !ok(wrong.status)) return wrong;
  if (scratch.size() < kLogBlock || scratch.size() % kLogBlock != 0) {
    return {Status::kInvalidArgument, "scratch must be a multiple of 4096 bytes", 0};
  }
  if (Error refused = may_create(folder, replace, scratch); !ok(refused.status)) return refused;
  Error error = write_identity(folder, identity, LogState::kCreating);
  for (std::size_t i = 0; i < identity.options.segments() && ok(error.status); ++i) {
    error = make_segment(folder, i, identity, scratch);
  }
  if (!ok(error.status)) return error;
  for (std::size_t i = identity.options.segments(); i < kMaxLogSegments; ++i) {
    const std::int64_t removed = folder.remove_file(SegmentName(i).text.data());
    if (removed < 0 && removed != -ENOENT) {
      return error_of(removed, "a segment of an older log cannot be removed");
    }
  }
  if (const std::int64_t synced = folder.sync_folder(); synced < 0) return creation_failed(synced);
  return write_identity(folder, identity, LogState::kReady);
}

}  // namespace windhover
