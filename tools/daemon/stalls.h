// Judges by their heartbeats which threads stand still.
#ifndef WINDHOVER_TOOLS_DAEMON_STALLS_H_
#define WINDHOVER_TOOLS_DAEMON_STALLS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/tools/daemon/daemon_log.h"

namespace windhover {

// One thread. The log outlives it. No heap call after the constructor.
class Stalls {
 public:
  static constexpr std::size_t kThreads = 4;
  static constexpr std::array<std::string_view, kThreads> kNames = {"learner", "observe", "query",
                                                                    "http"};
  // A heartbeat for each thread, which differs whenever the thread has turned; < 0: no such thread.
  using Beats = std::array<std::int64_t, kThreads>;

  // `beats`: at the start. A thread stands still once its beat has been the same for `timeout`.
  Stalls(DaemonLog& log, std::chrono::nanoseconds timeout, const Beats& beats) noexcept;

  // `watched`: the time since the last look in which the other threads could have turned, without
  // that in which the whole process was stopped. Logs which threads stand still and which go on.
  void look(const Beats& beats, std::chrono::nanoseconds watched) noexcept;

  // The first thread that stands still; empty: none does.
  std::string_view first() const noexcept;

 private:
  struct Watched {
    std::int64_t beat = 0;
    std::chrono::nanoseconds still{0};
    bool stalled = false;
  };
  void say(LogLevel level, const char* event, std::size_t thread) noexcept;

  DaemonLog& log_;
  std::chrono::nanoseconds timeout_;
  std::array<Watched, kThreads> threads_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_STALLS_H_
