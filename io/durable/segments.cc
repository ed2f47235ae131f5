#include "windhover/io/durable/segments.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace windhover {

SegmentSet::SegmentSet(const LogIdentity& identity, Arena& arena) noexcept
    : identity_(identity), segments_(arena.make_array<Segment>(identity.options.segments())) {}

SegmentSet::SegmentSet(SegmentSet&& other) noexcept
    : identity_(other.identity_),
      segments_(std::exchange(other.segments_, {})),
      queued_(other.queued_) {}

SegmentSet::~SegmentSet() {
  // A measuring arena gives a span without memory.
  if (segments_.data() != nullptr) std::destroy(segments_.begin(), segments_.end());
}

Error SegmentSet::open(Folder& folder, OpenFile how, std::size_t& index) noexcept {
  std::array<std::byte, kCommitHeaderBytes> bytes;
  for (index = 0; index < segments_.size(); ++index) {
    Segment& segment = segments_[index];
    Result<File> opened = File::open(folder, SegmentName(index).text.data(), how,
                                     "a segment of the log cannot be opened");
    if (!opened.ok()) return opened.error();
    segment.file = std::move(opened).value();
    const Result<std::uint64_t> size = segment.file.size();
    if (!size.ok()) return size.error();
    if (size.value() != identity_.options.segment_bytes) {
      return {Status::kMalformed,
              "a segment of the log has another size than it was made with; its size is",
              static_cast<double>(size.value())};
    }
    if (!windhover::ok(segment.file.read(0, bytes))) {
      return error_of(-segment.file.error_number(), "a segment of the log cannot be read");
    }
    CommitHeader header;
    if (!decode(bytes, identity_, header) || header.offset != 0) continue;
    segment.state = header.ordinal == 0 ? Segment::State::kEmpty : Segment::State::kUsed;
    segment.ordinal = header.ordinal;
    segment.first = header.first_frame;
    segment.end = header.first_frame;
  }
  return {};
}

std::size_t SegmentSet::after(std::uint64_t ordinal) const noexcept {
  std::size_t best = kNoSegment;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (s.state != Segment::State::kUsed || s.ordinal <= ordinal) continue;
    if (best == kNoSegment || s.ordinal < segments_[best].ordinal) best = i;
  }
  return best;
}

std::size_t SegmentSet::before(std::uint64_t ordinal) const noexcept {
  std::size_t best = kNoSegment;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (s.state != Segment::State::kUsed || s.ordinal >= ordinal) continue;
    if (best == kNoSegment || s.ordinal > segments_[best].ordinal) best = i;
  }
  return best;
}

Status SegmentSet::read_commit(std::size_t index, std::uint64_t ordinal, std::uint64_t offset,
                               std::span<std::byte> buffer, CommitHeader& header) noexcept {
  if (offset + kLogBlock > identity_.options.segment_bytes) return Status::kClosed;
  File& file = segments_[index].file;
  const auto first = buffer.first(kLogBlock);
  if (const Status read = file.read(offset, first); !ok(read)) return read;
  CommitHeader found;
  if (!decode(first, identity_, found) || found.offset != offset || found.ordinal != ordinal ||
      found.frames == 0) {
    return Status::kClosed;
  }
  const auto rest = buffer.first(found.bytes()).subspan(kLogBlock);
  if (const Status read = file.read(offset + kLogBlock, rest); !ok(read)) return read;
  const auto body = buffer.subspan(kCommitHeaderBytes, found.body_bytes);
  if (body_checksum(identity_, body) != found.body_checksum) return Status::kClosed;
  header = found;
  return Status::kOk;
}

Status SegmentSet::find_commit(std::size_t index, std::uint64_t offset, std::uint64_t least,
                               std::span<std::byte> buffer, CommitHeader& found) noexcept {
  const std::uint64_t end = identity_.options.segment_bytes;
  while (offset < end) {
    const auto piece = buffer.first(std::min<std::uint64_t>(buffer.size(), end - offset));
    if (const Status read = segments_[index].file.read(offset, piece); !ok(read)) return read;
    CommitHeader header;
    std::size_t at = 0;
    for (; at < piece.size(); at += kLogBlock) {
      if (decode(piece.subspan(at), identity_, header) && header.offset == offset + at &&
          header.ordinal >= least) {
        break;
      }
    }
    offset += at;
    if (at == piece.size()) continue;
    if (header.is_seal()) {
      found = header;
      return Status::kOk;
    }
    const Status read = read_commit(index, header.ordinal, offset, buffer, found);
    if (read != Status::kClosed) return read;
    offset += kLogBlock;
  }
  return Status::kClosed;
}

Status SegmentSet::drop_torn_uses(std::span<std::byte> buffer, std::size_t& index) noexcept {
  CommitHeader header;
  for (index = before(UINT64_MAX); index != kNoSegment; index = before(UINT64_MAX)) {
    const Status read = read_commit(index, segments_[index].ordinal, 0, buffer, header);
    if (read != Status::kClosed) return read;
    segments_[index].state = Segment::State::kUnknown;
  }
  return Status::kOk;
}

Status SegmentSet::check_end(std::size_t last, std::uint64_t frames, std::span<std::byte> buffer,
                             std::size_t& index, std::uint64_t& offset) noexcept {
  const std::uint64_t ordinal = last == kNoSegment ? 0 : segments_[last].ordinal;
  CommitHeader found;
  for (index = 0; index < segments_.size(); ++index) {
    const Segment& segment = segments_[index];
    if (index != last && segment.state != Segment::State::kUnknown) continue;
    const std::uint64_t from = index == last ? offset : 0;
    const std::uint64_t least = index == last ? ordinal : ordinal + 1;
    Status read = find_commit(index, from, least, buffer, found);
    // This is the log's own seal: only what lies behind it could contradict it.
    if (ok(read) && index == last && found.is_seal() && found.offset == from &&
        found.first_frame == frames) {
      read = find_commit(index, from + kLogBlock, least, buffer, found);
    }
    if (read == Status::kClosed) continue;
    if (!ok(read)) return read;
    offset = from;
    return Status::kMalformed;
  }
  return Status::kClosed;
}

Status SegmentSet::find_unfinished(std::size_t last, std::uint64_t offset,
                                   std::span<std::byte> buffer, std::size_t& index) noexcept {
  const std::uint64_t ordinal = last == kNoSegment ? 0 : segments_[last].ordinal;
  const auto block = buffer.first(kLogBlock);
  for (index = 0; index < segments_.size(); ++index) {
    const bool is_last = index == last;
    if (!is_last && segments_[index].state != Segment::State::kUnknown) continue;
    const std::uint64_t from = is_last ? offset : 0;
    if (from + kLogBlock > identity_.options.segment_bytes) continue;
    if (const Status read = segments_[index].file.read(from, block); !ok(read)) return read;
    CommitHeader header;
    if (!decode(block, identity_, header) || header.offset != from || header.is_seal()) continue;
    if (is_last ? header.ordinal == ordinal : header.ordinal > ordinal) return Status::kOk;
  }
  return Status::kClosed;
}

std::size_t SegmentSet::take(std::uint64_t ordinal, std::uint64_t frame) noexcept {
  std::size_t first = kNoSegment;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].queued == 0) continue;
    if (first == kNoSegment || segments_[i].queued < segments_[first].queued) first = i;
  }
  if (first == kNoSegment) return kNoSegment;
  Segment& segment = segments_[first];
  segment.queued = 0;
  segment.state = Segment::State::kUsed;
  segment.ordinal = ordinal;
  segment.first = segment.end = frame;
  return first;
}

std::size_t SegmentSet::queued() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(segments_, [](const Segment& segment) { return segment.queued > 0; }));
}

Error SegmentSet::queue_all(std::uint64_t frames, std::span<std::byte> stamp,
                            std::size_t& index) noexcept {
  std::fill(stamp.begin(), stamp.end(), std::byte{0});
  encode(CommitHeader{}, identity_, stamp);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    Segment& segment = segments_[i];
    if (segment.state == Segment::State::kUsed) {
      const std::size_t next = after(segment.ordinal);
      segment.end = next == kNoSegment ? frames : segments_[next].first;
      if (segment.end == segment.first) let_go(i);
      continue;
    }
    if (segment.state != Segment::State::kEmpty) {
      if (!ok(segment.file.write(0, stamp)) || !ok(segment.file.sync())) {
        index = i;
        return error_of(-segment.file.error_number(), "a torn segment cannot be cleared");
      }
      segment.state = Segment::State::kEmpty;
    }
    let_go(i);
  }
  return {};
}

}  // namespace windhover
