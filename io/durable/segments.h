#ifndef WINDHOVER_IO_DURABLE_SEGMENTS_H_
#define WINDHOVER_IO_DURABLE_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/folder.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/log_options.h"
#include "windhover/platform/arena.h"

namespace windhover {

inline constexpr std::size_t kNoSegment = SIZE_MAX;

// One file of the log. It has no header of its own: its first commit tells which use of the file it
// is.
struct Segment {
  enum class State : std::uint8_t {
    kEmpty,    // stamped
    kUsed,     // it begins with a commit
    kUnknown,  // neither: torn while it was reused, or damaged
  };

  File file;
  State state = State::kUnknown;
  std::uint64_t ordinal = 0;  // of this use, by its first commit's header; or 0
  std::uint64_t first = 0;    // its first frame
  std::uint64_t end = 0;      // one past its last frame; known to the writer
  std::uint64_t queued = 0;   // > 0: may be written over, lowest first
};

// The files of a log: finds commits in them, and keeps those that may be written over in a queue,
// in the order in which they were let go. One thread; no heap.
class SegmentSet {
 public:
  // Takes memory.
  SegmentSet(const LogIdentity& identity, Arena& arena) noexcept;
  SegmentSet(SegmentSet&& other) noexcept;
  SegmentSet& operator=(SegmentSet&&) = delete;
  ~SegmentSet();

  // Opens all and reads the header of each first commit. kUnavailable: one is missing;
  // kMalformed: one has another size. `index` then says which.
  Error open(Folder& folder, OpenFile how, std::size_t& index) noexcept;

  std::size_t size() const noexcept { return segments_.size(); }
  Segment& operator[](std::size_t index) noexcept { return segments_[index]; }
  const Segment& operator[](std::size_t index) const noexcept { return segments_[index]; }

  // The used segment with the lowest ordinal above `ordinal`, or with the highest below it.
  std::size_t after(std::uint64_t ordinal) const noexcept;
  std::size_t before(std::uint64_t ordinal) const noexcept;

  // let_go() puts a segment at the end of the queue. take() takes the first out, which is then used
  // as `ordinal`, from `frame` on; kNoSegment: there is none.
  void let_go(std::size_t index) noexcept { segments_[index].queued = ++queued_; }
  std::size_t take(std::uint64_t ordinal, std::uint64_t frame) noexcept;
  std::size_t queued() const noexcept;  // how many are in the queue
  // Set-up: sets where each used segment ends, which is where the next one begins, the last at
  // `frames`. Segments that are not used, or were given up after a failure, are let go. A torn use
  // may have a header that looks like a use. If that stayed, it would count again once newer uses
  // have come, so it is overwritten with an empty stamp, by way of `stamp`, kLogBlock bytes. kOk,
  // or what went wrong in segment `index`.
  Error queue_all(std::uint64_t frames, std::span<std::byte> stamp, std::size_t& index) noexcept;

  // Reads the commit at `offset` of a segment used as `ordinal` into `buffer` (commit_bytes).
  // kOk: every byte is good. kClosed: no good one is there. Else: reading failed.
  Status read_commit(std::size_t index, std::uint64_t ordinal, std::uint64_t offset,
                     std::span<std::byte> buffer, CommitHeader& header) noexcept;

  // Looks for a good commit or a seal, at `offset` or behind, whose ordinal is at least `least`.
  // kOk: there is one; kClosed: there is none. O(a segment).
  Status find_commit(std::size_t index, std::uint64_t offset, std::uint64_t least,
                     std::span<std::byte> buffer, CommitHeader& found) noexcept;

  // Uses whose first commit is not good were torn when they began, or are damaged. From the newest
  // back they become kUnknown, until one is good. `buffer` as above; `index`: where reading failed.
  Status drop_torn_uses(std::span<std::byte> buffer, std::size_t& index) noexcept;

  // Checks that nothing contradicts the log's end, in segment `last` (or kNoSegment) at `offset`,
  // behind `frames` frames: no good commit or seal may lie behind it. kClosed: the log ends here.
  // kMalformed: `index` and `offset` say where damage begins. Else: reading failed in `index`.
  Status check_end(std::size_t last, std::uint64_t frames, std::span<std::byte> buffer,
                   std::size_t& index, std::uint64_t& offset) noexcept;

  // Once the log is known to end in segment `last` at `offset`: looks for the header of an
  // unfinished commit. kOk: there is one; kClosed: there is none; else reading failed in `index`.
  Status find_unfinished(std::size_t last, std::uint64_t offset, std::span<std::byte> buffer,
                         std::size_t& index) noexcept;

 private:
  LogIdentity identity_;
  std::span<Segment> segments_;
  std::uint64_t queued_ = 0;  // the last place in the queue
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_SEGMENTS_H_
