#include "windhover/runtime/learner.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr std::int64_t kPublishIntervalNs = 1'000'000;
constexpr double kMostOwedRelaxations = 32;

}  // namespace

Learner::Learner(Arena& arena, const EngineConfig& config, Window& window,
                 std::span<Model* const> models, AnySampler* sampler,
                 Snapshots<Posterior>& snapshots, Clock& clock,
                 Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      dimension_(config.model.dimension()),
      window_(window),
      models_(models),
      model_(models.data() == nullptr ? nullptr : models[0]),
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
      single_pass_(arena, single_pass() ? dimension_ : 0, config.single_pass_noise),
      weights_(config.horizon == Horizon::kAll ? 0.0 : static_cast<double>(config.window_size),
               config.forgetting_spread),
      state_size_(single_pass()
                      ? dimension_
                      : find_sampler(config.sampler.name)->state_size(config.sampler, dimension_)),
      temperature_(config.sampler.temperature),
      thetas_(arena.allocate<double>(std::size_t{dimension_} * config.sampler.chains).data()),
      states_(arena.allocate<double>(state_size_ * config.sampler.chains).data()),
      deviations_(arena.allocate<double>(std::size_t{dimension_} * config.sampler.chains).data()),
      mean_before_(arena.allocate<double>(dimension_).data()),
      newton_previous_(arena.allocate<double>(dimension_).data()),
      scratch_(arena.allocate<double>(dimension_).data()),
      noise_at_(arena.allocate<double>(dimension_).data()),
      chains_(arena.allocate<Chain>(config.sampler.chains)),
      moved_(arena.allocate<Status>(config.sampler.chains)),
      workers_(arena.make_array<LearnerWorker>(config.learner_threads, arena, config)),
      team_(
          [](void* learner, int task, int worker) noexcept {
            auto& self = *static_cast<Learner*>(learner);
            self.do_task(task, self.workers_[static_cast<std::size_t>(worker)]);
          },
          this) {}

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
  scores_.reset();
  repeats_.reset();
  std::fill_n(thetas_, std::size_t{dimension_} * chains_.size(), 0.0);
  first_order_ = sampler_ != nullptr && find_sampler(config_.sampler.name)->has_law &&
                 sampler_->momentum() == 0;
  posterior_is_target_ = first_order_ && find_sampler(config_.sampler.name)->targets_posterior;
  std::fill_n(states_, state_size_ * chains_.size(), 0.0);
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    chains_[c] = {thetas_ + c * dimension_, static_cast<std::uint16_t>(c),
                  states_ + c * state_size_};
  }
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    workers_[w].model = models_[w];
    workers_[w].gradient = GradientSource(models_[w], dimension_, estimator_.prior().values());
  }
  share_transform();
  owe_draws(0);
  // With no rows A is Lambda / 1: the prior. Prior precisions are positive, so this cannot fail.
  if (ok(estimator_.refresh(1.0, 1.0))) {
    draws_.fill_gaussian(estimator_.factor(), config_.seed);
    publish();
  }
}

double Learner::minibatch_size() const noexcept {
  return static_cast<double>(minibatch_rows(config_, rows_seen()));
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
  const bool patient = static_cast<double>(quiet_moves_) < longest_relaxation();
  if (phase_ == Phase::kApproach || !patient) return true;
  return phase_ == Phase::kSampling && draws_suffice();
}

// Enough to serve and to judge them: no stream that stops early leaves fewer. A sampler that has
// gone on to refine (Santa) has none that could be judged.
bool Learner::draws_suffice() const noexcept {
  constexpr double kLongestExploration = 512;
  const double patience = last_draw_ > 0 ? kMostOwedRelaxations : kLongestExploration;
  const bool comparable = relaxations_ - last_draw_ < patience;
  const bool judged = consistency_.suffices() && diagnostics_.suffices();
  return relaxations_ >= owed_until_ && (judged || !comparable);
}

// The draws to serve and to judge are those from now on, when chains have forgotten where they are.
void Learner::owe_draws(double forgetting) noexcept {
  const double chains = static_cast<double>(chains_.size());
  const double to_serve = std::min(kMostOwedRelaxations, config_.retained_draws / chains);
  owed_until_ = relaxations_ + forgetting + to_serve;
  consistency_.reset(relaxations_);
}

// Where rows that never let the chains settle are all there is, draws are not owed for ever.
void Learner::owe_draws_again(double forgetting, std::uint64_t& times) noexcept {
  constexpr std::uint64_t kMost = 4;
  if (times >= kMost) return;
  ++times;
  owe_draws(forgetting);
}

double Learner::relaxation() const noexcept {
  const double window = static_cast<double>(rows_seen()) / minibatch_size();
  return std::min(std::max({1.0, window, sampler_->relaxation()}), longest_relaxation());
}

// Chains that take longer are given up: what they leave is not enough, and the status says so.
double Learner::longest_relaxation() const noexcept {
  return std::max(1e5, 4096 * static_cast<double>(rows_seen()) / minibatch_size());
}

// Rows whose statistics cost about a tenth of moving all chains once.
std::uint64_t Learner::move_cost_rows() const noexcept {
  const double examples = minibatch_size() * static_cast<double>(chains_.size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(examples / 16), 8, kTailRows);
}

int Learner::poll(int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(next_head());
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
  const std::uint64_t interval = sweep_interval(rested);
  const bool sweeping = pass_position_ != pass_end_ && round_ % interval == 0;
  // A pass that gains on the stream ends with the newest row, not with the newest when it began.
  if (sweeping && fresh_ <= move_cost_rows()) pass_end_ = head_;
  const double tail_before = tail_rows_;
  add_tail();
  if (rested && !sweeping && tail_rows_ == tail_before && tail_rows_ == refreshed_tail_) {
    return false;
  }
  if (sweeping) {
    begin_sweep(sweep_rows(rested));
    // C is summed where this chain stands before it moves, another for every piece of the pass.
    const Chain& chain = chains_[round_ / interval % chains_.size()];
    std::copy_n(far_off(chain) ? estimator_.mean() : chain.theta, dimension_, noise_at_);
  }
  share_out(!rested, sweeping);
  if (!rested) end_move();
  if (sweeping && end_sweep()) complete_pass();
  const bool grown = rows_in_sums() >= 1.02 * refreshed_n_;
  if (!sums_lost_ && sums_filled() && (grown || tail_due(rested))) follow_tail();
  ++round_;
  asides_ = 0;
  return true;
}

// While chains move, a frame of many rows is taken in by as many a round as the sums can follow. A
// stream that has more waiting than a few frames outruns them, until the next pass ends: then it is
// better to draw from the newest rows.
std::uint64_t Learner::next_head() noexcept {
  const std::uint64_t head = window_.head();
  if (single_pass() || phase_ != Phase::kSampling || rested()) return head;
  const std::uint64_t slack = window_.capacity() - window_.size();
  const std::uint64_t most =
      std::min({slack / 2, rows_seen() / 4, std::max(kWarmUpRows, rows_seen() / 32)});
  outpaced_ = outpaced_ || head - head_ > most;
  return outpaced_ ? head : std::min(head, head_ + move_cost_rows());
}

void Learner::take_head(std::uint64_t head) noexcept {
  if (single_pass()) head = std::min(head, head_ + rows_wanted());
  fresh_ = head - head_;
  if (fresh_ == 0) return;
  if (head_sink_ != nullptr) head_sink_(head_context_, round_, head);
  const double fresh = static_cast<double>(fresh_);
  arrived_rows_ += fresh;
  unfollowed_rows_ += fresh;
  quiet_passes_ = quiet_moves_ = owed_for_losses_ = owed_for_laws_ = 0;
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
    outrun_rows_ += next_first - first;
    return;
  }
  const RowBatch leaving = rows_between(first, next_first);
  const double* covariance = model_->quadratic() ? nullptr : estimator_.covariance();
  const double* prior = estimator_.prior().values();
  if (exact_ && !estimator_.done().remove(*model_, leaving, covariance, prior)) sums_lost_ = true;
  if (pass_exact_ && pass_position_ > first && pass_position_ != pass_end_) {
    const std::uint64_t swept = std::min(next_first, pass_position_);
    if (!estimator_.pass().remove(*model_, rows_between(first, swept), covariance, prior)) {
      begin_pass();
    }
  }
}

}  // namespace windhover
