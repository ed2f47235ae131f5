#include "windhover/runtime/learning/chain_set.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

// How many chains are transported at a time: enough to fill a vector, few enough not to take long.
constexpr std::size_t kAtATime = 4;

}  // namespace

ChainSet::ChainSet(Arena& arena, const EngineConfig& config, std::size_t state_size) noexcept
    : dimension_(config.model.dimension()),
      seed_(config.seed),
      temperature_(config.sampler.temperature),
      state_size_(state_size),
      draws_(arena, dimension_, config.retained_draws, config.sampler.temperature),
      thetas_(arena.allocate<double>(std::size_t{dimension_} * config.sampler.chains).data()),
      states_(arena.allocate<double>(state_size * config.sampler.chains).data()),
      deviations_(arena.allocate<double>(std::size_t{dimension_} * kAtATime).data()),
      centre_(arena.allocate<double>(dimension_).data()),
      chains_(arena.allocate<Chain>(config.sampler.chains)) {}

void ChainSet::reset() noexcept {
  draws_.reset();
  std::fill_n(thetas_, std::size_t{dimension_} * chains_.size(), 0.0);
  std::fill_n(states_, state_size_ * chains_.size(), 0.0);
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    chains_[c] = {thetas_ + c * dimension_, static_cast<std::uint16_t>(c),
                  states_ + c * state_size_};
  }
}

void ChainSet::place(Chain& chain, const Estimator& estimator, std::uint64_t number) noexcept {
  draws_.gaussian_draw(estimator.laplace().factor(), seed_, number, chain.theta);
  const double scale = 1.0 / std::sqrt(estimator.laplace().n());
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.theta[j] = estimator.laplace().mean()[j] + scale * chain.theta[j];
  }
}

void ChainSet::transport(const Estimator& estimator, double followed,
                         Interlude* interlude) noexcept {
  const double* before = estimator.laplace().before().mean;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    centre_[j] = before[j] + followed * (estimator.laplace().mean()[j] - before[j]);
  }
  transport_draws(estimator, interlude);
  for (std::size_t first = 0; first < chains_.size(); first += kAtATime) {
    const std::size_t count = std::min(kAtATime, chains_.size() - first);
    // Two triangles are read, whatever the number of chains. The work is reported before as well as
    // after, so that these chains are a piece of their own.
    const double products = (static_cast<double>(count) + kSweptNumber) * dimension_ * dimension_;
    advance(interlude, products);
    transport_some(chains_.subspan(first, count), estimator, centre_);
    advance(interlude, products);
  }
}

void ChainSet::transport_some(std::span<Chain> chains, const Estimator& estimator,
                              const double* mean_before) noexcept {
  const LaplaceApproximation::Gaussian& before = estimator.laplace().before();
  const std::size_t count = chains.size();
  double* deviations = deviations_;  // one column a chain
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::size_t c = 0; c < count; ++c) {
      deviations[j * count + c] = std::sqrt(before.n) * (chains[c].theta[j] - mean_before[j]);
    }
  }
  before.factor.colour(deviations, count);
  estimator.laplace().factor().solve_root(deviations, count);
  const double scale = 1.0 / std::sqrt(estimator.laplace().n());
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    for (std::size_t c = 0; c < count; ++c) {
      chains[c].theta[j] = estimator.laplace().mean()[j] + scale * deviations[j * count + c];
    }
  }
}

bool ChainSet::beyond(const Chain& chain, const Estimator& estimator,
                      double deviations) const noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double variance = estimator.laplace().covariance()[std::size_t{j} * (dimension_ + 1)];
    const double deviation = chain.theta[j] - estimator.laplace().mean()[j];
    const double most = deviations * deviations * std::max(temperature_, 1.0);
    if (!(deviation * deviation <= most * variance)) return true;
  }
  return false;
}

}  // namespace windhover
