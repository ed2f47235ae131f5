// Whether an answer is to be believed, as a pure function of the evidence.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_JUDGEMENT_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_JUDGEMENT_H_

#include <cstdint>

#include "windhover/runtime/diagnostics/consistency.h"
#include "windhover/runtime/posterior/provenance.h"

namespace windhover {

// A number that is NaN is not known and raises no alarm.
struct Evidence {
  bool sampling = false;        // the chains have forgotten where they started
  bool network = false;         // several modes: nothing is known of the draws' spread
  bool drifting = false;        // ScoreSeries
  bool dependent_rows = false;  // ScoreSeries
  bool not_definite = false;    // the last estimates could not be computed
  bool chains_lost = false;     // chains were lost, and steps are not whole again yet
  bool law_refused = false;     // the sampler has never had a law
  bool step_given = false;      // the host chose how long its steps are
  bool law_asked = false;       // the law is to be the posterior, not the sandwich
  bool law_decided = true;      // the law, or the draws in every direction, have been compared
  // Smallest and largest ratio over directions of the variance of the sampler's law to the
  // posterior's; the latter is infinity where no law could be computed.
  double law_smallest = 1;
  double law_largest = 1;
  // Smallest and largest ratio over directions of observed to predicted variance; both 0 while
  // nothing has been compared. `band`: see Consistency::band().
  double spread_smallest = 0;
  double spread_largest = 0;
  Consistency::Band band{1 / Consistency::kTolerance, Consistency::kTolerance};
  double compared_draws = 0;  // independent draws behind the comparison
  double prior_conflict = 0;  // above 1: prior and rows contradict each other
  bool misfit = false;        // the rows scatter unlike the model (misfit.h)
  bool outrun = false;        // rows came faster than they could be summed
  bool replay_is_target = false;
  double replay_ratio = 0;
};

struct Judgement {
  PosteriorStatus status = PosteriorStatus::kWarmingUp;
  StatusReason reason = StatusReason::kFewDraws;
  // Observed over predicted variance in the direction that is worst by what chance leaves open; NaN
  // where it is not known.
  double spread_ratio = 0;
};

// Finds the first reason that applies, in the order of the table in runtime/README.md; a sampler
// that never had a law (kSamplersLaw) comes before all, warming up too. The tolerance of spreads
// allows for the chains' lag behind a stream: 12 % at R = 4, tau (1 - exp(-1 / tau)) with tau = 1 /
// (2 R).
Judgement judge(const Evidence& evidence) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_JUDGEMENT_H_
