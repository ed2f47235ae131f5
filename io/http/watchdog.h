#ifndef WINDHOVER_IO_HTTP_WATCHDOG_H_
#define WINDHOVER_IO_HTTP_WATCHDOG_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// Finds threads that stand still. Each thread has a number, its beat, that grows while it works or
// sleeps as it should. If a beat has grown and then stays the same for `stall_ns`, its thread
// stands still. A thread whose beat is 0 has not begun and is not judged. One thread.
class Watchdog {
 public:
  enum Part : std::uint8_t { kObserve, kQuery, kLearner };
  static constexpr std::size_t kParts = 3;
  using Beats = std::array<std::uint64_t, kParts>;

  explicit Watchdog(std::int64_t stall_ns) noexcept : stall_ns_(stall_ns) {}

  // Called several times in stall_ns. After more than half of stall_ns without a call it begins
  // anew: this thread may then have stood still itself, with all the others.
  void look(std::int64_t now_ns, const Beats& beats) noexcept;

  // For how long the thread had stood still at the last look; 0: it had not.
  std::int64_t still_ns(Part part) const noexcept;

  static const char* name(Part part) noexcept;

 private:
  std::int64_t stall_ns_;
  std::int64_t looked_ns_ = 0;
  Beats beats_{};
  std::array<std::int64_t, kParts> changed_ns_{};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_WATCHDOG_H_
