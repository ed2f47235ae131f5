// Opens a log: finds where it ends, and makes sure that its end is on disk.
#include <algorithm>

#include "windhover/io/durable/log_writer.h"

namespace windhover {
namespace {

constexpr const char* kUnreadable = "a segment of the log cannot be read";

}  // namespace

Result<LogWriter> LogWriter::open(Folder& folder, Arena& arena, std::size_t* segment) noexcept {
  std::size_t ignored = kNoSegment;
  std::size_t& where = segment != nullptr ? *segment : ignored;
  where = kNoSegment;
  const Result<LogIdentity> identity = read_log_identity(folder);
  if (!identity.ok()) return identity.error();
  LogWriter writer(identity.value(), arena);
  if (arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "the log needs more memory",
                 static_cast<double>(arena.used())};
  }
  // The process that made the log may have been killed before the identity's name was on disk.
  if (const std::int64_t synced = folder.sync_folder(); synced < 0) {
    return error_of(synced, "the log's folder cannot be synced");
  }
  Error error = writer.segments_.open(folder, OpenFile::kWrite, where);
  std::uint64_t last = 0;
  if (ok(error.status)) error = writer.find_end(last, where);
  if (ok(error.status)) error = writer.settle(last, where);
  if (!ok(error.status)) return error;
  return writer;
}

Error LogWriter::find_end(std::uint64_t& last, std::size_t& where) noexcept {
  durable_frames_ = identity_.first_frame;
  durable_head_ = identity_.first_head;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    next_ordinal_ = std::max(next_ordinal_, segments_[i].ordinal + 1);
  }
  if (!ok(segments_.drop_torn_uses(buffer_, where))) {
    return error_of(-segments_[where].file.error_number(), kUnreadable);
  }
  where = current_ = segments_.before(UINT64_MAX);
  Status read = Status::kClosed;
  if (current_ != kNoSegment) {
    Segment& segment = segments_[current_];
    durable_frames_ = segment.first;
    CommitHeader header;
    while (ok(read = segments_.read_commit(current_, segment.ordinal, offset_, buffer_, header))) {
      if (header.first_frame != durable_frames_) {
        return {Status::kMalformed, "the log has a commit that does not follow the one before",
                static_cast<double>(offset_)};
      }
      durable_frames_ += header.frames;
      last = offset_;
      offset_ += header.bytes();
    }
    if (read != Status::kClosed) return error_of(-segment.file.error_number(), kUnreadable);
  }
  std::uint64_t at = offset_;
  switch (segments_.check_end(current_, durable_frames_, buffer_, where, at)) {
    case Status::kClosed:
      read = segments_.find_unfinished(current_, offset_, buffer_, where);
      found_unfinished_ = ok(read);
      if (ok(read) || read == Status::kClosed) return {};
      return error_of(-segments_[where].file.error_number(), kUnreadable);
    case Status::kMalformed:
      return {Status::kMalformed, "the log is damaged before commits that are good",
              static_cast<double>(at)};
    default:
      return error_of(-segments_[where].file.error_number(), kUnreadable);
  }
}

// A commit whose sync failed may look good to a process that starts after the failure, because the
// page cache has it. Only the last can be such a commit: the next one is begun only when its frames
// are durable, here or in another segment. Writing the same bytes again makes its pages dirty
// again, and does no harm if that is torn.
Error LogWriter::settle(std::uint64_t last, std::size_t& where) noexcept {
  CommitHeader header;
  where = current_;
  if (current_ != kNoSegment) {
    File& file = segments_[current_].file;
    const Status read =
        segments_.read_commit(current_, segments_[current_].ordinal, last, buffer_, header);
    if (!ok(read)) return {Status::kIoError, kUnreadable, double(file.error_number()), true};
    auto records =
        std::span<const std::byte>(buffer_).subspan(kCommitHeaderBytes, header.body_bytes);
    LoggedFrame frame;
    std::span<const std::byte> payload;
    for (std::uint64_t i = 0; i < header.frames; ++i) {
      if (!take_record(records, frame, payload)) {
        return {Status::kMalformed, "the log's last commit has another form than it says",
                static_cast<double>(last)};
      }
    }
    durable_head_ = frame.head + frame.accepted;
    if (!ok(file.write(last, buffer_.first(header.bytes()))) || !ok(file.sync())) {
      return error_of(-file.error_number(), "the log's last commit cannot be made durable");
    }
  }
  next_frame_ = durable_frames_;
  next_head_ = durable_head_;
  if (!ok(seal_durably())) return error_;
  return segments_.queue_all(durable_frames_, buffer_.first(kLogBlock), where);
}

}  // namespace windhover
