// Coverage of intervals over replications of the data: how often, and how surely.
#ifndef WINDHOVER_TESTS_RUNTIME_COVERAGE_H_
#define WINDHOVER_TESTS_RUNTIME_COVERAGE_H_

#include <cmath>
#include <vector>

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
  kHeteroscedastic,  // variance 0.25 + 0.75 x_2^2, which no homoscedastic model describes
  kDependent,        // correlation 0.5^k at lag k: the intercept's variance is three times as large
};

Data replication_data(std::uint64_t seed, Noise noise, Index rows);

// What an engine says at the end of a replication, in which 50 rows came at a time, the learner
// keeping up. The seed, the noise variance, the prior and the chains of `config` are set here.
struct Replication {
  std::vector<ParameterSummary> parameters;
  RowMatrix draws;

  // Whether 1.645 sd, sd_robust or the draws' sd about the mean of parameter j hold `truth`.
  bool plain(Index j, double truth) const { return off(j, truth) <= 1.645 * of(j).sd; }
  bool robust(Index j, double truth) const { return off(j, truth) <= 1.645 * of(j).sd_robust; }
  bool drawn(Index j, double truth) const;

 private:
  const ParameterSummary& of(Index j) const { return parameters[static_cast<std::size_t>(j)]; }
  double off(Index j, double truth) const { return std::abs(of(j).mean - truth); }
};

Replication replicate(EngineConfig config, const Data& data, std::uint64_t seed);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_COVERAGE_H_
