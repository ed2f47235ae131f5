#ifndef WINDHOVER_IO_DURABLE_LOG_WRITER_H_
#define WINDHOVER_IO_DURABLE_LOG_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/log_options.h"
#include "windhover/io/durable/segments.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Appends frames to the log of a folder, in commits that are there wholly or not at all.
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
  // Makes the log, or, with `replace`, begins another one over the folder's: the old one's frames
  // are gone from then on. Writes all of options.bytes, so that later only EIO can keep a commit
  // from its place, never a full disk, and fdatasync has no metadata to write. Interrupted
  // anywhere, there is no log (read_log_identity says kUnavailable) and create() may be called
  // again. kOk, or what went wrong. kRefused: there is a log, or segments with frames whose
  // identity is missing. `scratch`: at least kLogBlock bytes, a multiple of it; larger is faster.
  static Error create(Folder& folder, const LogIdentity& identity, bool replace,
                      std::span<std::byte> scratch) noexcept;

  // Memory that open() takes from its arena.
  static std::size_t footprint(const LogOptions& options) noexcept;

  // Goes on after the last good commit, which is written and synced again first: a process that was
  // killed after a sync that failed may have left it in the page cache only. O(a segment) to read.
  // kMalformed: damage with good commits after it; kUnavailable: no log, or a segment is missing.
  // `segment`, where given: in an error, the one that it is about, or kNoSegment; of damage the
  // error's number is the byte in it.
  static Result<LogWriter> open(Folder& folder, Arena& arena,
                                std::size_t* segment = nullptr) noexcept;

  // Room for the frame's payload in the commit being filled, to be filled before commit(). Empty
  // room for 0 bytes. kNotReady: not in this commit any more; commit() first. kTooLarge: in none
  // (max_payload()). kInvalidArgument: frame.number is not next_frame(), or frame.head not the head
  // after the frame before.
  Status add(const LoggedFrame& frame, std::size_t payload_bytes,
             std::span<std::byte>& room) noexcept;

  // Writes and syncs what was added; nothing added: nothing done. On an error none of it counts as
  // durable, all of it stays in the buffer, more may be added, and the next commit() writes it to a
  // fresh segment: the place of the failure is not trusted again. kLogFull: no segment is free;
  // release_below() helps. O(bytes).
  Status commit() noexcept;

  // Marks the end of what is durable, where the next commit will be, so that a later start can tell
  // damage to the last commit from one that was never finished. For when nothing waits: a commit
  // that follows says the same. Written, not synced; tried once for each commit. Nothing where
  // frames are pending, or a commit has filled its segment alone. kOk, or how writing failed;
  // error() says why. O(1).
  Status seal() noexcept;
  // The same, on disk when it returns: for the end of a life. Also where seal() has failed.
  Status seal_durably() noexcept;

  // Segments that hold only frames below `frame` may be written over. Only ever rises.
  void release_below(std::uint64_t frame) noexcept;

  std::uint64_t next_frame() const noexcept { return next_frame_; }  // the number that add() gives
  // Frames below, and rows below, are on disk.
  std::uint64_t durable_frames() const noexcept { return durable_frames_; }
  std::uint64_t durable_head() const noexcept { return durable_head_; }
  // Room on disk that cannot be written over yet, and all there is.
  std::uint64_t used_bytes() const noexcept;
  // What is certain to find a place, however it is cut into commits, after all that was added: sums
  // of frame_bytes() up to this. One segment is kept for a place that fails.
  std::uint64_t free_bytes() const noexcept;
  // The most that a frame with so many payload bytes takes: a commit of its own.
  static std::uint64_t frame_bytes(std::uint64_t payload_bytes) noexcept;
  std::uint64_t capacity_bytes() const noexcept { return identity_.options.bytes; }
  // open() met a commit that was never finished, and so never acknowledged, and left it out.
  bool found_unfinished() const noexcept { return found_unfinished_; }
  std::uint64_t pending_frames() const noexcept { return next_frame_ - durable_frames_; }
  std::size_t pending_bytes() const noexcept { return filled_; }
  std::size_t max_payload() const noexcept;
  const LogIdentity& identity() const noexcept { return identity_; }
  // Why commit() failed last, or a seal after it, with an errno where the disk failed.
  // {kOk, "", 0} after a commit that went well.
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

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_WRITER_H_
