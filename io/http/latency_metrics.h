#ifndef WINDHOVER_IO_HTTP_LATENCY_METRICS_H_
#define WINDHOVER_IO_HTTP_LATENCY_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/platform/histogram.h"

namespace windhover {

// Durations, counted in two ways. At or below bounds that are powers of two in nanoseconds, where
// buckets of Histogram end, so that these counts are exact. And in the buckets of a native
// histogram of Prometheus, eight to each power of two of a second: there a duration counts as the
// upper end of its bucket in Histogram, which is up to 1/32 more than it was.
struct LatencyMetrics {
  static constexpr int kLowestBound = 10;  // 2^10 ns, about a microsecond
  static constexpr std::size_t kBounds = 25;
  static double bound_seconds(std::size_t i) noexcept {
    return static_cast<double>(std::int64_t{1} << (kLowestBound + static_cast<int>(i))) * 1e-9;
  }
  std::array<std::uint64_t, kBounds> at_most{};
  std::uint64_t count = 0;
  double sum_seconds = 0;  // from the buckets: up to 1/32 more than the true sum

  static constexpr int kSchema = 3;
  struct NativeBucket {
    int index = 0;  // it ends with 2^(index / 2^kSchema) s
    std::uint64_t count = 0;
  };
  std::vector<NativeBucket> native;  // those that are not empty, in order
};

// Allocates.
LatencyMetrics latency_metrics(const Histogram& histogram);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_LATENCY_METRICS_H_
