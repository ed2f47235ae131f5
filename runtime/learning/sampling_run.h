// A run of the chains: the phase it is in, what has been drawn, and what is still to be drawn.
#ifndef WINDHOVER_RUNTIME_LEARNING_SAMPLING_RUN_H_
#define WINDHOVER_RUNTIME_LEARNING_SAMPLING_RUN_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/learning/chain_record.h"
#include "windhover/runtime/learning/draw_budget.h"
#include "windhover/runtime/learning/ensemble.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/replay_ratio.h"
#include "windhover/runtime/learning/run_phase.h"

namespace windhover {

// Drives the ensemble and reads the estimates. Invariant: every move of a chain is counted in the
// budget and in the replay ratio. One thread.
class SamplingRun {
 public:
  using Phase = Learner::Phase;
  // What a pass over the window ended with, before the refresh that follows it.
  struct PassEnd {
    bool noise_known = false;  // the pass has measured C
    bool approached = false;   // with it the approach is over, see RunPhase::end_pass()
    bool damped = false;       // the chains' steps were shortened until now
    double relaxation = 0;     // of the law until now
  };

  SamplingRun(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
              const Estimator& estimator, Ensemble& ensemble,
              Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;

  const RunPhase& phases() const noexcept { return phase_; }
  Phase phase() const noexcept { return phase_.now(); }
  bool sampling() const noexcept { return phase_.sampling(); }
  // Whether the chains do not move: what rows grant has been drawn, no draws are pending, and those
  // that there are have been judged, or are not waited for any longer.
  bool rests() const noexcept;
  // Whether another pass is needed, because the last one's C or scores are those of another
  // posterior, or of chains by another law.
  bool law_moved() const noexcept { return law_moved_; }

  // Call these before and after the cursor takes rows over.
  void before_rows(std::uint64_t fresh) noexcept;
  void after_rows(double fresh) noexcept;

  // All chains moved once. Returns whether there are new draws to serve.
  bool end_move() noexcept;

  // Moves single chains between the pieces of a long computation. Null where chains do not sample,
  // or rest, and where moves themselves add to C, which the computation may read.
  Interlude* background_moves() noexcept;

  PassEnd end_pass(bool noise_known) noexcept;
  // Call it after the refresh that ends a pass. `refreshed`: there are new estimates; `outrun`: see
  // PassResult.
  void follow_pass(const PassEnd& end, bool refreshed, bool outrun) noexcept;

  // Call it after a refresh between passes.
  void follow_sums() noexcept;

  // The posterior stands on other rows from here on (another memory was chosen). C, P and what the
  // draws are compared with are those of the rows before, until one pass has found the new P and a
  // second one has measured C with it.
  void take_other_rows() noexcept {
    law_moved_ = true;
    passes_to_make_ = 2;
  }
  // Whether P is of about the rows that a pass sums now.
  bool knows_rows() const noexcept { return passes_to_make_ != 2; }

  // The chains begin, or go on. false: they cannot move by the step that is given.
  bool start() noexcept;
  // The cold start begins anew. `interrupts`: the units are the same, so that chains that sampled
  // go on from the mode that it finds, with the C that passes have measured before.
  void start_over(bool interrupts) noexcept;
  // Whether chains went on from a mode that was lost, and no draws from there have been compared.
  bool behind() const noexcept { return behind_; }

  // Fills in what the chains say of their own draws. O(chains x D).
  void describe(Posterior& posterior, Evidence& evidence) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  void count_moves(std::size_t first, std::size_t last) noexcept;
  bool record_draws() noexcept;
  void compare() noexcept;
  void begin_burn_in() noexcept;
  void go_on() noexcept;
  bool recover(ChainMover::Lost which) noexcept;
  void ask_for_draws(double forgetting) noexcept;
  bool ask_again(DrawBudget::Cause cause, double forgetting) noexcept;

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  const Estimator& estimator_;
  Counters<RuntimeCounter>& counters_;
  Ensemble& ensemble_;
  ChainRecord record_;
  DrawBudget budget_;
  ReplayRatio replay_ratio_;
  Interlude background_moves_;

  RunPhase phase_;
  bool law_moved_ = false;
  struct {
    std::uint64_t head = 0;
    int times = 0;  // that the spread was found to be off since then
  } judged_;
  int passes_to_make_ = 0;  // see take_other_rows()
  bool behind_ = false;
  bool law_refused_ = false;  // chains were to begin, and had no law
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SAMPLING_RUN_H_
