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

// begin() fills in what every posterior has; whoever knows how the draws were made adds what they
// are worth and the status; end() hands the snapshot over. Invariant: readers see only what end()
// was given. One thread.
class Publisher {
 public:
  Publisher(Arena& arena, const EngineConfig& config, Snapshots<Posterior>& snapshots, Clock& clock,
            Counters<RuntimeCounter>& counters) noexcept
      : config_(config),
        snapshots_(snapshots),
        clock_(clock),
        counters_(counters),
        direction_(arena.allocate<double>(config.model.dimension()).data()) {}

  // Whether the newest snapshot is so old that a change is to be shown.
  bool due() const noexcept;

  Posterior& begin(const Estimator& estimator, const RetainedDraws& draws, Model& model,
                   const ScoreSeries& scores) noexcept;
  // Brings all numbers to units of the rows (runtime/learning/units.h), and publishes them.
  void end(Posterior& posterior, Estimator& estimator, Model& model) noexcept;
  // Publishes the newest snapshot's numbers again, as those of a learner that is warming up.
  void withdraw() noexcept;

  // Shows the newest snapshot, which a visitor that restores publishes anew, and its age: clocks
  // start anywhere. Copies O(draws x D + D^2) numbers.
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

// Effective draws, R-hat and autocorrelation time of the worst parameter go into the provenance.
void describe_worst(Posterior& posterior) noexcept;

// With several modes there is no mode to name, and the curvature at one of them is no summary: the
// spread is that of the draws.
void describe_by_draws(Posterior& posterior) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_PUBLISHER_H_
