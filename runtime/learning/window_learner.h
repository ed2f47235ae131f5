// The posterior of the rows in the window, drawn from again and again.
#ifndef WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/fork_join.h"
#include "windhover/runtime/learning/chain_mover.h"
#include "windhover/runtime/learning/chain_record.h"
#include "windhover/runtime/learning/chain_set.h"
#include "windhover/runtime/learning/cold_start.h"
#include "windhover/runtime/learning/draw_budget.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/replay_ratio.h"
#include "windhover/runtime/learning/window_sums.h"
#include "windhover/runtime/posterior/publisher.h"
#include "windhover/runtime/window/row_scan.h"

namespace windhover {

// One round draws a minibatch for each chain and moves it, sums some rows of the window, and takes
// new sums into the estimates. Helpers may do pieces of a round: a chain's move and each sum over
// rows is done by one thread from beginning to end, so the result is the same bits whoever does it.
// Invariant: between rounds chains and draws stand around the centre of the newest estimates.
class WindowLearner final : public Learner {
 public:
  // One model a worker: EngineConfig::learner_threads. All arguments outlive the learner.
  WindowLearner(Arena& arena, const EngineConfig& config, Window& window,
                std::span<Model* const> models, AnySampler* sampler,
                Snapshots<Posterior>& snapshots, Clock& clock,
                Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept override;

  int poll(int max_work) noexcept override;
  int replay(std::uint64_t head, int max_work) noexcept override;
  int assist(std::uint32_t worker) noexcept override {
    return team_.help(static_cast<int>(worker));
  }
  void visit_state(StateVisitor& visitor) noexcept override;
  void set_trace(TraceFunction trace, void* context) noexcept override {
    chains_.set_trace(trace, context);
  }

  std::span<const double> chains() const noexcept override { return chains_.iterates(); }
  const Estimator& estimator() const noexcept override { return estimator_; }
  double minibatch_size() const noexcept override { return mover_.minibatch_size(); }
  std::uint64_t passes() const noexcept override { return passes_; }
  const AnySampler* sampler() const noexcept override { return &mover_.sampler(); }
  double relaxation() const noexcept override { return mover_.relaxation(); }

 private:
  // What the estimates were last computed from.
  struct Refreshed {
    std::uint64_t position = 0;  // rows below are in them
    double n = 0;
    double tail_rows = 0;
    double moves = 0;  // of each chain since
  };
  // How far behind the rows the chains are.
  struct Lag {
    double arrived = 0;     // rows since the refresh, or before it and not yet in the sums
    double unfollowed = 0;  // of them, less what chains have forgotten since they came
    void add(double rows) noexcept {
      arrived += rows;
      unfollowed += rows;
    }
    void forget(double relaxation) noexcept { unfollowed -= unfollowed / relaxation; }
    double followed() const noexcept { return arrived > 0 ? 1 - unfollowed / arrived : 0.0; }
    // Rows that are not in the sums yet will move the mean when they are.
    void keep(double waiting) noexcept;
  };

  // The round (window_learner.cc).
  bool do_round() noexcept;
  bool cold_start_round() noexcept;
  std::uint64_t next_head() noexcept;
  void take_head(std::uint64_t head) noexcept;
  bool rests() const noexcept;
  void share_out(bool moving, bool sweeping) noexcept;
  void do_task(int task, LearnerWorker& worker) noexcept;
  std::size_t groups() const noexcept;
  void end_move() noexcept;
  void count_moves(std::size_t first, std::size_t last) noexcept;
  void record_draws() noexcept;
  void follow_law() noexcept;
  void publish() noexcept;

  // Passes and refreshes (window_learner_refresh.cc).
  std::uint64_t rows_of_a_tenth_move() const noexcept;
  bool pass_due(bool resting) const noexcept;
  void begin_pass() noexcept;
  std::uint64_t sweep_interval(bool resting) const noexcept;
  void begin_sweep(bool resting, std::uint64_t interval) noexcept;
  std::uint64_t sweep_rows(bool resting) const noexcept;
  void complete_pass() noexcept;
  bool refresh_due(bool resting) const noexcept;
  void follow_sums() noexcept;
  bool refresh(Interlude* background_moves) noexcept;
  Interlude* background_moves() noexcept;
  void move_in_background() noexcept;
  bool law_moved() const noexcept;
  void start_chains() noexcept;
  void start_anew() noexcept;
  void begin_settling() noexcept;
  void begin_sampling() noexcept;
  bool catch_up() noexcept;
  bool recover(ChainMover::Lost which) noexcept;
  void ask_for_draws(double forgetting) noexcept;
  void ask_again(DrawBudget::Cause cause, double forgetting) noexcept;
  void start_over_if_lost() noexcept;
  void start_over() noexcept;
  bool noise_known() const noexcept {
    return phase_ == Phase::kSettling || phase_ == Phase::kSampling;
  }

  LearnerWorker& leader() noexcept { return workers_[0]; }
  const Model& model() const noexcept { return *workers_[0].model; }

  const EngineConfig config_;
  Counters<RuntimeCounter>& counters_;
  std::span<Model* const> models_;
  std::span<LearnerWorker> workers_;
  WindowCursor cursor_;
  Estimator estimator_;
  WindowSums sums_;
  RowScan scan_;
  ColdStart cold_start_;
  ChainSet chains_;
  ChainMover mover_;
  ChainRecord record_;
  DrawBudget budget_;
  ReplayRatio replay_ratio_;
  Publisher publisher_;
  ForkJoin team_;
  Interlude background_moves_{
      [](void* self) noexcept { static_cast<WindowLearner*>(self)->move_in_background(); }, this};

  Refreshed refreshed_;
  Lag lag_;
  std::uint64_t passes_ = 0;
  double settling_ = 0;       // relaxations until chains have settled
  double prior_move_ = 0;     // how far a learned prior precision may go, in its logarithm
  bool law_moved_ = false;    // much of what the last pass summed was under another law
  bool outpaced_ = false;     // since the last pass, by rows that came while chains moved
  bool law_refused_ = false;  // the sampler has never had a law
  bool dirty_ = false;        // there is something to publish
  int sums_in_round_ = 0;     // of the team's tasks, those that do not move chains
  double* noise_at_;          // dimension: where C is summed this round
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_
