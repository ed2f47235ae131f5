// Reads the log of a data folder frame by frame, also while a daemon writes to it.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_LOG_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "windhover/io/durable/log_reader.h"
#include "windhover/platform/memory.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/kept_folder.h"

namespace windhover {

// The frames asked for are no longer in the log: newer checkpoints have released them.
class LogMovedOn : public RunError {
 public:
  using RunError::RunError;
};

class LogDamaged : public RunError {
 public:
  LogDamaged(const std::string& text, std::uint64_t frame_in) : RunError(text), frame(frame_in) {}
  std::uint64_t frame;  // the frames before it are good
};

class KeptLog {
 public:
  // next() begins with frame `from`; none: with the oldest. Throws LogMovedOn, LogDamaged, or
  // RunError where the log cannot be read or ends before `from`. `folder` outlives it.
  KeptLog(KeptFolder& folder, const LogIdentity& identity, std::optional<std::uint64_t> from);

  // Returns false at the end of the log. The payload is valid until the next call. A commit that a
  // daemon is writing looks like damage for a moment, so LogDamaged is thrown only after several
  // looks.
  bool next(LoggedFrame& frame, std::span<const std::byte>& payload);

  std::uint64_t next_frame() const { return reader_->next_frame(); }

 private:
  Error reopen(std::uint64_t from);
  [[noreturn]] void fail(const Error& error, std::uint64_t frame) const;
  std::string damage_text(const Error& error) const;

  KeptFolder& folder_;
  LogIdentity identity_;
  MappedBlock block_;
  std::optional<LogReader> reader_;
  std::size_t segment_ = kNoSegment;   // the one with the error
  std::optional<std::uint64_t> rows_;  // before the next frame, once one has been read
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_LOG_H_
