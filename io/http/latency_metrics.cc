#include "windhover/io/http/latency_metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace windhover {

LatencyMetrics latency_metrics(const Histogram& histogram) {
  LatencyMetrics metrics;
  histogram.for_each_bucket([&](std::int64_t most, std::uint64_t here) {
    const double seconds = static_cast<double>(most) * 1e-9;
    metrics.count += here;
    metrics.sum_seconds += seconds * static_cast<double>(here);
    // A bucket belongs to the bound 2^k if `most` is at most 2^k - 1.
    const auto bound = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
    const auto first = static_cast<std::size_t>(std::max(0, bound - LatencyMetrics::kLowestBound));
    for (std::size_t i = first; i < LatencyMetrics::kBounds; ++i) metrics.at_most[i] += here;
    constexpr double kPerPower = 1 << LatencyMetrics::kSchema;
    const auto index = static_cast<int>(std::ceil(std::log2(seconds) * kPerPower));
    if (metrics.native.empty() || metrics.native.back().index != index) {
      metrics.native.push_back({index, 0});
    }
    metrics.native.back().count += here;
  });
  return metrics;
}

}  // namespace windhover
