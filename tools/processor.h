// The processor: its name, and the time that it gives to a thread.
#ifndef WINDHOVER_TOOLS_PROCESSOR_H_
#define WINDHOVER_TOOLS_PROCESSOR_H_

#include <time.h>

#include <fstream>
#include <string>

namespace windhover {

inline double seconds_of(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds of processor time that the calling thread has had: what other processes take away does
// not count, what they do to the caches does.
inline double thread_seconds() noexcept { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
inline double wall_seconds() noexcept { return seconds_of(CLOCK_MONOTONIC); }

// The name in /proc/cpuinfo; empty where there is none.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROCESSOR_H_
