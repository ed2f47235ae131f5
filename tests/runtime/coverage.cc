#include "windhover/tests/runtime/coverage.h"

#include <cmath>

namespace windhover::test {

void Tally::add(double covered_share) {
  count_ += 1;
  sum_ += covered_share;
  squares_ += covered_share * covered_share;
}

Coverage Tally::coverage() const {
  const double mean = sum_ / count_;
  return {mean, std::sqrt((squares_ / count_ - mean * mean) / count_)};
}

Data replication_data(std::uint64_t seed, Noise noise, Index rows) {
  Data data = linear_data(rows, kCoverageFeatures, 0.0, seed);
  const bool heteroscedastic = noise == Noise::kHeteroscedastic;
  const double correlation = noise == Noise::kDependent ? 0.5 : 0.0;
  const VectorXd e = autoregressive_noise(rows, correlation, 4 * seed + 3);
  for (Index i = 0; i < rows; ++i) {
    const double x = data.x(i, 2);
    data.y[i] += e[i] * (heteroscedastic ? std::sqrt(0.25 + 0.75 * x * x) : 1.0);
  }
  return data;
}

}  // namespace windhover::test
