#include "windhover/io/durable/log_writer.h"

#include <algorithm>

namespace windhover {
namespace {

constexpr const char* kUnsealed = "the log's end cannot be marked";

// Behind every commit there is room for a seal, except behind one that fills a segment alone.
bool fits(const LogOptions& options, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint64_t room = options.segment_bytes - offset;
  return offset == 0 ? bytes <= room : bytes + kLogBlock <= room;
}

}  // namespace

LogWriter::LogWriter(const LogIdentity& identity, Arena& arena) noexcept
    : identity_(identity),
      segments_(identity, arena),
      buffer_(arena.allocate<std::byte>(identity.options.commit_bytes)) {}

std::size_t LogWriter::footprint(const LogOptions& options) noexcept {
  Arena arena = Arena::measuring();
  const LogWriter writer(LogIdentity{.options = options}, arena);
  return arena.used();
}

std::size_t LogWriter::max_payload() const noexcept {
  return buffer_.size() - kCommitHeaderBytes - kRecordHeaderBytes;
}

Status LogWriter::add(const LoggedFrame& frame, std::size_t payload_bytes,
                      std::span<std::byte>& room) noexcept {
  room = {};
  if (frame.number != next_frame_ || frame.head != next_head_) return Status::kInvalidArgument;
  if (payload_bytes > max_payload()) return Status::kTooLarge;
  const std::size_t at = filled_ == 0 ? kCommitHeaderBytes : filled_;
  const std::uint64_t bytes = record_bytes(payload_bytes);
  if (bytes > buffer_.size() - at) return Status::kNotReady;
  encode(frame, payload_bytes, &buffer_[at]);
  room = buffer_.subspan(at + kRecordHeaderBytes, payload_bytes);
  // The padding is written and checksummed too.
  const auto padding = buffer_.subspan(at, bytes).subspan(kRecordHeaderBytes + payload_bytes);
  std::fill(padding.begin(), padding.end(), std::byte{0});
  filled_ = at + bytes;
  ++next_frame_;
  next_head_ += frame.accepted;
  return Status::kOk;
}

Status LogWriter::commit() noexcept {
  if (filled_ == 0) return Status::kOk;
  CommitHeader header;
  header.body_bytes = filled_ - kCommitHeaderBytes;
  const std::uint64_t bytes = header.bytes();
  if (current_ == kNoSegment || !fits(identity_.options, offset_, bytes)) {
    current_ = kNoSegment;
    if (const Status moved = move_to_fresh_segment(); !ok(moved)) return moved;
  }
  Segment& segment = segments_[current_];
  header.ordinal = segment.ordinal;
  header.offset = offset_;
  header.first_frame = durable_frames_;
  header.frames = next_frame_ - durable_frames_;
  header.body_checksum =
      body_checksum(identity_, buffer_.subspan(kCommitHeaderBytes, header.body_bytes));
  encode(header, identity_, buffer_);
  const auto padding = buffer_.first(bytes).subspan(filled_);
  std::fill(padding.begin(), padding.end(), std::byte{0});
  seal_ = Seal::kNone;
  if (!ok(segment.file.write(offset_, buffer_.first(bytes)))) {
    return leave_segment("a commit cannot be written to the log");
  }
  if (!ok(segment.file.sync())) return leave_segment("a commit cannot be synced to the log");
  offset_ += bytes;
  segment.end = next_frame_;
  durable_frames_ = next_frame_;
  durable_head_ = next_head_;
  filled_ = 0;
  error_ = {};
  return Status::kOk;
}

Status LogWriter::seal() noexcept {
  if (seal_ != Seal::kNone || filled_ > 0 || current_ == kNoSegment ||
      !fits(identity_.options, offset_, 0)) {
    return Status::kOk;
  }
  Segment& segment = segments_[current_];
  const auto block = buffer_.first(kLogBlock);
  std::fill(block.begin(), block.end(), std::byte{0});
  encode(
      CommitHeader{.ordinal = segment.ordinal, .offset = offset_, .first_frame = durable_frames_},
      identity_, block);
  seal_ = Seal::kTried;
  const Status written = segment.file.write(offset_, block);
  if (!ok(written)) error_ = error_of(-segment.file.error_number(), kUnsealed);
  return written;
}

Status LogWriter::seal_durably() noexcept {
  if (seal_ == Seal::kDurable) return Status::kOk;
  seal_ = Seal::kNone;
  if (const Status written = seal(); !ok(written) || seal_ == Seal::kNone) return written;
  File& file = segments_[current_].file;
  const Status synced = file.sync();
  if (ok(synced)) {
    seal_ = Seal::kDurable;
  } else {
    error_ = error_of(-file.error_number(), kUnsealed);
  }
  return synced;
}

// The failed commit may be on disk, whole or torn, now or later. The next segment begins with the
// same frame, and readers go on there.
Status LogWriter::leave_segment(const char* sentence) noexcept {
  Segment& segment = segments_[current_];
  if (offset_ == 0) segments_.let_go(current_);  // it holds nothing: last in the queue
  current_ = kNoSegment;
  error_ = error_of(-segment.file.error_number(), sentence);
  return error_.status;
}

Status LogWriter::move_to_fresh_segment() noexcept {
  current_ = segments_.take(next_ordinal_, durable_frames_);
  if (current_ == kNoSegment) {
    error_ = {Status::kLogFull, "the log is full until a checkpoint lets old frames go",
              static_cast<double>(identity_.options.bytes)};
    return error_.status;
  }
  ++next_ordinal_;
  offset_ = 0;
  return Status::kOk;
}

void LogWriter::release_below(std::uint64_t frame) noexcept {
  // Oldest first, so that what is left is the end of the log without a hole.
  std::uint64_t ordinal = 0;
  std::size_t i = 0;
  while ((i = segments_.after(ordinal)) != kNoSegment) {
    Segment& segment = segments_[i];
    ordinal = segment.ordinal;
    if (segment.queued > 0) continue;
    if (i == current_ || segment.end > frame) return;
    segments_.let_go(i);
  }
}

// Up to commit_bytes at the end of each segment may be too short for the next commit.
std::uint64_t LogWriter::free_bytes() const noexcept {
  const LogOptions& options = identity_.options;
  const std::uint64_t free = segments_.queued();
  // One is kept for a place that fails; what is in the buffer may need one more.
  const std::uint64_t kept = 1 + (pending_frames() > 0 ? 1U : 0U);
  return free > kept ? (free - kept) * (options.segment_bytes - options.commit_bytes) : 0;
}

std::uint64_t LogWriter::frame_bytes(std::uint64_t payload_bytes) noexcept {
  return round_up(kCommitHeaderBytes + record_bytes(payload_bytes), kLogBlock);
}

std::uint64_t LogWriter::used_bytes() const noexcept {
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].queued > 0) continue;
    used += i == current_ ? offset_ : identity_.options.segment_bytes;
  }
  return used;
}

}  // namespace windhover
