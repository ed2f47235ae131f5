#include "windhover/io/durable/log_reader.h"

namespace windhover {
namespace {

constexpr const char* kUnreadableSegment = "a segment of the log cannot be read";

}  // namespace

LogReader::LogReader(const LogIdentity& identity, Arena& arena) noexcept
    : identity_(identity),
      segments_(identity, arena),
      buffer_(arena.allocate<std::byte>(identity.options.commit_bytes)),
      frame_(identity.first_frame) {}

std::size_t LogReader::footprint(const LogOptions& options) noexcept {
  Arena arena = Arena::measuring();
  const LogReader reader(LogIdentity{.options = options}, arena);
  return arena.used();
}

Result<LogReader> LogReader::open(Folder& folder, std::uint64_t from, Arena& arena,
                                  std::size_t* segment) noexcept {
  if (segment != nullptr) *segment = kNoSegment;
  const Result<LogIdentity> identity = read_log_identity(folder);
  if (!identity.ok()) return identity.error();
  LogReader reader(identity.value(), arena);
  if (arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "reading the log needs more memory",
                 static_cast<double>(arena.used())};
  }
  Error error = reader.segments_.open(folder, OpenFile::kRead, reader.current_);
  if (ok(error.status) && !ok(reader.segments_.drop_torn_uses(reader.buffer_, reader.current_))) {
    error = error_of(-reader.segments_[reader.current_].file.error_number(), kUnreadableSegment);
  }
  if (ok(error.status)) error = reader.seek(from);
  if (ok(error.status)) return reader;
  if (segment != nullptr) *segment = reader.current_;
  return error;
}

// Finds the newest use that begins at `from` or before, and reads in it up to `from`.
Error LogReader::seek(std::uint64_t from) noexcept {
  current_ = kNoSegment;
  const std::size_t oldest = segments_.after(0);
  std::uint64_t begin = oldest == kNoSegment ? identity_.first_frame : segments_[oldest].first;
  for (std::size_t i = oldest; i != kNoSegment && segments_[i].first <= from;
       i = segments_.after(segments_[i].ordinal)) {
    // Of uses that begin with the same frame only the newest holds it: the others failed there.
    current_ = i;
    begin = segments_[i].first;
  }
  if (from < begin) {
    return {Status::kUnavailable, "the log does not go back to that frame",
            static_cast<double>(begin)};
  }
  frame_ = begin;
  while (frame_ < from) {
    LoggedFrame frame;
    std::span<const std::byte> payload;
    const Status status = next(frame, payload);
    if (status == Status::kClosed) {
      return {Status::kUnavailable, "the log ends before that frame", static_cast<double>(frame_)};
    }
    if (!ok(status)) return error_;
  }
  return {};
}

Status LogReader::fail(const Error& error) noexcept {
  error_ = error;
  return error.status;
}

Status LogReader::next(LoggedFrame& frame, std::span<const std::byte>& payload) noexcept {
  if (!ok(error_.status)) return error_.status;
  if (in_commit_ == 0) {
    if (const Status status = load(); !ok(status)) return status;
  }
  if (!take_record(rest_, frame, payload)) {
    return fail({Status::kMalformed, "a commit of the log has another form than it says",
                 static_cast<double>(commit_)});
  }
  --in_commit_;
  frame.number = frame_++;
  return Status::kOk;
}

// Reads the commit that begins with frame_.
Status LogReader::load() noexcept {
  if (current_ == kNoSegment) return at_end();
  std::size_t following = segments_.after(segments_[current_].ordinal);
  while (following != kNoSegment && segments_[following].first == frame_) {
    current_ = following;
    offset_ = 0;
    following = segments_.after(segments_[current_].ordinal);
  }
  CommitHeader header;
  const Status read =
      segments_.read_commit(current_, segments_[current_].ordinal, offset_, buffer_, header);
  if (ok(read)) {
    if (header.first_frame != frame_ ||
        (following != kNoSegment &&
         header.first_frame + header.frames > segments_[following].first)) {
      return fail({Status::kMalformed, "the log has a commit that does not follow the one before",
                   static_cast<double>(offset_)});
    }
    rest_ = buffer_.subspan(kCommitHeaderBytes, header.body_bytes);
    in_commit_ = header.frames;
    commit_ = offset_;
    offset_ += header.bytes();
    return Status::kOk;
  }
  if (read != Status::kClosed) {
    return fail(error_of(-segments_[current_].file.error_number(), kUnreadableSegment));
  }
  if (following != kNoSegment) {
    return fail({Status::kMalformed, "the log is damaged: frames are missing from here on",
                 static_cast<double>(offset_)});
  }
  return at_end();
}

Status LogReader::at_end() noexcept {
  std::size_t index = 0;
  std::uint64_t offset = offset_;
  switch (segments_.check_end(current_, frame_, buffer_, index, offset)) {
    case Status::kClosed:
      return fail({Status::kClosed, "the log ends here", static_cast<double>(offset_)});
    case Status::kMalformed:
      current_ = index;
      return fail({Status::kMalformed, "the log is damaged before commits that are good",
                   static_cast<double>(offset)});
    default:
      current_ = index;
      return fail(error_of(-segments_[index].file.error_number(), kUnreadableSegment));
  }
}

}  // namespace windhover
