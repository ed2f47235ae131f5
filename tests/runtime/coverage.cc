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

bool Replication::drawn(Index j, double truth) const {
  const double sd = std::sqrt((draws.col(j).array() - of(j).mean).square().mean());
  return off(j, truth) <= 1.645 * sd;
}

Replication replicate(EngineConfig config, const Data& data, std::uint64_t seed) {
  config.model.noise_variance = 0;  // learned
  config.model.prior_precision = config.model.intercept_precision = 0.01;
  config.seed = seed;
  config.sampler.chains = 4;
  TestEngine engine(config);
  for (Index row = 0; row < data.rows(); row += 50) {
    engine.feed(data, row, row + 50);
    engine.poll_until_idle();
  }
  return {engine.parameters(), engine.draws()};
}

}  // namespace windhover::test
