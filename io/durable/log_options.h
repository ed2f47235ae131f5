// What the log's writer and reader share: sizes, identity, frames.
#ifndef WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_
#define WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/io/durable/folder.h"
#include "windhover/runtime/labels/key_table.h"

namespace windhover {

// Commits begin and end at multiples of this, so that no later write touches, and no torn one can
// damage, a page or a physical sector that holds an earlier one.
inline constexpr std::size_t kLogBlock = 4096;
inline constexpr std::size_t kMaxLogSegments = 512;  // each is a descriptor

struct LogOptions {
  std::uint64_t bytes = 1ULL << 30;           // on disk, from the log's creation on
  std::uint64_t segment_bytes = 32ULL << 20;  // of a segment, the unit in which space is reused
  std::uint64_t commit_bytes = 1ULL << 20;    // of the largest commit, and of the buffer

  std::size_t segments() const noexcept { return static_cast<std::size_t>(bytes / segment_bytes); }
};

// The fewest segments of a server's log. With fewer it would have no room left when half of it is
// used, which is when checkpoints are taken early.
inline constexpr std::size_t kLeastServedSegments = 5;
// The least commit_bytes, which holds the largest frame: rows that come as floats are kept as
// doubles.
constexpr std::uint64_t least_commit_bytes(std::uint64_t frame_cap) noexcept {
  return 2 * frame_cap + 2 * kLogBlock;
}

// kOk, or which field is wrong: sizes are multiples of kLogBlock, there are 3 to kMaxLogSegments
// segments of at most 1 TiB, and the largest commit has at least 2 blocks and fits a segment.
Error check(const LogOptions& options) noexcept;

// One judged Observe or Outcome, or rows whose key has timed out. Numbers rise by 1.
struct LoggedFrame {
  std::uint64_t number = 0;
  std::uint64_t producer = 0;  // 0: none
  std::uint64_t next = 0;      // the producer's sequence number expected after it
  std::uint64_t accepted = 0;  // rows
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;  // rows accepted before it
  // What the keys of its rows became; kPending: they have none. The payload tells it
  // (logged_keys.h), a record does not.
  KeyState keys = KeyState::kPending;
};

// The contents of the file `identity`: which history the log is of, and its sizes.
struct LogIdentity {
  std::uint64_t instance = 0;     // random; changes when rows of the history are lost
  std::uint64_t salt = 0;         // random and secret, so that no row can pass for a commit
  std::uint64_t first_frame = 0;  // the log begins here,
  std::uint64_t first_head = 0;   // with this many rows before it
  LogOptions options;
};

// The identity of the folder's log. kUnavailable: there is no log, or its creation was not
// finished. kMalformed, kUnsupported: there is one that cannot be read.
Result<LogIdentity> read_log_identity(Folder& folder) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_OPTIONS_H_
