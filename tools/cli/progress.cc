#include "windhover/tools/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace windhover {
namespace {

using ProgressSeconds = std::chrono::duration<double>;

}  // namespace

Progress::Progress(bool forced, double line_seconds)
    : enabled_(forced || isatty(STDERR_FILENO) != 0), line_seconds_(line_seconds) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\n");
}

void Progress::draw(double part, std::string_view text) noexcept {
  if (!enabled_) {
    const Time now = std::chrono::steady_clock::now();
    if (ProgressSeconds(now - printed_).count() < line_seconds_) return;
    printed_ = now;
    fmt::print(stderr, "{:3.0f} % after {:.0f} s: {}\n", 100 * part,
               ProgressSeconds(now - start_).count(), text);
    return;
  }
  constexpr std::size_t kWidth = 30;
  constexpr std::string_view kBar = "##############################..............................";
  static_assert(kBar.size() == 2 * kWidth);
  const auto filled = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * kWidth);
  // Carriage return, then erase to the end of the line.
  fmt::print(stderr, "\r\x1b[K[{}] {:3.0f} % {}", kBar.substr(kWidth - filled, kWidth), 100 * part,
             text);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::draw_with_rest(double part, std::string_view text) noexcept {
  if (part <= 0.01) return draw(part, text);
  const double seconds = ProgressSeconds(std::chrono::steady_clock::now() - start_).count();
  std::array<char, 80> room;
  const auto written = fmt::format_to_n(room.data(), room.size(), "{}, about {:.0f} s left", text,
                                        seconds / part - seconds);
  draw(part, {room.data(), written.out});
}

}  // namespace windhover
