// Fills snapshots and hands them to the readers.
#ifndef WINDHOVER_RUNTIME_LEARNING_PUBLISHER_H_
#define WINDHOVER_RUNTIME_LEARNING_PUBLISHER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/snapshots.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/diagnostics/score_series.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/posterior/retained_draws.h"

namespace windhover {

// begin() fills in what every posterior has; its caller, who knows how the draws were made, adds
// what they are worth and the status; end() hands the snapshot over. Invariant: readers see only
// complete snapshots, handed over by end(), withdraw() or a restore. One thread.
class Publisher {
 public:
  Publisher(Arena& arena, const EngineConfig& config, Snapshots<Posterior>& snapshots, Clock& clock,
            Counters<RuntimeCounter>& counters) noexcept
      : config_(config),
        snapshots_(snapshots),
        clock_(clock),
        counters_(counters),
        direction_(arena.allocate<double>(config.model.dimension()).data()) {}

  // Whether the newest snapshot is at least a millisecond old.
  bool due() const noexcept;

  // Begins a snapshot in the model's units. O(draws x D + D^2), and O(D^3) where rows are taken for
  // independent (ModelChecks::sandwich_sd()).
  Posterior& begin(const Estimator& estimator, const RetainedDraws& draws, Model& model,
                   const ScoreSeries& scores) noexcept;
  // Rows depend on one another: with DependentSpread::kRobust, and where sd_robust is known, linear
  // predictors are as wide as it says (RobustSpread). Between begin() and end(). O(D).
  void widen(Posterior& posterior, const Estimator& estimator) noexcept;
  // Brings all numbers to units of the rows (runtime/learning/units.h), and publishes the snapshot.
  void end(Posterior& posterior, Estimator& estimator, Model& model) noexcept;
  // Publishes the newest snapshot's numbers again, with the status of a learner that is warming up.
  void withdraw() noexcept;

  // Shows the newest snapshot and its age, as clocks start anywhere; a visitor that restores
  // publishes it anew. O(draws x D + D^2).
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  void describe_spread(Posterior& posterior, const Estimator& estimator,
                       const ScoreSeries& scores) const noexcept;
  void describe_provenance(Posterior& posterior, const Estimator& estimator, const Model& model,
                           const ScoreSeries& scores) noexcept;

  const EngineConfig& config_;
  Snapshots<Posterior>& snapshots_;
  Clock& clock_;
  Counters<RuntimeCounter>& counters_;
  void hand_over(Posterior& posterior) noexcept;
  void describe_chance(Posterior& posterior) const noexcept;

  const Posterior* newest_ = nullptr;
  std::uint64_t snapshot_id_ = 0;
  std::int64_t last_ns_ = 0;
  double* direction_;  // dimension: scratch
};

// Puts effective draws, R-hat and autocorrelation time of the worst parameter into the provenance.
void describe_worst(Posterior& posterior) noexcept;

// For networks: with several modes there is no mode to name, and the curvature at one is no
// summary, so sd is that of the draws; mode, sd_robust, ou_ratio and misspecification_index become
// NaN.
void describe_by_draws(Posterior& posterior) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_PUBLISHER_H_
