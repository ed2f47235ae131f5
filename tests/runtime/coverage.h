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
  void add(double covered_share);
  Coverage coverage() const;

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

enum class Noise {
  kIndependent,
  kHeteroscedastic,  // of variance 0.25 + 0.75 x_2^2, which no homoscedastic model describes
  kDependent,        // correlation 0.5^k at lag k: the intercept's variance is three times as large
};

Data replication_data(std::uint64_t seed, Noise noise, Index rows);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_COVERAGE_H_
