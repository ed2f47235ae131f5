// Learns from the log what came after the checkpoint that a start took up.
#ifndef WINDHOVER_IO_DURABLE_LOG_REPLAY_H_
#define WINDHOVER_IO_DURABLE_LOG_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/durable/folder.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/durable/log_reader.h"
#include "windhover/io/durable/pause.h"
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// A little at a time, so that who asks is answered meanwhile. Invariant: the engine has the rows of
// all frames below the one that is being learned, and of that one all but those that are left, none
// of them twice. Reader and place in the log are its own, and meanwhile nobody else gives the
// engine rows; begin() at set-up, then the observe thread.
class LogReplay {
 public:
  // `memory`: LogReader::footprint(); empty without a log. All outlive it.
  LogReplay(std::span<std::byte> memory, Engine& engine, LogProgress& log, Clock& clock) noexcept
      : memory_(memory), engine_(engine), log_(log), clock_(clock) {}

  // There is something to learn, from frame `first` on, which `reader` stands at.
  void begin(Folder& folder, LogReader&& reader, std::uint64_t first) noexcept;
  bool is_under_way() const noexcept { return reader_.has_value() || read_failed_; }

  // Learns for a moment. False: all has been learned. Where the disk fails the log's progress says
  // so, and it is tried again after a while. REQUIRES: is_under_way().
  bool go_on() noexcept;

 private:
  Status learn_some() noexcept;
  Status reopen_reader() noexcept;

  std::span<std::byte> memory_;
  Engine& engine_;
  LogProgress& log_;
  Clock& clock_;
  Folder* folder_ = nullptr;
  std::optional<LogReader> reader_;
  LoggedFrame frame_;                // being learned
  std::span<const std::byte> rows_;  // its rows, packed, not learned yet
  std::uint64_t rows_left_ = 0;
  std::uint64_t learned_frames_ = 0;  // frames below are learned
  int read_errno_ = 0;                // errno of the last read of the log
  bool read_failed_ = false;          // so the log has to be opened again,
  Pause pause_;                       // but not before this has passed
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_REPLAY_H_
