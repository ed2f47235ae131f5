#ifndef WINDHOVER_TOOLS_CLI_PROGRESS_H_
#define WINDHOVER_TOOLS_CLI_PROGRESS_H_

#include <chrono>
#include <limits>
#include <string_view>

namespace windhover {

// Progress on standard error: a bar that is drawn over itself, or lines where it is no terminal.
class Progress {
 public:
  // Draws a bar when standard error is a terminal or `forced`; otherwise prints a line, with the
  // seconds so far, at most every `line_seconds`.
  explicit Progress(bool forced, double line_seconds = std::numeric_limits<double>::infinity());
  // Leaves the last bar on the screen.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `part` is 0 to 1. No heap.
  void draw(double part, std::string_view text) noexcept;
  // The same, with `text` of up to 40 characters, and from the first hundredth on an estimate of
  // the time that is left.
  void draw_with_rest(double part, std::string_view text) noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool enabled_;
  double line_seconds_;
  Time start_ = std::chrono::steady_clock::now();
  Time printed_ = start_;
  bool drawn_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_PROGRESS_H_
