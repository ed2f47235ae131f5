#ifndef WINDHOVER_TOOLS_PROGRESS_H_
#define WINDHOVER_TOOLS_PROGRESS_H_

#include <string>

namespace windhover {

// A line on standard error that is drawn over itself again and again.
class Progress {
 public:
  // Draws when standard error is a terminal, or when told to.
  explicit Progress(bool forced);
  // Leaves the last line standing.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `part` is 0 to 1.
  void draw(double part, const std::string& text);

 private:
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRESS_H_
