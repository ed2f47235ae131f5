#include "windhover/tools/daemon/stalls.h"

namespace windhover {

Stalls::Stalls(DaemonLog& log, std::chrono::nanoseconds timeout, const Beats& beats) noexcept
    : log_(log), timeout_(timeout) {
  for (std::size_t i = 0; i < kThreads; ++i) threads_[i].beat = beats[i];
}

void Stalls::look(const Beats& beats, std::chrono::nanoseconds watched) noexcept {
  for (std::size_t i = 0; i < kThreads; ++i) {
    Watched& thread = threads_[i];
    if (beats[i] < 0) continue;
    if (beats[i] == thread.beat) {
      thread.still += watched;
      if (thread.stalled || thread.still < timeout_) continue;
      thread.stalled = true;
      say(LogLevel::kError, "thread_stands_still", i);
      continue;
    }
    if (thread.stalled) say(LogLevel::kWarning, "thread_goes_on", i);
    thread = {.beat = beats[i]};
  }
}

void Stalls::say(LogLevel level, const char* event, std::size_t thread) noexcept {
  LogLine line = log_.line(level, event);
  const std::int64_t ms = threads_[thread].still.count() / 1'000'000;
  log_.write(line.add("thread", kNames[thread]).add("ms", ms));
}

std::string_view Stalls::first() const noexcept {
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (threads_[i].stalled) return kNames[i];
  }
  return {};
}

}  // namespace windhover
