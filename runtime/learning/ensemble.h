// The chains as a whole: the phase they are in, their moves, and when they may rest.
#ifndef WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_
#define WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/learning/chain_mover.h"
#include "windhover/runtime/learning/chain_record.h"
#include "windhover/runtime/learning/chain_set.h"
#include "windhover/runtime/learning/draw_budget.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/replay_ratio.h"

namespace windhover {

// Invariant: between rounds chains and draws stand around the centre of the estimates that follow()
// last took up. It reads rows and estimates and changes neither, but for the noise covariance that
// some configurations measure on the chains' minibatches. One thread, but for move() of different
// groups.
class Ensemble {
 public:
  using Phase = Learner::Phase;
  // What ended with a pass.
  struct PassEnd {
    bool noise_known = false;  // the pass has measured C
    bool approached = false;   // for the second time since the chains began
    bool damped = false;       // the chains' steps were shortened until now
    double relaxation = 0;     // of the law until now
  };

  Ensemble(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
           Estimator& estimator, std::span<LearnerWorker> workers, AnySampler* sampler,
           Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;

  Phase phase() const noexcept { return phase_; }
  bool sampling() const noexcept { return phase_ == Phase::kSampling; }
  // All draws that rows grant have been made, and none are pending.
  bool rests() const noexcept;
  bool damped() const noexcept { return mover_.damped(); }
  bool lost_in_pass() const noexcept { return mover_.lost_in_pass(); }
  // Much of what the last pass summed was under another law.
  bool law_moved() const noexcept { return law_moved_; }
  // Moves of each chain since follow(), and how far the logarithm of a learned prior precision may
  // go at the next refresh.
  double moves() const noexcept { return moves_; }
  double prior_move() const noexcept { return prior_move_; }
  std::uint64_t passes() const noexcept { return passes_; }

  ChainSet& chains() noexcept { return chains_; }
  const ChainSet& chains() const noexcept { return chains_; }
  const ChainMover& mover() const noexcept { return mover_; }
  const DrawBudget& budget() const noexcept { return budget_; }

  // Rows are about to be taken over by the cursor, and have been.
  void before_rows(double fresh) noexcept;
  void after_rows(double fresh) noexcept {
    budget_.grant(fresh, static_cast<double>(cursor_.rows()));
  }

  // A round: the moves in groups of neighbours, which different threads may do, and what the chains
  // share. end_move(): whether there are new draws to serve.
  void begin_round(std::uint64_t round) noexcept { mover_.begin_round(round); }
  std::size_t groups() const noexcept;
  void move(std::size_t group, LearnerWorker& worker) noexcept;
  bool end_move() noexcept;
  // dimension: where the chain whose turn it is stands, or the centre where that is far off.
  const double* noise_anchor(std::uint64_t turn) const noexcept;

  // Moves of single chains between the pieces of a long computation; null where chains rest, and
  // where none may move meanwhile: sums that go on with every move would change under them.
  Interlude* background_moves() noexcept;

  // The estimates are new: the chains are transported, the law is theirs.
  void follow(std::uint64_t waiting_rows, Interlude* background_moves) noexcept;

  void begin_pass() noexcept { mover_.begin_pass(); }
  PassEnd end_pass(bool noise_known) noexcept;
  // After the refresh that ends a pass. `refreshed`: there are new estimates; `outrun`: more rows
  // came than the sums could follow.
  void follow_pass(const PassEnd& end, bool refreshed, bool outrun) noexcept;

  // Chains begin as Laplace draws. false: the step that is given is too long, and there is no law.
  bool start() noexcept;
  // The cold start begins anew.
  void start_over() noexcept {
    phase_ = Phase::kWarmingUp;
    mover_.undamp();
  }

  // What the chains say of their own draws. O(chains x D), and O(D^3) where the law is compared.
  void describe(Posterior& posterior, Evidence& evidence) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
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
    void keep(double waiting) noexcept {
      const double kept = arrived > 0 ? std::min(1.0, waiting / arrived) : 0.0;
      arrived *= kept;
      unfollowed *= kept;
    }
  };

  void count_moves(std::size_t first, std::size_t last) noexcept;
  bool record_draws() noexcept;
  void follow_law() noexcept;
  void move_in_background() noexcept;
  bool posterior_moved() const noexcept;
  void start_anew() noexcept;
  void begin_settling() noexcept;
  bool catch_up() noexcept;
  bool recover(ChainMover::Lost which) noexcept;
  void ask_for_draws(double forgetting) noexcept;
  void ask_again(DrawBudget::Cause cause, double forgetting) noexcept;
  bool noise_known() const noexcept {
    return phase_ == Phase::kSettling || phase_ == Phase::kSampling;
  }
  const Model& model() const noexcept { return *workers_[0].model; }

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  Estimator& estimator_;
  std::span<LearnerWorker> workers_;
  Counters<RuntimeCounter>& counters_;
  ChainSet chains_;
  ChainMover mover_;
  ChainRecord record_;
  DrawBudget budget_;
  ReplayRatio replay_ratio_;
  Interlude background_moves_{
      [](void* self) noexcept { static_cast<Ensemble*>(self)->move_in_background(); }, this};

  Phase phase_ = Phase::kWarmingUp;
  Lag lag_;
  double moves_ = 0;
  double prior_move_ = 0;
  std::uint64_t passes_ = 0;
  double settling_ = 0;  // relaxations until chains have forgotten the law that they came by
  bool law_moved_ = false;
  bool law_refused_ = false;  // the sampler has never had a law
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_
