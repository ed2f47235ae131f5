#ifndef WINDHOVER_IO_HTTP_WATCHDOG_H_
#define WINDHOVER_IO_HTTP_WATCHDOG_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// Finds threads that stand still. Each of them has a number that grows while it works or rests in
// order; one that has begun to grow and then stays for `stall_ns` is of a thread that stands still.
// One that is 0 has not begun and is not judged. One thread.
class Watchdog {
 public:
  enum Part : std::uint8_t { kObserve, kQuery, kLearner };
  static constexpr std::size_t kParts = 3;
  using Beats = std::array<std::uint64_t, kParts>;

  explicit Watchdog(std::int64_t stall_ns) noexcept : stall_ns_(stall_ns) {}

  // Several times in stall_ns. After a longer pause of its own it begins anew: then this thread may
  // be the one that stood still, with all the others.
  void look(std::int64_t now_ns, const Beats& beats) noexcept;

  // For how long the part had stood still at the last look; 0: it does not.
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
