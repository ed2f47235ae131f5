// Whether an answer is to be believed: a pure function of its evidence.
#ifndef WINDHOVER_RUNTIME_JUDGEMENT_H_
#define WINDHOVER_RUNTIME_JUDGEMENT_H_

#include <cstdint>

#include "windhover/runtime/predictive.h"

namespace windhover {

// NaN is unknown and raises no alarm.
struct Evidence {
  bool sampling = false;          // the chains have forgotten where they started
  bool network = false;           // several modes: of the draws' spread nothing is known
  bool drifting = false;          // ScoreSeries
  bool dependent_rows = false;    // ScoreSeries
  bool not_definite = false;      // the last estimates could not be computed
  bool chains_lost = false;       // and not made good yet
  bool law_refused = false;       // the sampler has never had a law
  bool step_given = false;        // the host chose how long its steps are
  bool law_is_posterior = false;  // or is to be: not of the sandwich, nor without a window
  std::uint32_t dimension = 0;
  // Variance of the sampler's law over the posterior's, in the least and the most of directions;
  // the latter is infinity where no law could be computed.
  double law_smallest = 1;
  double law_largest = 1;
  // Observed variance over predicted, likewise; 0 and 0 while nothing has been compared.
  double spread_smallest = 0;
  double spread_largest = 0;
  double compared_draws = 0;  // independent ones behind the comparison
  bool replay_is_target = false;
  double replay_ratio = 0;
  double prior_conflict = 0;  // above 1: prior and rows contradict each other
  bool misfit = false;        // the rows scatter unlike the model (misfit.h)
};

struct Judgement {
  PosteriorStatus status = PosteriorStatus::kWarmingUp;
  StatusReason reason = StatusReason::kFewDraws;
  // Observed over predicted variance in the direction that is furthest off for what chance leaves
  // open; NaN where it is not known.
  double spread_ratio = 0;
};

// The first reason that applies, in the order of runtime/README.md's table. The observed spread may
// differ from the predicted one by what so many independent draws leave open, (1 +- sqrt(D /
// draws))^2, times kTolerance for what the chains lag behind a stream: 12 % at R = 4, tau (1 -
// exp(-1 / tau)) with tau = 1 / (2 R).
Judgement judge(const Evidence& evidence) noexcept;

inline constexpr double kSpreadTolerance = 1.3;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_JUDGEMENT_H_
