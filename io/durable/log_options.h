// What the log's writer and reader share: sizes, identity, what a frame says.
#ifndef WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_
#define WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/io/durable/folder.h"

namespace windhover {

// Commits begin and end at multiples of this, so that no later write touches, and no torn one can
// damage, a page or a physical sector that holds an earlier one.
inline constexpr std::size_t kLogBlock = 4096;
inline constexpr std::size_t kMaxLogSegments = 512;  // each is a descriptor

struct LogOptions {
  std::uint64_t bytes = 1ULL << 30;           // on disk, from the first start on, for good
  std::uint64_t segment_bytes = 32ULL << 20;  // what is recycled at once; bytes / this of them
  std::uint64_t commit_bytes = 1ULL << 20;    // the largest commit; the buffer's size

  std::size_t segments() const noexcept { return static_cast<std::size_t>(bytes / segment_bytes); }
};

// The fewest segments of a log that a server writes. With fewer segments it would have no room when
// half of it is used, where checkpoints begin.
inline constexpr std::size_t kLeastServedSegments = 5;
// The largest frame takes so much: rows that come as floats are kept as doubles.
constexpr std::uint64_t least_commit_bytes(std::uint64_t frame_cap) noexcept {
  return 2 * frame_cap + 2 * kLogBlock;
}

// kOk, or which field is wrong: multiples of kLogBlock, 3 to kMaxLogSegments segments, a commit of
// at least 2 blocks that fits a segment.
Error check(const LogOptions& options) noexcept;

// One judged Observe of one producer. Numbers rise by 1.
struct LoggedFrame {
  std::uint64_t number = 0;
  std::uint64_t producer = 0;
  std::uint64_t next = 0;      // the producer's sequence number expected after it
  std::uint64_t accepted = 0;  // rows
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;  // rows accepted before it
};

// Which history the log is of and how it lies on disk: the file `identity`.
struct LogIdentity {
  std::uint64_t instance = 0;  // random; changes when history is lost
  std::uint64_t salt = 0;      // random, told to nobody: rows that look like commits are no commits
  std::uint64_t first_frame = 0;  // the log begins here,
  std::uint64_t first_head = 0;   // with this many rows before it
  LogOptions options;
};

// The folder's log. kUnavailable: there is none, or its creation was not finished. kMalformed,
// kUnsupported: there is one that cannot be read.
Result<LogIdentity> read_log_identity(Folder& folder) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_
