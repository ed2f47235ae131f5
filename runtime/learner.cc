#include "windhover/runtime/learner.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr std::int64_t kPublishIntervalNs = 1'000'000;
constexpr double kMostOwedRelaxations = 32;
// How far the logarithm of a learned prior precision may go while the chains forget once, and at a
// time: the law that the chains move by must change slower than they follow.
constexpr double kPriorMove = 0.1;
constexpr double kLongestPriorMove = 0.5;
constexpr double kDivergedDeviations = 1e3;  // a chain this many sd from the centre is lost

}  // namespace

Learner::Learner(Arena& arena, const EngineConfig& config, Window& window, Model* model,
                 AnySampler* sampler, Snapshots<Posterior>& snapshots, Clock& clock,
                 Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      dimension_(config.model.dimension()),
      window_(window),
      model_(model),
      sampler_(sampler),
      snapshots_(snapshots),
      clock_(clock),
      counters_(counters),
      estimator_(arena, config),
      draws_(arena, dimension_, config.retained_draws, config.sampler.temperature),
      factor_before_(arena, dimension_),
      diagnostics_(arena, single_pass() ? 0 : config.sampler.chains, dimension_),
      consistency_(arena, dimension_, is_checked(config)),
      scores_(arena, dimension_),
      repeats_(arena, config.horizon == Horizon::kWindow ? config.window_size : 1),
      gradient_(model, dimension_, estimator_.prior().values()),
      single_pass_(arena, single_pass() ? dimension_ : 0, config.single_pass_noise),
      weights_(config.horizon == Horizon::kAll ? 0.0 : static_cast<double>(config.window_size),
               config.forgetting_spread),
      state_size_(single_pass()
                      ? dimension_
                      : find_sampler(config.sampler.name)->state_size(config.sampler, dimension_)),
      temperature_(config.sampler.temperature),
      thetas_(arena.allocate<double>(std::size_t{dimension_} * config.sampler.chains).data()),
      states_(arena.allocate<double>(state_size_ * config.sampler.chains).data()),
      step_work_(arena.allocate<double>(step_scratch(dimension_)).data()),
      deviations_(arena.allocate<double>(std::size_t{dimension_} * config.sampler.chains).data()),
      mean_before_(arena.allocate<double>(dimension_).data()),
      newton_previous_(arena.allocate<double>(dimension_).data()),
      scratch_(arena.allocate<double>(dimension_).data()),
      chains_(arena.allocate<Chain>(config.sampler.chains)),
      indices_(arena.allocate<std::uint32_t>(
          (single_pass() ? 2 : 1) *
          std::max<std::size_t>(config.sampler.minibatch_size, kWarmUpRows))) {}

// Without a window the spread of the chains is that of the sandwich, which the check above
// kLyapunovDimension does not know.
bool Learner::is_checked(const EngineConfig& config) noexcept {
  if (config.horizon != Horizon::kWindow) {
    return config.model.dimension() <= Consistency::kLyapunovDimension;
  }
  return config.sampler.noise_structure == NoiseStructure::kFull;
}

void Learner::reset() noexcept {
  estimator_.reset(config_);
  draws_.reset();
  diagnostics_.reset();
  recorded_steps_ = 0;
  consistency_.reset();
  scores_.reset();
  repeats_.reset();
  std::fill_n(thetas_, std::size_t{dimension_} * chains_.size(), 0.0);
  first_order_ = sampler_ != nullptr && find_sampler(config_.sampler.name)->has_law &&
                 sampler_->momentum() == 0;
  posterior_is_target_ = first_order_ && find_sampler(config_.sampler.name)->targets_posterior;
  std::fill_n(states_, state_size_ * chains_.size(), 0.0);
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    chains_[c] = {thetas_ + c * dimension_, static_cast<std::uint16_t>(c),
                  states_ + c * state_size_, step_work_};
  }
  // With no rows A is Lambda / 1: the prior. Prior precisions are positive, so this cannot fail.
  if (ok(estimator_.refresh(1.0, 1.0))) {
    draws_.fill_gaussian(estimator_.factor(), config_.seed);
    publish();
  }
}

double Learner::minibatch_size() const noexcept {
  const std::uint64_t quarter = std::max<std::uint64_t>(1, rows_seen() / 4);
  return static_cast<double>(std::min<std::uint64_t>(config_.sampler.minibatch_size, quarter));
}

// One Newton step from an anchor this far away would leave an error that shows (for a quadratic
// loss none does): squared distance in posterior standard deviations.
bool Learner::far_from_mode() const noexcept {
  const double moved = estimator_.dispersion_step();
  return !model_->quadratic() && model_->log_concave() &&
         (estimator_.newton_decrement() > 0.01 ||
          moved > 0.1 * estimator_.dispersion_relative_sd());
}

bool Learner::rested() const noexcept {
  if (config_.draws_per_observation == 0 || credit_ >= minibatch_size()) return false;
  return phase_ != Phase::kSampling || draws_suffice();
}

// Enough to serve and to judge them: no stream that stops early leaves fewer.
bool Learner::draws_suffice() const noexcept {
  const double chains = static_cast<double>(chains_.size());
  const double to_serve = std::min(kMostOwedRelaxations, config_.retained_draws / chains);
  return relaxations_ >= to_serve && consistency_.suffices();
}

// A number that any counter can hold.
double Learner::relaxation() const noexcept {
  const double window = static_cast<double>(rows_seen()) / minibatch_size();
  constexpr double kLongest = 1e15;
  return std::min(std::max({1.0, window, sampler_->relaxation()}), kLongest);
}

// Rows whose statistics cost about a tenth of moving all chains once.
std::uint64_t Learner::move_cost_rows() const noexcept {
  const double examples = minibatch_size() * static_cast<double>(chains_.size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(examples / 16), 8, kTailRows);
}

int Learner::poll(int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(window_.head());
    if (!step()) break;
    ++done;
  }
  const bool idle = done < max_work || max_work == 0;
  if (dirty_ && (idle || clock_.now_ns() - last_publish_ns_ >= kPublishIntervalNs)) publish();
  return done;
}

int Learner::replay(std::uint64_t head, int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(head);
    if (!step()) break;
    ++done;
  }
  if (dirty_) publish();
  return done;
}

// One round. Reads top to bottom: warm up, else move every chain on its own minibatch, sum some
// rows of the window for the shared estimates, take in the newest rows, refresh.
bool Learner::step() noexcept {
  if (phase_ == Phase::kWarmingUp) return warm_up();
  if (single_pass()) return take_in();
  const bool rested = this->rested();
  if (pass_position_ == pass_end_ && pass_due()) begin_pass();
  const bool sweeping = pass_position_ != pass_end_;
  // A pass that gains on the stream ends with the newest row, not with the newest when it began.
  if (sweeping && fresh_ <= move_cost_rows()) pass_end_ = head_;
  const double tail_before = tail_rows_;
  add_tail();
  if (rested && !sweeping && tail_rows_ == tail_before && tail_rows_ == refreshed_tail_) {
    return false;
  }
  if (!rested) move_chains();
  if (sweeping && sweep(sweep_rows(rested), true)) complete_pass();
  const double n = static_cast<double>(rows_seen());
  if (n >= 1.02 * refreshed_n_ || (rested && tail_rows_ != refreshed_tail_)) refresh();
  ++round_;
  return true;
}

void Learner::take_head(std::uint64_t head) noexcept {
  if (single_pass()) head = std::min(head, head_ + rows_wanted());
  fresh_ = head - head_;
  if (fresh_ == 0) return;
  if (head_sink_ != nullptr) head_sink_(head_context_, round_, head);
  const double fresh = static_cast<double>(fresh_);
  if (!single_pass()) remove_leaving(head);
  head_ = head;
  window_.advance_lease(head);
  const double target = config_.draws_per_observation;
  const double most = std::max(credit_, target * static_cast<double>(rows_seen()));
  credit_ = std::min(credit_ + target * fresh, most);
}

// Rows about to leave the window are taken out of the sums that hold them, while the lease still
// protects them: the summary is that of the last N rows, not of the last pass. When the stream is
// too fast for that, the next pass puts it right.
void Learner::remove_leaving(std::uint64_t head) noexcept {
  const std::uint64_t first = first_row();
  const std::uint64_t next_first = head > window_.size() ? head - window_.size() : 0;
  if (next_first == first) return;
  const std::uint64_t most = rested() ? kWarmUpRows : move_cost_rows();
  if (phase_ == Phase::kWarmingUp || next_first - first > most || next_first > tail_position_) {
    exact_ = pass_exact_ = false;
    return;
  }
  const RowBatch leaving = rows_between(first, next_first);
  const double* covariance = model_->quadratic() ? nullptr : estimator_.covariance();
  if (exact_) estimator_.done().remove(*model_, leaving, covariance);
  if (pass_exact_ && pass_position_ > first && pass_position_ != pass_end_) {
    const std::uint64_t swept = std::min(next_first, pass_position_);
    estimator_.pass().remove(*model_, rows_between(first, swept), covariance);
  }
}

void Learner::move_chains() noexcept {
  const double n = static_cast<double>(rows_seen());
  credit_ = std::max(0.0, credit_ - minibatch_size());  // draws that are owed cost none
  gradient_.set_scale(n, estimator_.dispersion());
  for (Chain& chain : chains_) move_chain(chain);
  drawn_rows_ += minibatch_size();
  prior_move_ = std::min(kLongestPriorMove, prior_move_ + kPriorMove / relaxation());
  counters_.add(RuntimeCounter::kSteps, chains_.size());
  counters_.add(RuntimeCounter::kExamples,
                chains_.size() * static_cast<std::uint64_t>(minibatch_size()));
  if (phase_ == Phase::kSampling) {
    record(n);
  } else if (phase_ == Phase::kSettling && (settle_rounds_ -= 1) <= 0) {
    phase_ = Phase::kSampling;
    relaxations_ = 0;
    diagnostics_.reset();
    recorded_steps_ = 0;
    consistency_.reset();
  }
}

// Rows drawn with replacement, for this chain alone: shared minibatches would make all chains
// collapse onto one another.
void Learner::move_chain(Chain& chain) noexcept {
  const std::size_t size = static_cast<std::size_t>(minibatch_size());
  const std::span<std::uint32_t> slots = indices_.first(size);
  fill_indices(config_.seed, {round_, chain.index, Purpose::kMinibatch},
               static_cast<std::uint32_t>(rows_seen()), slots);
  const auto start = static_cast<std::uint32_t>(first_row() % window_.capacity());
  const auto capacity = static_cast<std::uint32_t>(window_.capacity());
  for (std::uint32_t& slot : slots) {
    const std::uint32_t shifted = slot + start;
    slot = shifted >= capacity ? shifted - capacity : shifted;
  }
  const RowBatch minibatch{window_.rows(), slots.data(), size};
  gradient_.set_minibatch(minibatch);
  Rng rng(config_.seed, {round_, chain.index, Purpose::kInjectedNoise});
  if (!ok(sampler_->step(chain, gradient_, rng))) recover(chain);
  if (config_.sampler.noise_estimator != NoiseEstimator::kWindowSweep &&
      chain.index == round_ % chains_.size()) {
    estimate_noise_from(minibatch, chain);
  }
  if (trace_ != nullptr && phase_ == Phase::kSampling && chain.is_draw) {
    trace_(trace_context_, chain.index, chain.theta);
  }
}

// A chain that left for good starts again as a fresh draw; the rates are halved until the next pass
// over the window has completed.
void Learner::recover(Chain& chain) noexcept {
  counters_.add(RuntimeCounter::kDivergences);
  if (!single_pass()) {
    damping_ = std::max(0.5 * damping_, 1.0 / 1024);
    refresh_sampler();
  }
  start_chain(chain, (round_ << 16) + chain.index + 1);
}

// A Laplace draw, and the state that a chain begins with there.
void Learner::start_chain(Chain& chain, std::uint64_t draw) noexcept {
  draws_.gaussian_draw(estimator_.factor(), config_.seed, draw, chain.theta);
  const double scale = 1.0 / std::sqrt(estimator_.n());
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.theta[j] = estimator_.mean()[j] + scale * chain.theta[j];
  }
  if (single_pass()) return;
  Rng rng(config_.seed, {round_, chain.index, Purpose::kInitialState});
  sampler_->start(chain, rng);
}

void Learner::estimate_noise_from(const RowBatch& minibatch, const Chain& chain) noexcept {
  if (config_.sampler.noise_estimator == NoiseEstimator::kWithinMinibatch) {
    estimator_.noise().add_minibatch(*model_, minibatch, chain.theta);
  } else {
    estimator_.noise().add_pair(*model_, minibatch, chain.theta);
  }
}

// Diagnostics at an eighth of the pace at which a chain forgets, retained draws at that pace.
void Learner::record(double n) noexcept {
  const auto relaxation = static_cast<std::uint64_t>(this->relaxation());
  relaxations_ += 1.0 / this->relaxation();
  const bool all_draws = std::ranges::all_of(chains_, &Chain::is_draw);
  const double hot = temperature_ > 0 ? temperature_ : 1.0;
  if (all_draws && round_ % recording_interval() == 0) {
    for (Chain& chain : chains_) {
      if (lost(chain)) recover(chain);
      consistency_.add(chain.theta, estimator_.mean(), n, estimator_.factor(),
                       estimator_.covariance());
      // Deviations from the centre, in sd: a moving window and a growing n are no disagreement.
      double* deviation = deviations_ + std::size_t{chain.index} * dimension_;
      for (std::uint32_t j = 0; j < dimension_; ++j) {
        const double variance = estimator_.covariance()[std::size_t{j} * (dimension_ + 1)];
        deviation[j] = (chain.theta[j] - estimator_.mean()[j]) / std::sqrt(hot * variance);
      }
    }
    diagnostics_.add(deviations_);
    recorded_steps_ += static_cast<double>(recording_interval());
  }
  for (Chain& chain : chains_) {
    const std::uint64_t offset = chain.index * relaxation / chains_.size();
    if (chain.is_draw && (round_ + offset) % relaxation == 0) {
      draws_.retain(chain.theta, estimator_.mean(), n);
      dirty_ = true;
    }
  }
}

bool Learner::lost(const Chain& chain) const noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double variance = estimator_.covariance()[std::size_t{j} * (dimension_ + 1)];
    const double deviation = chain.theta[j] - estimator_.mean()[j];
    const double most = kDivergedDeviations * kDivergedDeviations * std::max(temperature_, 1.0);
    if (deviation * deviation > most * variance) return true;
  }
  return false;
}

}  // namespace windhover
