// Learns again from the log the rows that came after the checkpoint from which a start began.
#ifndef WINDHOVER_IO_DURABLE_LOG_REPLAY_H_
#define WINDHOVER_IO_DURABLE_LOG_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/durable/folder.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/durable/log_reader.h"
#include "windhover/io/durable/logged_keys.h"
#include "windhover/io/durable/pause.h"
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/window/packed_rows.h"

namespace windhover {

// It does so a little at a time, so that questions are answered meanwhile. Invariant: the engine
// has the rows of all frames below the one that is being learned, and of that one all but those
// that are left, none of them twice. Nothing else gives the engine rows meanwhile. begin() at
// set-up, then the observe thread.
class LogReplay {
 public:
  // `memory`: LogReader::footprint(); empty without a log. All outlive it.
  LogReplay(std::span<std::byte> memory, Engine& engine, LogProgress& log, Clock& clock) noexcept
      : memory_(memory), engine_(engine), log_(log), clock_(clock) {}

  // Begins with frame `first`, at which `reader` stands.
  void begin(Folder& folder, LogReader&& reader, std::uint64_t first) noexcept;
  bool is_under_way() const noexcept { return reader_.has_value() || read_failed_; }

  // Learns for a moment. False: all has been learned. If the disk fails the log's progress says so,
  // and it is tried again after a second. REQUIRES: is_under_way().
  bool go_on() noexcept;

 private:
  Status learn_some() noexcept;
  bool take_keys() noexcept;
  PackedRows packed() const noexcept { return PackedRows(RowLayout(engine_.config().model)); }
  Status reopen_reader() noexcept;

  std::span<std::byte> memory_;
  Engine& engine_;
  LogProgress& log_;
  Clock& clock_;
  Folder* folder_ = nullptr;
  std::optional<LogReader> reader_;
  LoggedFrame frame_;                // being learned
  std::span<const std::byte> rows_;  // its rows, packed, not learned yet
  LoggedKeys keys_;                  // and what their keys became
  std::uint64_t rows_left_ = 0;
  std::uint64_t learned_frames_ = 0;  // frames below are learned
  int read_errno_ = 0;                // errno of the last read of the log
  bool read_failed_ = false;          // the log has to be opened again,
  Pause pause_;                       // after this pause
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_REPLAY_H_
