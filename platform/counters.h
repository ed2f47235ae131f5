#ifndef WINDHOVER_PLATFORM_COUNTERS_H_
#define WINDHOVER_PLATFORM_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/check.h"

namespace windhover {

// The labels of a counter enum, declared beside it by its owner:
//   template <> struct CounterLabels<MyCounter> {
//     static constexpr std::array kLabels = {"rows_accepted", "rows_refused"};
//   };
template <class Enum>
struct CounterLabels;

// One 64-bit number for each value of Enum (up to Enum::kCount), stored in the object, starting at
// 0. Any thread may write and read any counter at any time, without waiting. All accesses are
// relaxed: a counter is exact once its writers are done, but two counters read together need not
// belong to one instant, and a counter publishes no other data.
template <class Enum>
class Counters {
  static constexpr std::size_t kSize = static_cast<std::size_t>(Enum::kCount);
  static constexpr bool all_labelled() {
    for (const char* label : CounterLabels<Enum>::kLabels) {
      if (label == nullptr || *label == '\0') return false;
    }
    return true;
  }
  static_assert(CounterLabels<Enum>::kLabels.size() == kSize, "one label for each counter");

 public:
  Counters() noexcept { static_assert(all_labelled()); }

  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  void add(Enum counter, std::uint64_t n = 1) noexcept {
    at(counter).fetch_add(n, std::memory_order_relaxed);
  }

  void set(Enum counter, std::uint64_t value) noexcept {
    at(counter).store(value, std::memory_order_relaxed);
  }

  // Keeps the largest value seen.
  void maximum(Enum counter, std::uint64_t value) noexcept {
    std::atomic<std::uint64_t>& cell = at(counter);
    std::uint64_t seen = cell.load(std::memory_order_relaxed);
    while (seen < value && !cell.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  std::uint64_t get(Enum counter) const noexcept {
    return at(counter).load(std::memory_order_relaxed);
  }

  static constexpr std::size_t size() noexcept { return kSize; }

  static constexpr const char* label(Enum counter) noexcept {
    return CounterLabels<Enum>::kLabels[static_cast<std::size_t>(counter)];
  }

 private:
  std::atomic<std::uint64_t>& at(Enum counter) noexcept {
    WINDHOVER_CHECK(static_cast<std::size_t>(counter) < kSize);
    return values_[static_cast<std::size_t>(counter)];
  }
  const std::atomic<std::uint64_t>& at(Enum counter) const noexcept {
    WINDHOVER_CHECK(static_cast<std::size_t>(counter) < kSize);
    return values_[static_cast<std::size_t>(counter)];
  }

  alignas(64) std::array<std::atomic<std::uint64_t>, kSize> values_{};
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_COUNTERS_H_
