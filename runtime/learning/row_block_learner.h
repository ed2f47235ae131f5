// The posterior over many sparse columns: nothing is kept that grows with their square.
#ifndef WINDHOVER_RUNTIME_LEARNING_ROW_BLOCK_LEARNER_H_
#define WINDHOVER_RUNTIME_LEARNING_ROW_BLOCK_LEARNER_H_

#include <array>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/snapshots.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/learning/block_units.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/move_credit.h"
#include "windhover/runtime/learning/replay_ratio.h"
#include "windhover/runtime/learning/served_groups.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/window/window_cursor.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

// For Structure::kDiagonal. The chains move on one row at a time, all on the same, drawn from the
// window with replacement (samplers/row_blocks/row_block_langevin.h). Answers come from where the
// chains stand and where they stood lately, retained up to 16 times a pass over the window's rows
// while rows come, otherwise once at most. Provenance::sequence is the head at the newest of these.
// There is no cold start but for location and scale of y, where it has some: the first 100 rows, or
// the first quarter of a smaller window, say them. Chains begin as draws from the prior, and again
// where later rows contradict these units by far. With kAdaptive the prior is what rows before the
// window's have made of it (samplers/row_blocks/condensed_past.h).
//
// Nothing here looks for drift, dependent rows, misfit or a prior that the rows contradict: what
// answers say of these is NaN. Scored predictions tell (EngineConfig::score_predictions).
//
// Invariant: once the units of y are known the sampler holds the rows of the window, those from
// first() to head() of the cursor, and no others. One thread.
class RowBlockLearner final : public Learner {
 public:
  // All arguments outlive the learner.
  RowBlockLearner(Arena& arena, const EngineConfig& config, Window& window,
                  Snapshots<Posterior>& snapshots, Clock& clock,
                  Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept override;

  void visit_state(StateVisitor& visitor) noexcept override;
  // There is no trace: iterates are not kept as vectors.
  void set_trace(TraceFunction, void*) noexcept override {}

  LearnerView view() const noexcept override;
  std::uint64_t head() const noexcept override { return cursor_.head(); }

 private:
  // The most moves of each chain in a round, and the most rows that a round takes in: few enough to
  // answer a stop, and new rows, in time.
  static constexpr std::uint32_t kMovesARound = 64;

  std::uint64_t next_head() noexcept override;
  void take_head(std::uint64_t head) noexcept override;
  bool do_round() noexcept override;
  bool publication_due() const noexcept override { return false; }  // retain() publishes
  void publish() noexcept override;

  std::uint32_t slot_of(std::uint64_t row) const noexcept {
    return static_cast<std::uint32_t>(row % cursor_.capacity());
  }
  void start_over() noexcept;
  void enter_rows(std::uint64_t row) noexcept;
  double spare_moves() const noexcept;
  void spend(std::uint32_t moves) noexcept;
  void move_chains(std::uint32_t moves) noexcept;
  void draw_slots(std::span<std::uint32_t> slots) noexcept;
  template <class Use>
  void for_rows(std::uint64_t first, std::uint64_t end, const Use& use) noexcept;
  void follow_bound(std::uint64_t rows) noexcept;
  std::uint64_t moves_between_draws() const noexcept;
  void retain() noexcept;
  bool catch_up() noexcept;
  double spread() const noexcept;
  Posterior& begin_publish() noexcept;
  void describe(Posterior& posterior) const noexcept;

  const EngineConfig config_;
  Counters<RuntimeCounter>& counters_;
  Snapshots<Posterior>& snapshots_;
  Clock& clock_;
  WindowCursor cursor_;
  RowBlockLangevin sampler_;
  BlockUnits units_;
  ServedGroups groups_;
  MoveCredit credit_;
  ReplayRatio replay_ratio_;

  Phase phase_ = Phase::kWarmingUp;
  double drawn_ = 0;             // moves of each chain so far
  std::uint64_t bound_row_ = 0;  // the next row of the bound's pass
  std::uint64_t snapshot_id_ = 0;
  std::int64_t published_ns_ = 0;
  std::array<std::uint32_t, kMovesARound> slots_{};  // scratch
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ROW_BLOCK_LEARNER_H_
