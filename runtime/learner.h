// The learner: one round draws a minibatch for each chain, moves it, sweeps some rows of the window
// for the shared estimates, and now and then publishes a snapshot.
#ifndef WINDHOVER_RUNTIME_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNER_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/fork_join.h"
#include "windhover/platform/snapshots.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/consistency.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/estimator.h"
#include "windhover/runtime/learner_worker.h"
#include "windhover/runtime/posterior.h"
#include "windhover/runtime/repeated_rows.h"
#include "windhover/runtime/retained_draws.h"
#include "windhover/runtime/score_series.h"
#include "windhover/runtime/window.h"
#include "windhover/samplers/diagnostics.h"
#include "windhover/samplers/registry.h"
#include "windhover/samplers/single_pass.h"

namespace windhover {

// Called with every iterate of every chain once the cold start is over. Must not allocate or throw.
using TraceFunction = void (*)(void* context, std::uint16_t chain, const double* theta) noexcept;
// Called when the learner takes a new head: what replay needs to repeat a live run bit for bit.
using HeadSink = void (*)(void* context, std::uint64_t round, std::uint64_t head) noexcept;

// One thread, and helpers in the rounds that move chains with a window: a chain's move and each sum
// over rows is done by one thread from beginning to end, so the result is the same bits whoever
// does it. Phases:
//   warming up  passes over all rows so far, Newton's method to the mode; answers are the prior's,
//               then Laplace's. Left when min(100 D, N / 4) rows have been seen.
//   approach    chains start as Laplace draws and move with C = A (an A-based gain) while the first
//               two passes measure C at the chains.
//   settling    the sampler itself, for one pass; nothing is retained yet.
//   sampling    iterates are retained and counted.
// Without a window (Horizon) each row is seen once: after the warm-up the approach gives the chains
// their start from its rows, and sampling takes in fresh rows as they come.
class Learner {
 public:
  enum class Phase : std::uint8_t { kWarmingUp, kApproach, kSettling, kSampling };

  // One model a worker: EngineConfig::learner_threads.
  Learner(Arena& arena, const EngineConfig& config, Window& window, std::span<Model* const> models,
          AnySampler* sampler, Snapshots<Posterior>& snapshots, Clock& clock,
          Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;  // publishes the prior

  // See Engine::poll.
  int poll(int max_work) noexcept;
  // The same with the head given: replay.
  int replay(std::uint64_t head, int max_work) noexcept;
  // See Engine::assist.
  int assist(std::uint32_t worker) noexcept { return team_.help(static_cast<int>(worker)); }

  void set_trace(TraceFunction trace, void* context) noexcept {
    trace_ = trace;
    trace_context_ = context;
  }
  void set_head_sink(HeadSink sink, void* context) noexcept {
    head_sink_ = sink;
    head_context_ = context;
  }

  Phase phase() const noexcept { return phase_; }
  std::uint64_t round() const noexcept { return round_; }
  std::uint64_t passes() const noexcept { return passes_; }
  std::span<const double> chains() const noexcept {
    return {thetas_, std::size_t{dimension_} * config_.sampler.chains};
  }
  const Estimator& estimator() const noexcept { return estimator_; }
  // Of Horizon::kWindow only.
  const AnySampler& sampler() const noexcept { return *sampler_; }
  double minibatch_size() const noexcept;
  // Of Horizon::kWindow only: moves in which a chain forgets where it was, at least a window.
  double relaxation() const noexcept;
  double longest_relaxation() const noexcept;

  // For replay tests: numbers in which any difference between two runs soon shows, not all that a
  // checkpoint would have to hold.
  template <class Visitor>
  void visit_state(Visitor&& visit) noexcept {
    visit(std::span<double>(thetas_, std::size_t{dimension_} * config_.sampler.chains));
    visit(std::span<double>(states_, state_size_ * config_.sampler.chains));
    visit(std::span<std::uint64_t>(&round_, 1));
    visit(std::span<std::uint64_t>(&head_, 1));
    visit(std::span<std::uint64_t>(&passes_, 1));
    visit(std::span<double>(&credit_, 1));
    double weights[] = {weights_.sum(), weights_.kish()};
    visit(std::span<double>(weights));
    visit(std::span<double>(&prior_move_, 1));
    visit(std::span<double>(const_cast<double*>(estimator_.prior().values()), dimension_));
    visit(std::span<double>(const_cast<double*>(estimator_.mode()), dimension_));
    const std::span<const double> noise = estimator_.noise_covariance();
    visit(std::span<double>(const_cast<double*>(noise.data()), noise.size()));
    scores_.visit_state(visit);
    repeats_.visit_state(visit);
  }

 private:
  static constexpr std::uint64_t kTailRows = 256;  // newest rows taken into the estimates a round
  static constexpr double kForgettingTime = 2;     // relaxations

  bool step() noexcept;                // one round; false: nothing to do
  std::uint64_t next_head() noexcept;  // of those of the window, what to take
  void take_head(std::uint64_t head) noexcept;
  void remove_leaving(std::uint64_t head) noexcept;
  bool rested() const noexcept;
  bool draws_suffice() const noexcept;
  void owe_draws(double forgetting) noexcept;
  void owe_draws_again(double forgetting, std::uint64_t& times) noexcept;
  bool far_from_mode() const noexcept;
  bool astray() const noexcept;
  void start_over() noexcept;
  static bool is_checked(const EngineConfig& config) noexcept;
  std::uint64_t move_cost_rows() const noexcept;
  void share_out(bool moving, bool sweeping) noexcept;
  void do_task(int task, LearnerWorker& worker) noexcept;
  std::size_t groups() const noexcept;
  void move_group(std::size_t group, LearnerWorker& worker) noexcept;
  void move_chains(std::size_t begin, std::size_t end, LearnerWorker& worker) noexcept;
  void draw_minibatch(const Chain& chain, std::span<std::uint32_t> slots) const noexcept;
  Status move_chain(Chain& chain, const RowBatch& minibatch, LearnerWorker& worker) noexcept;
  void estimate_noise_from(const RowBatch& minibatch, const Chain& chain,
                           LearnerWorker& worker) noexcept;
  void end_move() noexcept;
  void count_moves(std::size_t first, std::size_t last) noexcept;
  // What tells the random numbers of a move from those of all others.
  std::uint64_t move_number() const noexcept { return round_ + (asides_ << 40); }
  void record(double n) noexcept;
  void record_iterates(double n) noexcept;
  bool recover_chains(bool far) noexcept;  // whether there was one
  void recover_single_pass(Chain& chain) noexcept;
  void start_chain(Chain& chain, std::uint64_t draw) noexcept;
  bool beyond(const Chain& chain, double deviations) const noexcept;  // posterior sd
  bool lost(const Chain& chain) const noexcept;
  bool far_off(const Chain& chain) const noexcept;
  bool catch_up() noexcept;  // whether a chain was put elsewhere
  void begin_settling() noexcept;
  void begin_anew() noexcept;

  bool single_pass() const noexcept { return config_.horizon != Horizon::kWindow; }
  std::uint64_t rows_wanted() const noexcept;
  void begin_single_pass() noexcept;
  bool seed_chains() noexcept;
  void complete_seeding() noexcept;
  bool take_in() noexcept;
  void choose_rows(const RowBatch& rows, const Chain& chain) noexcept;
  void move_ensemble(const RowBatch& batch, double keep) noexcept;
  void follow_refresh() noexcept;
  bool refresh_single_pass() noexcept;
  void retain_chains() noexcept;
  void check_consistency() noexcept;
  std::uint64_t effective_rows() const noexcept;
  void summarize_ensemble(Posterior& posterior) const noexcept;

  bool warm_up() noexcept;
  void begin_newton() noexcept;
  bool newton_step() noexcept;
  void shorten_newton_step() noexcept;
  bool at_mode() const noexcept;
  bool near_mode_of_a_stream() const noexcept;
  void end_newton(bool found) noexcept;
  std::uint64_t newton_last() const noexcept;
  std::uint64_t newton_rows_wanted() const noexcept;
  bool newton_went_too_far() const noexcept;
  // The pass of Newton's method that stands at what the targets suggest.
  bool starting_newton() const noexcept {
    return newton_running_ && newton_iterations_ == 0 && model_->has_start();
  }
  void start_chains() noexcept;
  void scan_rows() noexcept;
  void scan_targets() noexcept;
  void share_transform() noexcept;

  bool pass_due() const noexcept;
  bool anchor_far() const noexcept;
  bool law_moved() const noexcept;
  double dispersion_change() const noexcept;  // of its logarithm, in the pass that ended
  void begin_pass() noexcept;
  // The pass goes on by up to `rows` rows: these are to be summed, then it may be complete.
  void begin_sweep(std::uint64_t rows) noexcept;
  void sum_curvature(LearnerWorker& worker) noexcept;
  void sum_noise(LearnerWorker& worker) noexcept;
  bool end_sweep() noexcept;
  void complete_pass() noexcept;
  void add_tail() noexcept;
  double rows_in_sums() const noexcept;  // of those of the window
  bool sums_filled() const noexcept;
  bool tail_due(bool rested) const noexcept;
  void follow_tail() noexcept;
  std::uint64_t sweep_rows(bool rested) const noexcept;
  // Rounds from one piece of the pass to the next.
  std::uint64_t sweep_interval(bool rested) const noexcept;
  // false: the sums have no positive definite A; nothing changed.
  bool refresh(Interlude* interlude) noexcept;
  void follow_mean() noexcept;
  Interlude* interlude() noexcept;
  void move_meanwhile() noexcept;
  void carry_along(double n_before, Interlude* interlude = nullptr) noexcept;
  void carry_chains(std::span<Chain> chains, double n_before) noexcept;
  bool refresh_sampler(Interlude* interlude = nullptr) noexcept;  // false: the old law stays
  RowBatch rows_between(std::uint64_t first, std::uint64_t last) noexcept {
    return rows_between(first, last, leader());
  }
  RowBatch rows_between(std::uint64_t first, std::uint64_t last,
                        LearnerWorker& worker) const noexcept;

  void publish() noexcept;
  void describe_spread(Posterior& posterior) const noexcept;
  void summarize_chains(Posterior& posterior) const noexcept;
  void compare_spread() noexcept;
  void describe_provenance(Posterior& posterior) noexcept;
  bool noise_known() const noexcept;
  void describe_by_draws(Posterior& posterior) const noexcept;
  void update_pace() noexcept;
  StatusReason reason(const Consistency::Ratio& ratio, double ess) const noexcept;

  std::uint64_t first_row() const noexcept {
    return head_ > window_.size() ? head_ - window_.size() : 0;
  }
  std::uint64_t rows_seen() const noexcept { return head_ - first_row(); }
  std::uint64_t cold_start_rows() const noexcept { return windhover::cold_start_rows(config_); }

  LearnerWorker& leader() noexcept { return workers_[0]; }

  EngineConfig config_;
  std::uint32_t dimension_;
  Window& window_;
  std::span<Model* const> models_;
  Model* model_;         // the leader's
  AnySampler* sampler_;  // null without a window
  Snapshots<Posterior>& snapshots_;
  Clock& clock_;
  Counters<RuntimeCounter>& counters_;

  Estimator estimator_;
  RetainedDraws draws_;
  Factor factor_before_;  // of A before the newest refresh
  ChainDiagnostics diagnostics_;
  Consistency consistency_;
  ScoreSeries scores_;
  RepeatedRows repeats_;
  SinglePass single_pass_;
  RowWeights weights_;  // without a window: of the rows seen

  Phase phase_ = Phase::kWarmingUp;
  std::uint64_t fresh_ = 0;    // rows that came with the newest head
  double recorded_steps_ = 0;  // of each chain, that the diagnostics stand for
  double relaxations_ = 0;     // of each chain since sampling began: moves x S / n; marks of it:
  double last_draw_ = 0;       // where all chains' iterates were draws
  double owed_until_ = 0;      // where the ring holds draws of this posterior, or of one near it
  std::uint64_t owed_for_losses_ = 0;  // times that draws were, since a row came
  std::uint64_t owed_for_laws_ = 0;
  std::uint64_t quiet_moves_ = 0;  // of each chain, since a row came
  double lost_until_ = 0;          // without a window: where a lost chain is forgotten
  std::uint64_t head_ = 0;         // rows [head - N, head) are readable
  std::uint64_t round_ = 0;        // rounds, also those in which the chains rest
  std::uint64_t asides_ = 0;       // moves of single chains between pieces of this round's work
  std::uint64_t passes_ = 0;
  std::uint64_t snapshot_id_ = 0;
  double credit_ = 0;  // minibatch rows each chain may still draw
  double damping_ = 1;
  bool refresh_failed_ = false;
  bool sampler_refused_ = false;  // it has never had a law
  bool standardized_ = false;     // location and scale of the features are what they will be
  double prior_move_ = 0;         // how far a learned prior precision may go, in its logarithm
  bool dirty_ = false;

  std::uint64_t pass_position_ = 0;  // next row of the pass; pass_end_ when none is running
  std::uint64_t pass_end_ = 0;
  std::uint64_t previous_pass_end_ = 0;
  std::uint64_t quiet_passes_ = 0;   // that ended without a new row
  std::uint64_t sweep_end_ = 0;      // of the rows that are summed now, from pass_position_
  bool exact_ = true;                // the sums of done() hold the rows of the window and no others
  bool pass_exact_ = true;           // likewise those of the pass, so far
  bool outpaced_ = false;            // since the last pass, by rows that came while chains moved
  std::uint64_t outrun_rows_ = 0;    // that left the sums as wholes, since they were exact
  bool sums_lost_ = false;           // those of done() cannot be used
  bool law_moved_ = false;           // much of what the last pass summed was under another law
  bool chains_lost_ = false;         // since the pass began: C is not summed where they stood
  std::uint64_t tail_position_ = 0;  // rows below are in the sums of done()
  std::uint64_t refreshed_position_ = 0;  // and rows below this one in the estimates
  double tail_rows_ = 0;
  double refreshed_n_ = 0;
  double law_n_ = 1;  // of the sampler's law
  double refreshed_tail_ = 0;
  double moves_since_refresh_ = 0;  // of each chain
  double arrived_rows_ = 0;         // since the refresh, or before it and not yet in the sums
  double unfollowed_rows_ = 0;      // of them, less what chains have forgotten since they came
  double target_variance_ = 1;
  std::uint64_t newton_due_ = 1;  // rows from which Newton's method begins (again)
  bool newton_running_ = false;
  int newton_iterations_ = 0;
  // Once near the mode for the rest of the run: the mean takes a learned prior precision elsewhere,
  // and the mode with it.
  bool newton_near_ = false;
  std::uint64_t newton_end_ = 0;    // where the rows end that it began with
  std::uint64_t newton_rows_ = 0;   // how many they were
  int newton_halvings_ = 0;         // of the last step
  std::uint64_t newton_first_ = 0;  // the first row when that step began
  double newton_slope_ = 0;         // of the objective along what is left of it, where it began
  double settling_ = 0;             // relaxations until chains have settled
  std::int64_t last_publish_ns_ = 0;
  Consistency::Ratio ratio_;
  std::uint64_t ratio_due_ = 0;
  double ratio_relaxations_ = 0;  // that ratio_ stands on

  std::uint64_t pace_head_ = 0;  // R: minibatch rows a chain per new row since this mark
  double drawn_rows_ = 0;
  double pace_fresh_ = 0;  // new rows, and rows drawn, of the last quarter window before it
  double pace_drawn_ = 0;
  double pace_ = 0;

  std::size_t state_size_;    // of the sampler's own numbers a chain
  bool first_order_;          // the sampler has a law, without momentum
  bool posterior_is_target_;  // of that law
  double temperature_;        // of what it draws from
  double* thetas_;            // chains x dimension
  double* states_;            // chains x state_size_
  double* deviations_;        // chains x dimension: scratch
  double* mean_before_;       // dimension
  double* newton_previous_;
  double* scratch_;
  double* noise_at_;  // dimension: where C is summed this round
  std::span<Chain> chains_;
  std::span<Status> moved_;  // of each chain
  std::span<LearnerWorker> workers_;
  ForkJoin team_;
  int sums_ = 0;  // of the tasks that the team does now, those that do not move chains
  Interlude interlude_{
      [](void* learner) noexcept { static_cast<Learner*>(learner)->move_meanwhile(); }, this};
  TraceFunction trace_ = nullptr;
  void* trace_context_ = nullptr;
  HeadSink head_sink_ = nullptr;
  void* head_context_ = nullptr;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNER_H_
