#include "windhover/runtime/learning/chain_mover.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr double kFarDeviations = 10;

}  // namespace

ChainMover::ChainMover(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                       AnySampler* sampler, Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      cursor_(cursor),
      sampler_(sampler),
      counters_(counters),
      rows_(cursor),
      moved_(arena.allocate<Status>(config.sampler.chains)) {}

void ChainMover::reset() noexcept {
  const SamplerEntry& entry = *find_sampler(config_.sampler.name);
  first_order_ = entry.has_law && sampler_->momentum() == 0;
  posterior_is_target_ = first_order_ && entry.targets_posterior;
}

double ChainMover::relaxation() const noexcept {
  const double window = cursor_.worth() / minibatch_size();
  return std::min(std::max({1.0, window, sampler_->relaxation()}), longest_relaxation());
}

double ChainMover::longest_relaxation() const noexcept {
  return std::max(1e5, 4096 * cursor_.worth() / minibatch_size());
}

bool ChainMover::refresh(const Estimator& estimator, bool noise_known,
                         Interlude* interlude) noexcept {
  Estimates estimates = estimator.estimates(minibatch_size(), noise_known);
  estimates.n /= damping_.factor();
  estimates.interlude = interlude;
  counters_.add(RuntimeCounter::kRefreshes);
  const bool refreshed = ok(sampler_->refresh(estimates));
  if (refreshed) law_n_ = estimator.laplace().n();
  has_law_ = has_law_ || refreshed;
  if (!refreshed) counters_.add(RuntimeCounter::kFactorizationFailures);
  return refreshed;
}

void ChainMover::move(ChainSet& chains, Estimator& estimator, std::size_t begin, std::size_t end,
                      LearnerWorker& worker) noexcept {
  worker.gradient.set_scale(law_n_, estimator.dispersion().value());
  const std::span<Chain> all = chains.all();
  const auto size = static_cast<std::size_t>(minibatch_size());
  // Minibatches are drawn for several chains at a time, so that rows of the next are fetched while
  // one moves.
  const std::size_t at_a_time = std::max<std::size_t>(1, worker.indices.size() / size);
  for (std::size_t first = begin; first < end; first += at_a_time) {
    const std::size_t last = std::min(end, first + at_a_time);
    for (std::size_t c = first; c < last; ++c) {
      draw_minibatch(all[c], worker.indices.subspan((c - first) * size, size), worker);
    }
    for (std::size_t c = first; c < last; ++c) {
      const std::uint32_t* slots = worker.indices.data() + (c - first) * size;
      const RowBatch minibatch{cursor_.rows_in_place(), slots, size, (last - c - 1) * size};
      moved_[c] = move_chain(chains, all[c], estimator, minibatch, worker);
    }
  }
}

std::size_t ChainMover::move_aside(ChainSet& chains, Estimator& estimator,
                                   LearnerWorker& worker) noexcept {
  ++asides_;
  const std::size_t chain = (round_ + asides_) % chains.size();
  move(chains, estimator, chain, chain + 1, worker);
  return chain;
}

// Rows drawn with replacement, for this chain alone: shared minibatches would make all chains
// collapse onto one another.
void ChainMover::draw_minibatch(const Chain& chain, std::span<std::uint32_t> slots,
                                LearnerWorker& worker) const noexcept {
  const KnownRows::Rows rows = rows_.drawn();
  const RandomPosition position{move_number(), chain.index, Purpose::kMinibatch};
  if (cursor_.ages().flat()) {
    fill_indices(config_.seed, position, static_cast<std::uint32_t>(rows.end - rows.first), slots);
  } else {
    worker.age_draws->prepare(cursor_.ages(), rows.first, rows.end);
    worker.age_draws->draw(config_.seed, position, slots);
  }
  const auto start = static_cast<std::uint32_t>(rows.first % cursor_.capacity());
  const auto capacity = static_cast<std::uint32_t>(cursor_.capacity());
  for (std::uint32_t& slot : slots) {
    const std::uint32_t shifted = slot + start;
    slot = shifted >= capacity ? shifted - capacity : shifted;
  }
}

Status ChainMover::move_chain(ChainSet& chains, Chain& chain, Estimator& estimator,
                              const RowBatch& minibatch, LearnerWorker& worker) noexcept {
  worker.gradient.set_minibatch(minibatch);
  chain.work = worker.step_work;
  Rng rng(config_.seed, {move_number(), chain.index, Purpose::kInjectedNoise});
  const Status status = sampler_->step(chain, worker.gradient, rng);
  // The estimators of C that need minibatches take those of one chain, another one each round.
  if (!ok(status) || chain.index != round_ % chains.size()) return status;
  NoiseCovariance& noise = estimator.noise().measured();
  if (config_.sampler.noise_estimator == NoiseEstimator::kWithinMinibatch) {
    noise.add_minibatch(*worker.model, minibatch, chain.theta);
  } else if (config_.sampler.noise_estimator == NoiseEstimator::kRecursion) {
    noise.add_pair(*worker.model, minibatch, chain.theta);
  }
  return status;
}

void ChainMover::count_moves(const ChainSet& chains, std::size_t first, std::size_t last,
                             bool traced) noexcept {
  for (const Chain& chain : chains.all().subspan(first, last - first)) {
    if (traced && chain.is_draw && ok(moved_[chain.index])) chains.show(chain);
  }
  counters_.add(RuntimeCounter::kSteps, last - first);
  counters_.add(RuntimeCounter::kExamples,
                (last - first) * static_cast<std::uint64_t>(minibatch_size()));
}

void ChainMover::start(ChainSet& chains, Chain& chain, const Estimator& estimator,
                       std::uint64_t number) noexcept {
  chains.place(chain, estimator, number);
  Rng rng(config_.seed, {round_, chain.index, Purpose::kInitialState});
  sampler_->start(chain, rng);
}

bool ChainMover::recover(ChainSet& chains, const Estimator& estimator, Lost which,
                         bool noise_known) noexcept {
  const auto left = [&](const Chain& chain) {
    return which == Lost::kTooFar ? chains.diverged(chain, estimator) : !ok(moved_[chain.index]);
  };
  const auto losses = std::ranges::count_if(chains.all(), left);
  if (losses == 0) return false;
  counters_.add(RuntimeCounter::kDivergences, static_cast<std::uint64_t>(losses));
  damping_.chains_lost();
  refresh(estimator, noise_known, nullptr);
  for (Chain& chain : chains.all()) {
    if (left(chain)) start_fresh(chains, chain, estimator);
  }
  return true;
}

bool ChainMover::far_off(const ChainSet& chains, const Chain& chain,
                         const Estimator& estimator) const noexcept {
  return chains.beyond(chain, estimator,
                       posterior_is_target_ ? kFarDeviations : ChainSet::kDivergedDeviations);
}

}  // namespace windhover
