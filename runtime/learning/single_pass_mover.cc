#include "windhover/runtime/learning/single_pass_mover.h"

namespace windhover {

SinglePassMover::SinglePassMover(Arena& arena, const EngineConfig& config, ChainSet& chains,
                                 const Estimator& estimator,
                                 Counters<RuntimeCounter>& counters) noexcept
    : seed_(config.seed),
      chains_(chains),
      estimator_(estimator),
      counters_(counters),
      law_(arena, config.model.dimension(), config.single_pass_noise),
      weights_(config.horizon == Horizon::kAll ? 0.0 : static_cast<double>(config.window_size),
               config.forgetting_spread) {}

void SinglePassMover::refresh(double minibatch_size, bool noise_known) noexcept {
  law_.refresh(estimator_.estimates(minibatch_size, noise_known), estimator_.laplace().factor(),
               estimator_.prior().values());
}

// v, or v r with random weights: injected noise has the weights of the rows in its covariance
// already.
double SinglePassMover::weight_variance() const noexcept {
  const double ratio = law_.weighs_rows() ? estimator_.done().weight_ratio() : 1.0;
  return weights_.weight_variance() * ratio;
}

void SinglePassMover::start(double rows, std::uint64_t round) noexcept {
  weights_.reset(rows);
  for (Chain& chain : chains_.all()) {
    Rng rng(seed_, {round, chain.index, Purpose::kInitialState});
    law_.start(chain, estimator_.laplace().mode(), rng);
  }
}

void SinglePassMover::seed(const RowBatch& rows, std::uint64_t round,
                           LearnerWorker& worker) noexcept {
  if (!law_.weighs_rows()) return;
  const double variance = weight_variance();
  worker.gradient.set_scale(weights_.effective(), estimator_.dispersion().value());
  for (Chain& chain : chains_.all()) {
    law_.seed(chain, estimator_.laplace().mode(), worker.gradient,
              choose_rows(rows, variance, chain, round, worker));
  }
}

void SinglePassMover::seed_noise(std::uint64_t round) noexcept {
  if (law_.weighs_rows()) return;
  for (Chain& chain : chains_.all()) {
    Rng rng(seed_, {round, chain.index, Purpose::kInjectedNoise});
    law_.seed_noise(chain, weights_.sum(), weight_variance(), rng);
  }
}

bool SinglePassMover::move(const RowBatch& rows, double keep, std::uint64_t round,
                           LearnerWorker& worker) noexcept {
  bool lost = false;
  const double variance = weight_variance();
  worker.gradient.set_scale(weights_.effective(), estimator_.dispersion().value());
  for (Chain& chain : chains_.all()) {
    const SinglePass::WeighedRows weighed = choose_rows(rows, variance, chain, round, worker);
    Rng rng(seed_, {round, chain.index, Purpose::kInjectedNoise});
    const Status moved = law_.step(chain, worker.gradient, weights_, weighed, keep, rng);
    if (!ok(moved)) {
      start_again(chain, round);
      lost = true;
    }
    chains_.show(chain);
  }
  return lost;
}

void SinglePassMover::reweigh(const RowBatch& rows, std::uint64_t round,
                              LearnerWorker& worker) noexcept {
  const double variance = weight_variance();
  const double* mode = estimator_.laplace().mode();
  worker.gradient.set_scale(weights_.effective(), estimator_.dispersion().value());
  for (Chain& chain : chains_.all()) {
    if (!law_.weighs_rows()) {
      Rng rng(seed_, {round, chain.index, Purpose::kInjectedNoise});
      law_.seed_noise(chain, static_cast<double>(rows.count), variance, rng);
      continue;
    }
    law_.seed(chain, mode, worker.gradient, choose_rows(rows, variance, chain, round, worker));
    worker.gradient.set_minibatch(rows);
    law_.unseed(chain, mode, worker.gradient);
  }
}

bool SinglePassMover::follow(const RowBatch& rows, double way, std::uint64_t round,
                             LearnerWorker& worker) noexcept {
  constexpr double kRefuted = 15;  // a parameter; no one row that is taken up goes beyond 10
  if (way > kRefuted * estimator_.done().dimension()) {
    for (Chain& chain : chains_.all()) {
      chains_.place(chain, estimator_, (round << 16) + chain.index + 1);
    }
    return true;
  }
  chains_.transport(estimator_, 0, nullptr);
  reweigh(rows, round, worker);
  return false;
}

bool SinglePassMover::recover(std::uint64_t round) noexcept {
  bool lost = false;
  for (Chain& chain : chains_.all()) {
    if (!chains_.diverged(chain, estimator_)) continue;
    start_again(chain, round);
    lost = true;
  }
  return lost;
}

void SinglePassMover::start_again(Chain& chain, std::uint64_t round) noexcept {
  counters_.add(RuntimeCounter::kDivergences);
  chains_.place(chain, estimator_, (round << 16) + chain.index + 1);
}

SinglePass::WeighedRows SinglePassMover::choose_rows(const RowBatch& rows, double weight_variance,
                                                     const Chain& chain, std::uint64_t round,
                                                     LearnerWorker& worker) const noexcept {
  Rng rng(seed_, {round, chain.index, Purpose::kMinibatch});
  const std::span<std::uint32_t> room = worker.indices.subspan(worker.indices.size() / 2);
  return law_.choose(rows, weight_variance, rng, room);
}

void SinglePassMover::visit_law(StateVisitor& visitor, double minibatch_size) noexcept {
  bool noise_known = law_.noise_known();
  visitor.value(noise_known);
  if (visitor.restores()) {
    law_.look_at(estimator_.estimates(minibatch_size, noise_known), estimator_.laplace().factor(),
                 estimator_.prior().values());
  }
  law_.visit_state(visitor);
}

}  // namespace windhover
