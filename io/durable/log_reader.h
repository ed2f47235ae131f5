#ifndef WINDHOVER_IO_DURABLE_LOG_READER_H_
#define WINDHOVER_IO_DURABLE_LOG_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/log_options.h"
#include "windhover/io/durable/segments.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Reads the frames of a folder's log in order; writes nothing. One thread. Beside a writer at work
// it reads what is there: a commit being written is the end, and a segment that is recycled
// meanwhile gives kMalformed.
class LogReader {
 public:
  // Memory that open() takes from its arena; `options` as read_log_identity() gives them.
  static std::size_t footprint(const LogOptions& options) noexcept;

  // The first frame that next() gives is `from`. kUnavailable: there is no log; or frame `from` is
  // no longer in it (the number is the oldest that is), or behind its end. `segment` as
  // LogWriter::open()'s.
  static Result<LogReader> open(Folder& folder, std::uint64_t from, Arena& arena,
                                std::size_t* segment = nullptr) noexcept;

  // Gives the next frame and its payload, aligned to 8 bytes, which lives until the next call.
  // kClosed: there are no more; what follows, if anything, is an unfinished commit. kMalformed:
  // damage before good commits, or a commit of a form that no writer gives; kIoError and others:
  // reading failed. error() says where. After an error further calls return the same. O(bytes); no
  // heap call.
  Status next(LoggedFrame& frame, std::span<const std::byte>& payload) noexcept;

  // The number of the frame that next() gives next.
  std::uint64_t next_frame() const noexcept { return frame_; }
  const LogIdentity& identity() const noexcept { return identity_; }
  // Why next() failed; the number is the offset in segment(), or the errno of a failed read.
  const Error& error() const noexcept { return error_; }
  // The segment that was read last: the file segment-<this>.
  std::size_t segment() const noexcept { return current_; }

 private:
  LogReader(const LogIdentity& identity, Arena& arena) noexcept;

  Error seek(std::uint64_t from) noexcept;
  Status load() noexcept;
  Status at_end() noexcept;
  Status fail(const Error& error) noexcept;

  LogIdentity identity_;
  SegmentSet segments_;
  std::span<std::byte> buffer_;
  std::span<const std::byte> rest_;  // records of the commit in the buffer that are not given yet
  std::uint64_t in_commit_ = 0;      // how many there are of these
  std::uint64_t frame_ = 0;
  std::size_t current_ = kNoSegment;
  std::uint64_t commit_ = 0;  // where the commit in the buffer begins
  std::uint64_t offset_ = 0;  // where the next one does
  Error error_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_READER_H_
