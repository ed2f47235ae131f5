#ifndef WINDHOVER_IO_DURABLE_LOG_WRITER_H_
#define WINDHOVER_IO_DURABLE_LOG_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/log_options.h"
#include "windhover/io/durable/segments.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Appends frames to the log of a folder, in atomic commits.
//
//   LogWriter log = LogWriter::open(folder, arena).value();
//   std::span<std::byte> room;
//   log.add(frame, bytes, room);  // kNotReady: commit() first
//   ... fill room ...
//   log.commit();                 // kOk: every frame added so far is on disk
//
// One thread. Set-up functions read and write files; add, commit and release_below call no heap.
// The caller holds the folder's lock.
class LogWriter {
 public:
  // Makes the log, or, with `replace`, another one over the folder's, whose frames are then lost.
  // Writes all of options.bytes, so that later a commit can fail by an error of the disk but never
  // for want of room on it, and fdatasync has no metadata to write. If it is interrupted, there is
  // no log (read_log_identity says kUnavailable) and create() may be called again. kOk, or what
  // went wrong. kRefused: there is a log, or segments with frames whose identity is missing.
  // `scratch`: at least kLogBlock bytes, a multiple of it; larger is faster.
  static Error create(Folder& folder, const LogIdentity& identity, bool replace,
                      std::span<std::byte> scratch) noexcept;

  // Memory that open() takes from its arena.
  static std::size_t footprint(const LogOptions& options) noexcept;

  // Opens the log to go on after the last good commit, which is written and synced again first: a
  // process that was killed after a failed sync may have left it in the page cache only. Reads O(a
  // segment). kMalformed: damage before good commits; kUnavailable: no log, or a segment is
  // missing. `segment`, where given: the segment that an error is about, or kNoSegment; for damage
  // the error's number is the byte in it.
  static Result<LogWriter> open(Folder& folder, Arena& arena,
                                std::size_t* segment = nullptr) noexcept;

  // Adds a frame to the commit being filled; `room`, for its payload, is to be filled before
  // commit(). kNotReady: it does not fit into this commit; commit() first. kTooLarge: it fits into
  // none (max_payload()). kInvalidArgument: frame.number is not next_frame(), or frame.head is not
  // the head after the frame before.
  Status add(const LoggedFrame& frame, std::size_t payload_bytes,
             std::span<std::byte>& room) noexcept;

  // Writes and syncs what was added; no effect if that is nothing. On an error none of it counts as
  // durable, all of it stays in the buffer, more may be added, and the next commit() writes it to a
  // fresh segment, because the place of the failure is not trusted again. kLogFull: no segment is
  // free until release_below() frees one. O(bytes).
  Status commit() noexcept;

  // Marks the end of what is durable, where the next commit will be, so that a later start can tell
  // damage to the last commit from an unfinished one; a commit that follows tells the same.
  // Written, not synced; tried once after each commit. No effect if frames are pending, or if a
  // commit has filled its segment alone. kOk, or how writing failed; error() says why. O(1).
  Status seal() noexcept;
  // The same, on disk when it returns: for the end of a run. Also after seal() has failed.
  Status seal_durably() noexcept;

  // Segments that hold only frames below `frame` may be written over from now on.
  void release_below(std::uint64_t frame) noexcept;

  std::uint64_t next_frame() const noexcept { return next_frame_; }  // the number that add() gives
  // Frames and rows below these are on disk.
  std::uint64_t durable_frames() const noexcept { return durable_frames_; }
  std::uint64_t durable_head() const noexcept { return durable_head_; }
  // Bytes on disk that may not be written over yet.
  std::uint64_t used_bytes() const noexcept;
  // Frames whose frame_bytes() add up to no more than this are certain to find a place behind all
  // that was added, in whatever commits. One segment is kept for a place that fails.
  std::uint64_t free_bytes() const noexcept;
  // The most that a frame with so many payload bytes takes: a commit of its own.
  static std::uint64_t frame_bytes(std::uint64_t payload_bytes) noexcept;
  std::uint64_t capacity_bytes() const noexcept { return identity_.options.bytes; }
  // Whether open() met an unfinished commit, which was never acknowledged, and left it out.
  bool found_unfinished() const noexcept { return found_unfinished_; }
  std::uint64_t pending_frames() const noexcept { return next_frame_ - durable_frames_; }
  std::size_t pending_bytes() const noexcept { return filled_; }
  std::size_t max_payload() const noexcept;
  const LogIdentity& identity() const noexcept { return identity_; }
  // Why the last commit() failed, or a seal after it, with an errno where the disk failed.
  // {kOk, "", 0} after a good commit.
  const Error& error() const noexcept { return error_; }

 private:
  enum class Seal : std::uint8_t { kNone, kTried, kDurable };

  LogWriter(const LogIdentity& identity, Arena& arena) noexcept;

  Status leave_segment(const char* sentence) noexcept;
  Status move_to_fresh_segment() noexcept;
  // `last`: the offset of the last good commit in current_; `where`: the segment of an error.
  Error find_end(std::uint64_t& last, std::size_t& where) noexcept;
  Error settle(std::uint64_t last, std::size_t& where) noexcept;

  LogIdentity identity_;
  SegmentSet segments_;
  std::span<std::byte> buffer_;
  std::size_t filled_ = 0;  // bytes of the commit being filled, its header included; 0: none
  std::uint64_t next_frame_ = 0;
  std::uint64_t next_head_ = 0;
  std::uint64_t durable_frames_ = 0;
  std::uint64_t durable_head_ = 0;
  std::uint64_t next_ordinal_ = 1;
  std::size_t current_ = kNoSegment;  // the segment being filled
  std::uint64_t offset_ = 0;          // where its next commit begins
  Seal seal_ = Seal::kNone;           // at offset_
  bool found_unfinished_ = false;
  Error error_;
};

// What judged rows take in the log.
struct FrameSizes {
  std::uint64_t row = 0;            // bytes of a row, at most
  std::uint64_t most = UINT64_MAX;  // bytes that all rows of a frame may take: max_payload()
  // The most bytes that a frame of so many rows takes.
  std::uint64_t bytes_of(std::uint64_t rows) const noexcept {
    return LogWriter::frame_bytes(std::min(rows * row, most));
  }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_WRITER_H_
