// The part of the learner that moves the chains.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

constexpr std::size_t kGroupsAThread = 4;
// Products of two numbers that take some microseconds: less is not worth handing to a thread.
constexpr double kGroupWork = 8192;
// How far the logarithm of a learned prior precision may go while the chains forget once, and at a
// time: the law that the chains move by must change slower than they follow.
constexpr double kPriorMove = 0.1;
constexpr double kLongestPriorMove = 0.5;
constexpr double kDivergedDeviations = 1e3;  // a chain this many sd from the centre is lost
constexpr double kFarDeviations = 10;

}  // namespace

// The two sums of the sweep, which take longest, then the chains in groups of neighbours: pieces
// that touch nothing of one another's.
void Learner::share_out(bool moving, bool sweeping) noexcept {
  sums_ = sweeping ? 2 : 0;
  const int tasks = sums_ + (moving ? static_cast<int>(groups()) : 0);
  if (workers_.size() > 1) return team_.run(tasks);
  for (int task = 0; task < tasks; ++task) do_task(task, leader());
}

void Learner::do_task(int task, LearnerWorker& worker) noexcept {
  if (task >= sums_) return move_group(static_cast<std::size_t>(task - sums_), worker);
  return task == 0 ? sum_curvature(worker) : sum_noise(worker);
}

// Where the work is worth it more than there are threads, so that none waits long for another's
// last.
std::size_t Learner::groups() const noexcept {
  const std::size_t threads = workers_.size();
  if (threads == 1) return 1;
  const double chains = static_cast<double>(chains_.size());
  const auto worth = static_cast<std::size_t>(minibatch_size() * chains * dimension_ / kGroupWork);
  return std::min(chains_.size(), std::clamp(worth, threads, kGroupsAThread * threads));
}

void Learner::move_group(std::size_t group, LearnerWorker& worker) noexcept {
  const std::size_t first = group * chains_.size() / groups();
  move_chains(first, (group + 1) * chains_.size() / groups(), worker);
}

void Learner::move_chains(std::size_t begin, std::size_t end, LearnerWorker& worker) noexcept {
  worker.gradient.set_scale(law_n_, estimator_.dispersion());
  const auto size = static_cast<std::size_t>(minibatch_size());
  // Of several chains at a time, so that rows of the next come in while one moves.
  const std::size_t at_a_time = std::max<std::size_t>(1, worker.indices.size() / size);
  for (std::size_t first = begin; first < end; first += at_a_time) {
    const std::size_t last = std::min(end, first + at_a_time);
    for (std::size_t c = first; c < last; ++c) {
      draw_minibatch(chains_[c], worker.indices.subspan((c - first) * size, size));
    }
    for (std::size_t c = first; c < last; ++c) {
      const std::uint32_t* slots = worker.indices.data() + (c - first) * size;
      const RowBatch minibatch{window_.rows(), slots, size, (last - c - 1) * size};
      moved_[c] = move_chain(chains_[c], minibatch, worker);
    }
  }
}

// Rows drawn with replacement, for this chain alone: shared minibatches would make all chains
// collapse onto one another.
void Learner::draw_minibatch(const Chain& chain, std::span<std::uint32_t> slots) const noexcept {
  fill_indices(config_.seed, {move_number(), chain.index, Purpose::kMinibatch},
               static_cast<std::uint32_t>(rows_seen()), slots);
  const auto start = static_cast<std::uint32_t>(first_row() % window_.capacity());
  const auto capacity = static_cast<std::uint32_t>(window_.capacity());
  for (std::uint32_t& slot : slots) {
    const std::uint32_t shifted = slot + start;
    slot = shifted >= capacity ? shifted - capacity : shifted;
  }
}

Status Learner::move_chain(Chain& chain, const RowBatch& minibatch,
                           LearnerWorker& worker) noexcept {
  worker.gradient.set_minibatch(minibatch);
  chain.work = worker.step_work;
  Rng rng(config_.seed, {move_number(), chain.index, Purpose::kInjectedNoise});
  const Status status = sampler_->step(chain, worker.gradient, rng);
  if (config_.sampler.noise_estimator != NoiseEstimator::kWindowSweep &&
      chain.index == round_ % chains_.size() && ok(status)) {
    estimate_noise_from(minibatch, chain, worker);
  }
  return status;
}

// What the chains share, in their order.
void Learner::end_move() noexcept {
  recover_chains(false);
  count_moves(0, chains_.size());
  interlude_.restart();
  ++quiet_moves_;
  ++moves_since_refresh_;
  // A sampler that does not know how slow it is says 0.
  const double known = sampler_->relaxation();
  unfollowed_rows_ -= unfollowed_rows_ / (known > 0 ? std::max(1.0, known) : relaxation());
  prior_move_ = std::min(kLongestPriorMove, prior_move_ + kPriorMove / relaxation());
  if (phase_ == Phase::kSampling) {
    record(estimator_.n());
  } else if (phase_ == Phase::kSettling && (settling_ -= 1.0 / relaxation()) <= 0) {
    phase_ = Phase::kSampling;
    relaxations_ = last_draw_ = 0;
    diagnostics_.reset();
    recorded_steps_ = 0;
    ratio_ = {};
    owe_draws(0);
  }
}

// Of the chains `first` to `last`, once each.
void Learner::count_moves(std::size_t first, std::size_t last) noexcept {
  for (const Chain& chain : chains_.subspan(first, last - first)) {
    if (trace_ != nullptr && phase_ == Phase::kSampling && chain.is_draw &&
        ok(moved_[chain.index])) {
      trace_(trace_context_, chain.index, chain.theta);
    }
  }
  const auto moves = static_cast<double>(last - first);
  const double rows = minibatch_size() * moves / static_cast<double>(chains_.size());  // a chain
  credit_ = std::max(0.0, credit_ - rows);  // draws that are owed cost none
  drawn_rows_ += rows;
  counters_.add(RuntimeCounter::kSteps, last - first);
  counters_.add(RuntimeCounter::kExamples,
                (last - first) * static_cast<std::uint64_t>(minibatch_size()));
}

// Chains that left for good start again as fresh draws, those whose move failed or those that are
// `far` off. The rates are halved, and every pass without a loss doubles them again; draws, and
// what the chains are judged by, are owed anew.
bool Learner::recover_chains(bool far) noexcept {
  const auto left = [&](const Chain& chain) {
    return far ? lost(chain) : !ok(moved_[chain.index]);
  };
  const auto losses = std::ranges::count_if(chains_, left);
  if (losses == 0) return false;
  counters_.add(RuntimeCounter::kDivergences, static_cast<std::uint64_t>(losses));
  chains_lost_ = true;
  damping_ = std::max(0.5 * damping_, 1.0 / 1024);
  refresh_sampler();
  for (Chain& chain : chains_) {
    if (left(chain)) start_chain(chain, (round_ << 16) + chain.index + 1);
  }
  owe_draws_again(0, owed_for_losses_);
  return true;
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

void Learner::estimate_noise_from(const RowBatch& minibatch, const Chain& chain,
                                  LearnerWorker& worker) noexcept {
  if (config_.sampler.noise_estimator == NoiseEstimator::kWithinMinibatch) {
    estimator_.noise().add_minibatch(*worker.model, minibatch, chain.theta);
  } else {
    estimator_.noise().add_pair(*worker.model, minibatch, chain.theta);
  }
}

// Diagnostics at an eighth of the pace at which a chain forgets, retained draws at that pace.
void Learner::record(double n) noexcept {
  const double before = relaxations_;
  relaxations_ += 1.0 / relaxation();
  const auto passed = [&](double marks, double offset) {
    return std::floor(marks * relaxations_ + offset) > std::floor(marks * before + offset);
  };
  const bool all_draws = std::ranges::all_of(chains_, &Chain::is_draw);
  if (all_draws) {
    last_draw_ = relaxations_;
    recorded_steps_ += 1;
    if (passed(8, 0)) record_iterates(n);
  }
  for (Chain& chain : chains_) {
    const double offset = chain.index / static_cast<double>(chains_.size());
    if (chain.is_draw && passed(1, offset)) {
      draws_.retain(chain.theta, estimator_.mean(), n);
      dirty_ = true;
    }
  }
}

void Learner::record_iterates(double n) noexcept {
  recover_chains(true);
  const double hot = temperature_ > 0 ? temperature_ : 1.0;
  for (const Chain& chain : chains_) {
    consistency_.add(chain.theta, estimator_.mean(), n, estimator_.factor(),
                     estimator_.covariance(), relaxations_);
    // Deviations from the centre, in sd: a moving window and a growing n are no disagreement.
    double* deviation = deviations_ + std::size_t{chain.index} * dimension_;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      const double variance = estimator_.covariance()[std::size_t{j} * (dimension_ + 1)];
      deviation[j] = (chain.theta[j] - estimator_.mean()[j]) / std::sqrt(hot * variance);
    }
  }
  diagnostics_.add(deviations_);
}

// Chains that forget, and those too far off to come home in that time start again as fresh draws,
// where it is the posterior they draw from.
bool Learner::catch_up() noexcept {
  bool any = false;
  for (Chain& chain : chains_) {
    if (!posterior_is_target_ || !far_off(chain)) continue;
    start_chain(chain, (round_ << 16) + chain.index + 1);
    any = true;
  }
  owe_draws(kForgettingTime);
  return any;
}

// The chains came here by the law for C = A: where C is larger they are too wide, and forget
// slowly.
void Learner::begin_settling() noexcept {
  if (posterior_is_target_) begin_anew();
  settling_ = 2;
  const double window = static_cast<double>(rows_seen()) / minibatch_size();
  law_moved_ = sampler_->relaxation() > 2 * window;  // and C was summed there
  // The window may have grown a lot since the chains began: enough for settling and for draws.
  credit_ = std::max(credit_, 6 * static_cast<double>(rows_seen()));
}

// Draws of Laplace's take the place of chains and of what they have left.
void Learner::begin_anew() noexcept {
  for (Chain& chain : chains_) start_chain(chain, (round_ << 16) + chain.index + 1);
  draws_.fill_gaussian(estimator_.factor(), config_.seed);
  ratio_ = {};
  dirty_ = true;
}

// Where no chain is that draws from what it should.
bool Learner::far_off(const Chain& chain) const noexcept {
  return beyond(chain, posterior_is_target_ ? kFarDeviations : kDivergedDeviations);
}

bool Learner::lost(const Chain& chain) const noexcept { return beyond(chain, kDivergedDeviations); }

bool Learner::beyond(const Chain& chain, double deviations) const noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double variance = estimator_.covariance()[std::size_t{j} * (dimension_ + 1)];
    const double deviation = chain.theta[j] - estimator_.mean()[j];
    const double most = deviations * deviations * std::max(temperature_, 1.0);
    if (!(deviation * deviation <= most * variance)) return true;  // or not a number
  }
  return false;
}

}  // namespace windhover
