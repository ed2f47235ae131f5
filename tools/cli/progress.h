#ifndef WINDHOVER_TOOLS_CLI_PROGRESS_H_
#define WINDHOVER_TOOLS_CLI_PROGRESS_H_

#include <chrono>
#include <limits>
#include <string_view>

namespace windhover {

// A line on standard error that is drawn over itself again and again, or where that is no terminal
// lines now and then.
class Progress {
 public:
  // Draws when standard error is a terminal, or when told to; otherwise prints a line, the seconds
  // so far with it, at most every `line_seconds`.
  explicit Progress(bool forced, double line_seconds = std::numeric_limits<double>::infinity());
  // Leaves the last line standing.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `part` is 0 to 1. No heap.
  void draw(double part, std::string_view text) noexcept;
  // The same, with `text` of up to 40 letters, and after the first hundredth how long the rest
  // takes.
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
