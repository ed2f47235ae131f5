// The daemon's log: lines that any thread may write are put out by one thread, to standard error or
// a file. Uses spdlog's asynchronous logger.
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

// Thread-safe. Allocates in the constructor only. A line waits in a queue of kQueued for the log's
// own thread; when the queue is full the oldest is dropped. Where nothing takes the lines (a full
// pipe, a terminal that stands still, a full disk) they are dropped too, after a tenth of a second.
class DaemonLog {
 public:
  static constexpr std::size_t kQueued = 256;

  // RunError when the file cannot be opened for appending, std::system_error when there is no
  // thread.
  explicit DaemonLog(const DaemonLogOptions& options);
  // Writes what waits.
  ~DaemonLog();
  DaemonLog(const DaemonLog&) = delete;
  DaemonLog& operator=(const DaemonLog&) = delete;

  // A line to add fields to and write().
  LogLine line(LogLevel level, std::string_view event) const noexcept;
  // Writes the line unless it is below the level of the options.
  void write(const LogLine& line) noexcept;

  // Opens the file anew under its name, after a rotation. 0, or an errno: then the old one stays
  // open.
  int reopen() noexcept;
  // The number of lines that were dropped.
  std::uint64_t dropped() const noexcept;
  // Waits until all is written or dropped, a second at most.
  void drain() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_LOG_H_
