// The posterior without a window: all chains see every row once, together, each with noise of its
// own (samplers/single_pass.h).
#ifndef WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_LEARNER_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/learning/chain_record.h"
#include "windhover/runtime/learning/chain_set.h"
#include "windhover/runtime/learning/cold_start.h"
#include "windhover/runtime/learning/far_rows_wait.h"
#include "windhover/runtime/learning/last_loss.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/publisher.h"
#include "windhover/runtime/learning/replay_ratio.h"
#include "windhover/runtime/learning/row_gate.h"
#include "windhover/runtime/learning/row_scan.h"
#include "windhover/runtime/learning/running_estimates.h"
#include "windhover/runtime/learning/single_pass_mover.h"

namespace windhover {

// Each chain is one draw. Invariant: while sampling, every row taken in since the cold start ended
// has moved every chain, unless it was set aside. One thread.
class SinglePassLearner final : public Learner {
 public:
  // All arguments outlive the learner, which uses the one model.
  SinglePassLearner(Arena& arena, const EngineConfig& config, Window& window, Model* model,
                    Snapshots<Posterior>& snapshots, Clock& clock,
                    Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept override;

  void visit_state(StateVisitor& visitor) noexcept override;
  void set_trace(TraceFunction trace, void* context) noexcept override {
    chains_.set_trace(trace, context);
  }

  std::uint64_t head() const noexcept override { return cursor_.head(); }
  LearnerView view() const noexcept override {
    return {phase_, &estimator_, chains_.iterates(), minibatch_size()};
  }

 private:
  std::uint64_t next_head() noexcept override;
  void take_head(std::uint64_t head) noexcept override;
  bool do_round() noexcept override;
  bool publication_due() const noexcept override { return publisher_.due(); }
  void publish() noexcept override;
  bool cold_start_round() noexcept;
  void start_chains(bool from_mode) noexcept;
  bool seed_chains() noexcept;
  std::uint64_t rows_wanted() const noexcept;
  void take_in_rows() noexcept;
  void take_up(const RowBatch& batch) noexcept;
  bool add_to_sums(const RowBatch& batch, double keep) noexcept;
  void start_over() noexcept;
  bool refresh() noexcept;
  bool end_refresh(Status status) noexcept;
  void recover_chains() noexcept;
  void retain_chains() noexcept;
  void compare_spread() noexcept;

  double minibatch_size() const noexcept {
    return static_cast<double>(minibatch_rows(config_, cursor_.rows()));
  }
  LearnerWorker& worker() noexcept { return workers_[0]; }

  const EngineConfig config_;
  Counters<RuntimeCounter>& counters_;
  Model* model_;
  std::span<LearnerWorker> workers_;  // one
  WindowCursor cursor_;
  Estimator estimator_;
  RunningEstimates running_;
  RowGate gate_;
  WindowPass pass_;  // of the cold start
  RowScan scan_;
  FarRowsWait wait_;
  ColdStart cold_start_;
  ChainSet chains_;
  ChainRecord record_;
  SinglePassMover mover_;
  LastLoss loss_;
  ReplayRatio replay_ratio_;
  Publisher publisher_;

  Phase phase_ = Phase::kWarmingUp;
  std::uint64_t seeded_ = 0;              // approach: rows below it have moved the chains
  double unrefreshed_rows_ = 0;           // in the sums, not in the estimates
  std::uint64_t refreshed_position_ = 0;  // rows below it are in the estimates, or set aside
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_LEARNER_H_
