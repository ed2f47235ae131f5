// Coverage of intervals over replications of the data: how often, and how surely.
#ifndef WINDHOVER_TESTS_RUNTIME_COVERAGE_H_
#define WINDHOVER_TESTS_RUNTIME_COVERAGE_H_

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

constexpr Index kCoverageFeatures = 9;  // and the intercept

struct Coverage {
  double rate = 0;
  double error = 0;  // standard error, clustered by replication
};

class Tally {
 public:
  void add(double covered_share) {
    count_ += 1;
    sum_ += covered_share;
    squares_ += covered_share * covered_share;
  }
  Coverage coverage() const {
    const double mean = sum_ / count_;
    return {mean, std::sqrt((squares_ / count_ - mean * mean) / count_)};
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

enum class Noise {
  kIndependent,
  kHeteroscedastic,  // of variance 0.25 + 0.75 x_2^2, which no homoscedastic model describes
  kDependent,        // correlation 0.5^k at lag k: the intercept's variance is three times as large
};

inline Data replication_data(std::uint64_t seed, Noise noise, Index rows) {
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

#endif  // WINDHOVER_TESTS_RUNTIME_COVERAGE_H_
