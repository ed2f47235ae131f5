// The posterior of the rows in the window, drawn from again and again.
#ifndef WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/fork_join.h"
#include "windhover/runtime/learning/cold_start.h"
#include "windhover/runtime/learning/ensemble.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/memory_choice.h"
#include "windhover/runtime/learning/publisher.h"
#include "windhover/runtime/learning/row_scan.h"
#include "windhover/runtime/learning/sampling_run.h"
#include "windhover/runtime/learning/schedule.h"
#include "windhover/runtime/learning/surprise_limit.h"
#include "windhover/runtime/learning/window_sums.h"
#include "windhover/runtime/window/row_times.h"

namespace windhover {

// One round draws a minibatch for each chain and moves it, sums some rows of the window, and takes
// new sums into the estimates. Helpers may do pieces of a round: a chain's move and each sum over
// rows is done by one thread from beginning to end, so the result is the same bits whoever does it.
// Invariant: between rounds no helper touches the learner, and what it has published stands on rows
// below refreshed_position_ alone.
class WindowLearner final : public Learner {
 public:
  // One model a worker: EngineConfig::learner_threads. All arguments outlive the learner.
  WindowLearner(Arena& arena, const EngineConfig& config, Window& window,
                std::span<Model* const> models, AnySampler* sampler,
                Snapshots<Posterior>& snapshots, Clock& clock,
                Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept override;

  int assist(std::uint32_t worker) noexcept override {
    return team_.help(static_cast<int>(worker));
  }
  void visit_state(StateVisitor& visitor) noexcept override;
  LearnerView view() const noexcept override;
  std::uint64_t head() const noexcept override { return cursor_.head(); }
  void set_trace(TraceFunction trace, void* context) noexcept override {
    ensemble_.chains().set_trace(trace, context);
  }

 private:
  // The round.
  std::uint64_t next_head() noexcept override { return schedule_.next_head(); }
  void take_head(std::uint64_t head) noexcept override;
  bool do_round() noexcept override;
  bool cold_start_round() noexcept;
  void share_out(bool moving, bool sweeping) noexcept;
  void do_task(int task, LearnerWorker& worker) noexcept;
  bool publication_due() const noexcept override { return publisher_.due(); }
  void publish() noexcept override;

  // Passes and refreshes.
  void begin_pass() noexcept;
  void choose_memory(std::uint64_t head) noexcept;
  void begin_sweep(bool resting, std::uint64_t interval) noexcept;
  void complete_pass() noexcept;
  void follow_sums() noexcept;
  // `new_anchor`: the sums are of another pass than those of the refresh before.
  bool refresh(bool new_anchor, Interlude* background_moves) noexcept;
  void start_chains() noexcept;
  void start_over_if_lost() noexcept;
  void start_over() noexcept;

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
  Ensemble ensemble_;
  SamplingRun run_;
  MemoryChoice* memory_choice_ = nullptr;    // Horizon::kAdaptive
  SurpriseLimit* surprise_limit_ = nullptr;  // unless surprising rows are kept
  Clock& clock_;
  RowTimes row_times_;
  Schedule schedule_;
  Publisher publisher_;
  ForkJoin team_;

  std::uint64_t refreshed_position_ = 0;  // rows below it are in the estimates
  int sums_in_round_ = 0;                 // how many of the round's tasks do not move chains
  double* noise_at_;                      // dimension: where C is summed this round
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_WINDOW_LEARNER_H_
