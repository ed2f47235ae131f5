#ifndef WINDHOVER_PLATFORM_HISTOGRAM_H_
#define WINDHOVER_PLATFORM_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace windhover {

// Counts durations in nanoseconds, in a fixed 8.5 KB. Log-linear as in HdrHistogram: every power of
// two is cut into 32 buckets, so a quantile is at most 1/32 (3.1 %) above the value recorded and
// never below it. A duration below 1 ns counts as 1 ns, one above 100 s as 100 s.
//
// Threads: record() and reset() belong to one thread at a time; the others read at any time and see
// each bucket as it was at some moment of their call.
class Histogram {
 public:
  static constexpr std::int64_t kLowest = 1;
  static constexpr std::int64_t kHighest = 100'000'000'000;

  Histogram() noexcept = default;
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  // Counts a value. O(1), a few nanoseconds.
  void record(std::int64_t nanoseconds) noexcept {
    const std::int64_t value = std::clamp(nanoseconds, kLowest, kHighest);
    add_one(buckets_[bucket_of(value)]);
    add_one(count_);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }

  // The smallest bucket bound that at least a fraction q of the values do not exceed, and never
  // above max(); 0 when there are none. q outside [0, 1] is taken as the nearer end. O(buckets).
  std::int64_t quantile(double q) const noexcept {
    std::uint64_t total = 0;
    for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
    if (total == 0) return 0;
    const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(total));
    const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, total);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      below += buckets_[i].load(std::memory_order_relaxed);
      if (below >= rank) return std::min(upper_bound_of(i), max());
    }
    return max();
  }

  // Calls visit(its largest value, how many values it holds) for each bucket that is not empty,
  // smallest first. O(buckets).
  template <class Visit>
  void for_each_bucket(Visit visit) const noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t here = buckets_[i].load(std::memory_order_relaxed);
      if (here > 0) visit(upper_bound_of(i), here);
    }
  }

  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // The largest value recorded, exactly; 0 when there are none.
  std::int64_t max() const noexcept { return max_.load(std::memory_order_relaxed); }

  void reset() noexcept {
    for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
    max_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr int kSubBits = 5;
  static constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBuckets =
      (std::bit_width(static_cast<std::uint64_t>(kHighest)) - kSubBits + 1) * kSub;

  // Values below kSub have a bucket each; above, `shift` low bits are dropped.
  static constexpr std::size_t bucket_of(std::int64_t value) noexcept {
    const auto v = static_cast<std::uint64_t>(value);
    const int width = static_cast<int>(std::bit_width(v));
    const int shift = std::max(0, width - 1 - kSubBits);
    return static_cast<std::size_t>(shift) * kSub + static_cast<std::size_t>(v >> shift);
  }

  static constexpr std::int64_t upper_bound_of(std::size_t bucket) noexcept {
    const std::size_t shift = bucket < 2 * kSub ? 0 : bucket / kSub - 1;
    const std::size_t mantissa = bucket - shift * kSub;
    return static_cast<std::int64_t>(((mantissa + 1) << shift) - 1);
  }

  // There is one writer, so a load and a store are enough and spare the locked instruction.
  static void add_one(std::atomic<std::uint64_t>& cell) noexcept {
    cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> max_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_HISTOGRAM_H_
