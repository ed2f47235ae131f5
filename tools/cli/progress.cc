#include "windhover/tools/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace windhover {

Progress::Progress(bool forced, double line_seconds)
    : enabled_(forced || isatty(STDERR_FILENO) != 0), line_seconds_(line_seconds) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\n");
}

void Progress::draw(double part, const std::string& text) {
  if (!enabled_) {
    using Seconds = std::chrono::duration<double>;
    const Time now = std::chrono::steady_clock::now();
    if (Seconds(now - printed_).count() < line_seconds_) return;
    printed_ = now;
    fmt::print(stderr, "{:3.0f} % after {:.0f} s: {}\n", 100 * part, Seconds(now - start_).count(),
               text);
    return;
  }
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(std::clamp(part, 0.0, 1.0) * kWidth);
  const std::string bar(static_cast<std::size_t>(filled), '#');
  // Carriage return, then erase to the end of the line.
  fmt::print(stderr, "\r\x1b[K[{:.<{}}] {:3.0f} % {}", bar, kWidth, 100 * part, text);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace windhover
