#ifndef WINDHOVER_PLATFORM_CLOCK_H_
#define WINDHOVER_PLATFORM_CLOCK_H_

#include <time.h>

#include <atomic>
#include <cstdint>

namespace windhover {

// Time in nanoseconds. Any thread may ask. Whoever needs the time is given a Clock, so that a test
// can turn the hands.
class Clock {
 public:
  // Monotonic time from an arbitrary start: tells how long things take.
  virtual std::int64_t now_ns() noexcept = 0;
  // Time since 1970, UTC: tells when things were. It may be set back.
  virtual std::int64_t wall_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

 protected:
  ~Clock() = default;
};

// Reads CLOCK_MONOTONIC; about 20 ns, no system call on common machines.
class RealClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
};

// Stands still until told otherwise. Both times advance together; they are equal until
// set_wall_ns() sets them apart.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_ns = 0) noexcept : now_ns_(start_ns) {}

  std::int64_t now_ns() noexcept override { return now_ns_.load(std::memory_order_relaxed); }
  std::int64_t wall_ns() noexcept override {
    return now_ns() + wall_ahead_ns_.load(std::memory_order_relaxed);
  }
  void set_wall_ns(std::int64_t wall_ns) noexcept {
    wall_ahead_ns_.store(wall_ns - now_ns(), std::memory_order_relaxed);
  }
  void set_ns(std::int64_t now_ns) noexcept { now_ns_.store(now_ns, std::memory_order_relaxed); }
  void advance_ns(std::int64_t by_ns) noexcept {
    now_ns_.fetch_add(by_ns, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> now_ns_;
  std::atomic<std::int64_t> wall_ahead_ns_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_CLOCK_H_
