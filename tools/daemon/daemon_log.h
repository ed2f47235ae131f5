// Where the daemon's log goes: lines of one thread, written by another one, to standard error or a
// file. Over spdlog's asynchronous logger.
#ifndef WINDHOVER_TOOLS_DAEMON_DAEMON_LOG_H_
#define WINDHOVER_TOOLS_DAEMON_DAEMON_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "windhover/tools/daemon/daemon_options.h"
#include "windhover/tools/daemon/log_line.h"

namespace windhover {

struct DaemonLogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
  std::string file;  // empty: standard error
};

// Named "process.log_" and the field. `options` must outlive them.
std::vector<DaemonOption> log_options(DaemonLogOptions& options);

// Thread-safe. Allocates when it is made and not afterwards. A line waits in a queue of kQueued for
// the log's own thread; when the queue is full the oldest is dropped. Where nobody reads (a full
// pipe, a terminal that stands still, a full disk) lines are dropped too, after a tenth of a
// second.
class DaemonLog {
 public:
  static constexpr std::size_t kQueued = 256;

  // RunError when the file cannot be opened for appending, RunError when there is no thread.
  explicit DaemonLog(const DaemonLogOptions& options);
  // Writes what waits.
  ~DaemonLog();
  DaemonLog(const DaemonLog&) = delete;
  DaemonLog& operator=(const DaemonLog&) = delete;

  // A line to add fields to and write().
  LogLine line(LogLevel level, std::string_view event) const noexcept;
  // Writes the line unless it is below the level of the options.
  void write(const LogLine& line) noexcept;

  // Opens the file anew under its name, for a rotation. 0, or errno: then the old one goes on.
  int reopen() noexcept;
  // Lines that nobody will see.
  std::uint64_t dropped() const noexcept;
  // Waits until all is written or dropped, a second at most.
  void drain() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_LOG_H_
