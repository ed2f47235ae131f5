#include "windhover/samplers/reference/effective_draws.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace windhover::reference {

namespace {

// Bisection is slow but right to rounding, and this runs offline.
double normal_quantile(double p) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Normal scores of the ranks; ties keep their order, which does no harm to continuous draws.
std::vector<double> rank_normalized(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> scores(values.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    const double rank = static_cast<double>(r) + 1.0;
    scores[order[r]] = normal_quantile((rank - 0.375) / (static_cast<double>(order.size()) + 0.25));
  }
  return scores;
}

double autocovariance(const double* x, std::size_t n, double mean, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = 0; i + lag < n; ++i) sum += (x[i] - mean) * (x[i + lag] - mean);
  return sum / static_cast<double>(n);
}

}  // namespace

double bulk_effective_draws(const std::vector<std::vector<double>>& chains) {
  const std::size_t half = chains.front().size() / 2;
  std::vector<double> all;
  for (const auto& chain : chains) {
    all.insert(all.end(), chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(half));
    all.insert(all.end(), chain.end() - static_cast<std::ptrdiff_t>(half), chain.end());
  }
  const std::vector<double> scores = rank_normalized(all);
  const std::size_t parts = 2 * chains.size();
  const double n = static_cast<double>(half);
  std::vector<double> means(parts);
  double within = 0;
  for (std::size_t k = 0; k < parts; ++k) {
    const double* part = scores.data() + k * half;
    means[k] = std::accumulate(part, part + half, 0.0) / n;
    within += autocovariance(part, half, means[k], 0) * n / (n - 1) / static_cast<double>(parts);
  }
  const double centre =
      std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(parts);
  double between = 0;
  for (const double mean : means) between += (mean - centre) * (mean - centre);
  const double variance = within * (n - 1) / n + between / static_cast<double>(parts - 1);
  const auto correlation = [&](std::size_t lag) {
    double covariance = 0;
    for (std::size_t k = 0; k < parts; ++k) {
      covariance += autocovariance(scores.data() + k * half, half, means[k], lag);
    }
    return 1.0 - (within - covariance / static_cast<double>(parts)) / variance;
  };
  // Adds sums of neighbouring pairs until one is not positive. None counts more than the one
  // before.
  double time = -1.0;
  double before = INFINITY;
  for (std::size_t lag = 0; lag + 1 < half; lag += 2) {
    const double pair = (lag == 0 ? 1.0 : correlation(lag)) + correlation(lag + 1);
    if (!(pair > 0)) break;
    before = std::min(before, pair);
    time += 2.0 * before;
  }
  const double total = static_cast<double>(parts) * n;
  return total / std::max(time, 1.0 / std::log10(total));
}

}  // namespace windhover::reference
