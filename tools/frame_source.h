// Observe frames made once and written again and again: load without the cost of making it.
#ifndef WINDHOVER_TOOLS_FRAME_SOURCE_H_
#define WINDHOVER_TOOLS_FRAME_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace windhover {

// One connection that sends dense synthetic rows of a linear model (theta_j = 0.3, unit noise) as
// fast as the server takes them, or at a rate, until it is destroyed. Rows belong to producer 0.
class FrameSource {
 public:
  // `rate` in rows a second; 0: as fast as possible. RunError when the server does not welcome it.
  FrameSource(const std::string& address, std::uint32_t features, std::uint32_t rows_per_frame,
              double rate);
  ~FrameSource();
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;

  std::uint64_t rows_sent() const { return rows_sent_.load(std::memory_order_relaxed); }

 private:
  void write_frames(double rate);
  void discard_replies();

  int socket_ = -1;
  std::uint32_t rows_per_frame_;
  std::size_t frames_ = 0;
  std::string bytes_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> rows_sent_{0};
  std::thread writer_;
  std::thread drain_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FRAME_SOURCE_H_
